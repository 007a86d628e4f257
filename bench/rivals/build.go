package rivals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"weir/vectors"
)

// buildLimit is how long one build step may take, downloads included.
const buildLimit = 5 * time.Minute

// missingError says why a rival is left out on this machine.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what }

// tool runs a build tool in dir. That it is not there, or fails, leaves the rival out.
func tool(ctx context.Context, dir string, words ...string) (string, error) {
	if _, err := exec.LookPath(words[0]); err != nil {
		return "", &missingError{words[0] + " is not installed"}
	}
	limited, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	cmd := exec.CommandContext(limited, words[0], words[1:]...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		said := strings.TrimSpace(string(out))
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			said += " " + strings.TrimSpace(string(exit.Stderr))
		}
		return "", &missingError{fmt.Sprintf("%s %s: %v: %s", words[0], words[1], err, vectors.Clean(said))}
	}
	return strings.TrimSpace(string(out)), nil
}

// module is the version and the folder of a module that this one requires.
func module(ctx context.Context, path string) (version, dir string, err error) {
	out, err := tool(ctx, "", "go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", path)
	if err != nil {
		return "", "", err
	}
	version, dir, _ = strings.Cut(out, " ")
	return version, dir, nil
}

// source is a folder of ports/.
func source(ctx context.Context, name string) (string, error) {
	root, err := moduleRoot(ctx)
	return filepath.Join(root, "ports", name), err
}

func moduleRoot(ctx context.Context) (string, error) {
	file, err := tool(ctx, "", "go", "env", "GOMOD")
	return filepath.Dir(file), err
}

// openPort drives a program of ports/ in plain text; version "" is what the program says of itself.
func openPort(ctx context.Context, version string, command ...string) (vectors.Driver, string, error) {
	d, err := vectors.NewPort(ctx, vectors.PortOptions{Command: command, Text: true})
	return d, version, err
}

// openGolimiter builds go-limiter's port against a copy of the library whose clock package is ours; nothing else differs.
func openGolimiter(ctx context.Context, dir string) (vectors.Driver, string, error) {
	const path = "github.com/sethvargo/go-limiter"
	version, from, err := module(ctx, path)
	if err != nil {
		return nil, "", err
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return nil, "", err
	}
	library := filepath.Join(dir, "go-limiter")
	if err := copyTree(library, from); err != nil {
		return nil, "", err
	}
	clock := filepath.Join(library, "internal", "fasttime")
	if err := errors.Join(os.RemoveAll(clock), os.Mkdir(clock, 0o755),
		copyFile(filepath.Join(clock, "fasttime.go"), filepath.Join(root, "ports", "golimiter", "fasttime.txt")),
		copyFile(filepath.Join(dir, "go.mod"), filepath.Join(root, "go.mod")),
		copyFile(filepath.Join(dir, "go.sum"), filepath.Join(root, "go.sum"))); err != nil {
		return nil, "", err
	}
	mod, program := filepath.Join(dir, "go.mod"), filepath.Join(dir, "golimiter.exe")
	if _, err := tool(ctx, root, "go", "mod", "edit", "-replace", path+"="+library, mod); err != nil {
		return nil, "", err
	}
	if _, err := tool(ctx, root, "go", "build", "-modfile", mod, "-o", program, "./ports/golimiter"); err != nil {
		return nil, "", err
	}
	return openPort(ctx, version, program)
}

// copyTree copies the Go files of a module, which may stand in a cache that nobody can write, with its go.mod.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, name)
		if err != nil || d.IsDir() {
			return errors.Join(err, os.MkdirAll(filepath.Join(to, inside), 0o755))
		}
		if filepath.Ext(name) != ".go" && d.Name() != "go.mod" {
			return nil
		}
		return copyFile(filepath.Join(to, inside), name)
	})
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

// openGovernor builds the Rust port with cargo, offline if the crates are here already.
func openGovernor(ctx context.Context, dir string) (vectors.Driver, string, error) {
	from, err := source(ctx, "governor")
	if err != nil {
		return nil, "", err
	}
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil { // cargo writes beside its source
		return nil, "", err
	}
	build := []string{"cargo", "build", "--quiet", "--release"}
	if err := offlineFirst(ctx, dir, build); err != nil {
		return nil, "", err
	}
	return openPort(ctx, "", filepath.Join(dir, "target", "release", "governor-port"))
}

// offlineFirst runs a build that may have all it needs here already, and else with the network.
func offlineFirst(ctx context.Context, dir string, words []string) error {
	if _, err := tool(ctx, dir, slices.Concat(words, []string{"--offline"})...); err == nil {
		return nil
	}
	_, err := tool(ctx, dir, words...)
	return err
}

// openBucket4j fetches the jar with Maven, offline if it is here already, and builds the Java port with javac.
func openBucket4j(ctx context.Context, dir string) (vectors.Driver, string, error) {
	from, err := source(ctx, "bucket4j")
	if err != nil {
		return nil, "", err
	}
	fetch := []string{"mvn", "--quiet", "--batch-mode", "-f", filepath.Join(from, "pom.xml"),
		"dependency:copy-dependencies", "-DoutputDirectory=" + dir}
	if err := offlineFirst(ctx, dir, fetch); err != nil {
		return nil, "", err
	}
	jars := filepath.Join(dir, "*")
	if _, err := tool(ctx, dir, "javac", "-cp", jars, "-d", dir, filepath.Join(from, "Port.java")); err != nil {
		return nil, "", err
	}
	return openPort(ctx, "", "java", "-cp", jars+string(os.PathListSeparator)+dir, "Port")
}
