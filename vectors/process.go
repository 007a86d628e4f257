package vectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// maxLine is the longest line that is taken from a port.
const maxLine = 1 << 20

// killed is how long a process is waited for that was killed: only a kernel that cannot end it takes longer.
const killed = 10 * time.Second

// errLongLine ends the reading of a port's output.
var errLongLine = fmt.Errorf("a line is longer than %d bytes", maxLine)

// process is a running port: what goes in and comes out, and the means to be rid of it and of everything that it has
// started. It is read all the time, so that it never waits for us with its standard error, and with its standard output
// only when it is far ahead of what was asked.
type process struct {
	group  *group
	in     *os.File
	grace  time.Duration // between being asked to end and being killed, and for what it has left in its pipes
	lines  chan []byte   // of standard output; closed at its end
	fault  error         // why the lines end, if the output did not; set before lines is closed
	begun  atomic.Int64  // the bytes of a line that has no end yet
	errs   complaints
	quit   chan struct{} // nobody wants lines any more
	ending sync.Once
	exited chan struct{} // the program has ended
	status error         // how, as Wait has it; set before exited is closed
	over   chan struct{} // and nothing more will come out of it
}

// startProcess starts a program as the first of a group of its own. When ctx ends it is ended.
func startProcess(ctx context.Context, words []string, grace time.Duration) (*process, error) {
	cmd := exec.Command(words[0], words[1:]...)
	var pipes [3][2]*os.File
	for i := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(pipes)
			return nil, err
		}
		pipes[i] = [2]*os.File{r, w}
	}
	// Files and not writers: what the program leaves in a pipe can still be read when it has ended, and no child of it
	// that holds the pipe open can keep us from seeing the end.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes[0][0], pipes[1][1], pipes[2][1]
	g, err := startInGroup(cmd)
	if err != nil {
		closeAll(pipes)
		return nil, err
	}
	for _, theirs := range []*os.File{pipes[0][0], pipes[1][1], pipes[2][1]} {
		theirs.Close()
	}
	p := &process{group: g, in: pipes[0][1], grace: grace, lines: make(chan []byte, 64), quit: make(chan struct{}),
		exited: make(chan struct{}), over: make(chan struct{})}
	go p.wait(cmd, pipes[1][0], pipes[2][0])
	stop := context.AfterFunc(ctx, p.end)
	go func() {
		<-p.over
		stop()
	}()
	return p, nil
}

func closeAll(pipes [3][2]*os.File) {
	for _, pair := range pipes {
		for _, f := range pair {
			if f != nil {
				f.Close()
			}
		}
	}
}

// wait reads until the program has ended and its pipes are empty.
func (p *process) wait(cmd *exec.Cmd, out, errs *os.File) {
	var readers sync.WaitGroup
	readers.Go(func() { p.read(out) })
	readers.Go(func() { p.errs.read(errs) })
	p.status = cmd.Wait()
	p.group.kill() // those that it left behind; nobody can have got its number in so short a time
	close(p.exited)
	// What was written is still to be read, but somebody who left the group may hold the pipes open for ever.
	late := time.AfterFunc(p.grace, func() {
		out.Close()
		errs.Close()
	})
	readers.Wait()
	late.Stop()
	p.group.close()
	close(p.over)
}

// read cuts standard output into lines.
func (p *process) read(out io.ReadCloser) {
	defer out.Close()
	defer close(p.lines)
	var line []byte
	chunk := make([]byte, 64<<10)
	for {
		n, err := out.Read(chunk)
		data := chunk[:n]
		for len(data) > 0 {
			part, rest, ended := bytes.Cut(data, []byte("\n"))
			line = append(line, part...)
			data = rest
			if len(line) > maxLine {
				p.fault = errLongLine
				return
			}
			if !ended {
				break
			}
			select {
			case p.lines <- bytes.TrimSuffix(line, []byte("\r")):
			case <-p.quit:
				return
			}
			line = nil
		}
		p.begun.Store(int64(len(line)))
		if err != nil {
			return
		}
	}
}

// write sends b and says when it is done, or why it cannot be. It is never waited for by whoever reads.
func (p *process) write(b []byte) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := p.in.Write(b)
		done <- err
	}()
	return done
}

// deaf says why nothing more can be written to a port that will be ended, if so: one that has closed its standard input
// may have done it when the request was in the pipe already.
func (p *process) deaf() error {
	if p.in.SetWriteDeadline(time.Now().Add(10*time.Millisecond)) != nil {
		return nil // a system where nobody can tell
	}
	if _, err := p.in.Write([]byte("\n")); !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}

// hangUp closes standard input and takes no more lines.
func (p *process) hangUp() {
	p.ending.Do(func() {
		close(p.quit)
		p.in.Close()
	})
}

// end ends the program and all of its group, kindly first. It returns when that is done.
func (p *process) end() {
	p.hangUp()
	if !within(p.exited, 0) { // else its number may be somebody else's by now
		p.group.terminate()
	}
	if !within(p.exited, p.grace) {
		p.group.kill()
	}
	within(p.over, killed)
}

// within says whether c is closed within d.
func within(c <-chan struct{}, d time.Duration) bool {
	select {
	case <-c:
		return true
	default:
	}
	select {
	case <-c:
		return true
	case <-time.After(d):
		return false
	}
}

// statusText is how a program ended.
func statusText(err error) string {
	if known := (*exec.ExitError)(nil); err == nil || errors.As(err, &known) {
		if err == nil {
			return "exit status 0"
		}
		return known.Error()
	}
	return err.Error()
}
