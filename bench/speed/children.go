package speed

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sources are the programs in other languages.
//
//go:embed ports
var sources embed.FS

// buildLimit is how long one build step may take, downloads included.
const buildLimit = 5 * time.Minute

// child is a program in another language that measures its own slices, one when it is asked: so it runs in the same rounds
// as the rows of this process, which waits for it meanwhile.
type child struct {
	name, version string
	how           string // it is driven, as a rival's
	command       *exec.Cmd
	in            io.WriteCloser
	out           *bufio.Reader
}

// start builds a program of ports in folder, by a command of each of these tools one after the other, and starts it. The
// error of a tool that is not here, or has no network to fetch what it needs, says so in one line.
func (c *child) start(ctx context.Context, name, folder string, prepare [][]string, command ...string) error {
	from, err := fs.Sub(sources, "ports/"+name)
	if err != nil {
		return err
	}
	if err := os.CopyFS(folder, from); err != nil {
		return err
	}
	for _, words := range prepare {
		if err := tool(ctx, folder, words); err != nil {
			return err
		}
	}
	c.command = exec.CommandContext(ctx, command[0], command[1:]...)
	c.command.Dir = folder
	if c.in, err = c.command.StdinPipe(); err != nil {
		return err
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return err
	}
	c.out = bufio.NewReader(out)
	if err := c.command.Start(); err != nil {
		return err
	}
	if c.version, err = c.ask("version"); err != nil {
		return errors.Join(err, c.stop())
	}
	return nil
}

// tool runs one build step; where "--offline" is among its words, first with that and, if it fails, without.
func tool(ctx context.Context, folder string, words []string) error {
	if _, err := exec.LookPath(words[0]); err != nil {
		return fmt.Errorf("%s is not installed", words[0])
	}
	limited, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	run := func(words []string) error {
		cmd := exec.CommandContext(limited, words[0], words[1:]...)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			last := out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:]
			return fmt.Errorf("%s: %w: %s", words[0], err, bytes.TrimSpace(last))
		}
		return nil
	}
	if i := slices.Index(words, "--offline"); i >= 0 {
		if run(words) == nil {
			return nil
		}
		words = slices.Delete(slices.Clone(words), i, i+1)
	}
	return run(words)
}

func newGovernor(ctx context.Context, folder string) (*child, error) {
	c := &child{name: "governor (Rust)", how: "check_key of a keyed RateLimiter with its defaults: DashMap, std's hasher, the quanta clock; " +
		"a program of its own in the same rounds; yes or no"}
	return c, c.start(ctx, "governor", folder,
		[][]string{{"cargo", "build", "--quiet", "--release", "--offline"}},
		filepath.Join(folder, "target", "release", "governor-speed"))
}

func newBucket4j(ctx context.Context, folder string) (*child, error) {
	jars := filepath.Join(folder, "*")
	c := &child{name: "bucket4j (Java)", how: "tryConsume(1) of a Bucket a key in a ConcurrentHashMap, with its nanosecond clock; " +
		"a program of its own in the same rounds; yes or no"}
	return c, c.start(ctx, "bucket4j", folder, [][]string{
		{"mvn", "--quiet", "--batch-mode", "--offline", "dependency:copy-dependencies", "-DoutputDirectory=" + folder},
		{"javac", "-cp", jars, "-d", folder, "Speed.java"},
	}, "java", "-Xmx2g", "-cp", jars+string(os.PathListSeparator)+folder, "Speed")
}

func (c *child) ask(line string) (string, error) {
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		return "", err
	}
	answer, err := c.out.ReadString('\n')
	return strings.TrimSpace(answer), err
}

// stop ends the program by ending its input.
func (c *child) stop() error {
	return errors.Join(c.in.Close(), c.command.Wait())
}

// row is one of the things that the program can run. It is made at its first slice, which is not timed.
func (c *child) row(name, what string) row {
	return row{name: name, slice: func(n int) (allowed int, took time.Duration, err error) {
		answer, err := c.ask(fmt.Sprintf("%s %d", what, n))
		if err != nil {
			return 0, 0, err
		}
		var ns int64
		if _, err := fmt.Sscan(answer, &ns, &allowed); err != nil {
			return 0, 0, fmt.Errorf("answered %q: %w", answer, err)
		}
		return allowed, time.Duration(ns), nil
	}}
}
