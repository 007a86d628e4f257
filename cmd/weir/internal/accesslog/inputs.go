package accesslog

import (
	"fmt"
	"io"
)

// Input is one of the inputs of a log. Its name is for messages.
type Input struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// inputs is the lines of one input after the other.
type inputs struct {
	rest     []Input
	named    bool // there are several
	at       string
	closer   io.Closer
	lines    *lines
	read     uint64 // lines of the input at hand
	before   int64  // bytes of those that have ended
	trailing uint64 // inputs with something after their gzip stream
}

// open begins the next input.
func (i *inputs) open() error {
	next := i.rest[0]
	i.rest, i.read, i.at = i.rest[1:], 0, ""
	if i.named {
		i.at = next.Name
	}
	from, err := next.Open()
	if err != nil {
		return err
	}
	l, err := newLines(from)
	if err != nil {
		from.Close()
		return fmt.Errorf("%sline 1: %w", inFile(i.at), err)
	}
	i.lines, i.closer = l, from
	return nil
}

// close ends the input at hand.
func (i *inputs) close() error {
	if i.closer == nil {
		return nil
	}
	i.lines.close()
	from := i.closer
	i.closer = nil
	return from.Close()
}

// next is the next line of all, as lines.next has it. An error but io.EOF names the line: the one that the input broke off
// in, or the next if it broke off between two.
func (i *inputs) next() ([]byte, fault, error) {
	for {
		line, f, err := i.lines.next()
		if err == nil {
			i.read++
			return line, f, nil
		}
		if i.lines.trailing() {
			i.trailing++
		}
		if err != io.EOF {
			at := i.read
			if !i.lines.broken {
				at++
			}
			i.close()
			return nil, whole, fmt.Errorf("%sline %d: %w", inFile(i.at), at, err)
		}
		i.close()
		if len(i.rest) == 0 {
			return nil, whole, io.EOF
		}
		i.before += i.lines.consumed()
		if err := i.open(); err != nil {
			return nil, whole, err
		}
	}
}

// line is the number of the line just given, and name the input that it is in, empty if there is but one.
func (i *inputs) line() uint64 { return i.read }
func (i *inputs) name() string { return i.at }

func (i *inputs) consumed() int64 { return i.before + i.lines.consumed() }
