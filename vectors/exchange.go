package vectors

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"time"
)

// exchange is one request to a port and its answer.
type exchange struct {
	port  *process
	trace io.Writer
	about string // what it is about, for messages
	limit time.Duration

	ctx      context.Context // ends with the limit
	written  <-chan error    // nil once the request is out, or cannot be
	hungUp   error           // why it could not be
	wanted   int             // answers, if there are to be several
	received int             // lines
}

func (d *PortDriver) exchange(p *process, about string, limit time.Duration) *exchange {
	return &exchange{port: p, trace: d.o.Trace, about: about, limit: limit}
}

// run sends the request and reads the answer with read, which calls next for its lines. The port must also have taken the
// whole request. The error of read is given back as it is, unless ctx has ended.
func (x *exchange) run(ctx context.Context, request []byte, read func() error) error {
	limited, cancel := context.WithTimeout(ctx, x.limit)
	defer cancel()
	x.ctx = limited
	x.port.errs.reset()
	x.show("-> ", request)
	x.written = x.port.write(request)
	err := read()
	if err == nil {
		err = x.sent()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// sent waits until the request is out, when its answer is already there.
func (x *exchange) sent() error {
	if x.written != nil {
		select {
		case x.hungUp = <-x.written:
		case <-x.ctx.Done():
			return x.late()
		}
	}
	if x.hungUp != nil {
		return x.closedInput()
	}
	return nil
}

// next is the next line of the answer.
func (x *exchange) next() ([]byte, error) {
	for {
		select {
		case line, ok := <-x.port.lines:
			if !ok {
				return nil, x.ended()
			}
			x.received++
			if x.trace != nil {
				x.show("<- ", line)
			}
			return line, nil
		case x.hungUp = <-x.written:
			x.written = nil // an answer may still come, and a port that has ended says so by the end of its output
		case <-x.ctx.Done():
			return nil, x.late()
		}
	}
}

// ended is the end of the port's output: a crash if the port has ended too.
func (x *exchange) ended() error {
	if x.port.fault != nil {
		return &DriverError{Verdict: ProtocolError, Text: x.port.fault.Error(), Hint: "an answer is one line of at most 1 MiB, and " +
			"standard output is for protocol only: does something else write to it?"}
	}
	select {
	case <-x.port.exited:
	case <-x.ctx.Done():
		return &DriverError{Verdict: ProtocolError, Text: "standard output was closed, but the program goes on",
			Hint: "does it close or redirect its standard output, or leave a child behind?"}
	}
	<-x.port.over // soon: only to have all of its standard error
	e := &DriverError{Verdict: Crash, Text: fmt.Sprintf("the port ended at %s: %s", x.about, statusText(x.port.status))}
	switch {
	case x.port.begun.Load() > 0:
		e.Hint = "its last line has no newline: an answer needs one"
	case x.port.status == nil:
		e.Hint = "a port ends at bye or at the end of its standard input, not before"
	}
	return e
}

// late is what there is to say when the time is up.
func (x *exchange) late() error {
	e := &DriverError{Verdict: Timeout, Text: fmt.Sprintf("no answer to %s within %v", x.about, x.limit)}
	if x.wanted > 0 && x.received > 0 {
		e.Text = fmt.Sprintf("no whole answer to %s within %v: %d lines so far", x.about, x.limit, x.received)
	}
	if x.written == nil && x.hungUp == nil {
		x.hungUp = x.port.deaf()
	}
	switch begun := x.port.begun.Load(); {
	case x.hungUp != nil:
		return x.closedInput()
	case x.written != nil && len(x.written) == 0:
		e.Hint = "the port has not read the whole request: it must read on while it answers, or answer at the end"
	case begun > 0:
		e.Hint = fmt.Sprintf("no newline after %v, but %d bytes of a line: does every answer end with a newline?", x.limit, begun)
	case x.wanted > 0 && x.received > 0:
		e.Hint = "is there one answer for each step, and an end line? Is standard output flushed after it?"
	default:
		e.Hint = fmt.Sprintf("no newline after %v: is standard output flushed after every answer?", x.limit)
	}
	return e
}

func (x *exchange) closedInput() error {
	return &DriverError{Verdict: ProtocolError, Text: "standard input was closed before the request was read: " + x.hungUp.Error(),
		Hint: "a port reads its standard input until bye"}
}

// bye ends the talk: the port must say nothing more and end with status 0.
func (x *exchange) bye(ctx context.Context, request []byte) error {
	x.port.errs.reset()
	x.show("-> ", request)
	x.written = x.port.write(request)
	for {
		select {
		case <-x.written: // a port that ends before it is told to is no worse
			x.written = nil
			x.port.in.Close()
		case line, ok := <-x.port.lines:
			if !ok {
				return x.left(ctx)
			}
			x.show("<- ", line)
			return &DriverError{Verdict: ProtocolError, Text: "bye was answered: " + excerpt(line), Hint: "bye has no answer: " +
				"one answer too many before, or a farewell that belongs to standard error?"}
		case <-ctx.Done():
			return x.stays()
		}
	}
}

// left waits for the end of a port that has closed its standard output.
func (x *exchange) left(ctx context.Context) error {
	if x.port.fault != nil {
		return x.ended()
	}
	select {
	case <-x.port.over:
	case <-ctx.Done():
		return x.stays()
	}
	if x.port.status != nil {
		return &DriverError{Verdict: Crash, Text: "the port ended at bye: " + statusText(x.port.status),
			Hint: "a port ends with status 0: does its clean-up fail?"}
	}
	return nil
}

func (x *exchange) stays() error {
	return &DriverError{Verdict: Timeout, Text: fmt.Sprintf("the port still runs %v after bye", x.limit),
		Hint: "a port ends at bye, and at the end of its standard input: does a thread or a child keep it?"}
}

// show tells the trace about lines.
func (x *exchange) show(arrow string, lines []byte) {
	if x.trace == nil {
		return
	}
	w := bufio.NewWriter(x.trace)
	for line := range bytes.SplitSeq(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n")) {
		_, _ = w.WriteString(arrow + escape(string(line)) + "\n") // the error stays, and a trace that fails hurts no verdict
	}
	_ = w.Flush()
}

// excerpt is the beginning of a port's line, for a message.
func excerpt(line []byte) string {
	if len(line) > 160 {
		return string(line[:160]) + "..."
	}
	return string(line)
}
