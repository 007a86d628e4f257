package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress tells a waiting person how far a long log is read: over and over in one line on a terminal, else in a line
// now and then, with the time left.
type progress struct {
	to       io.Writer
	command  string
	began    time.Time
	size     int64 // of the input; 0 if not known
	terminal bool
	every    time.Duration
	next     time.Time
	asked    uint
	shown    bool
}

func newProgress(to io.Writer, command string, size int64) *progress {
	p := &progress{to: to, command: command, began: time.Now(), size: size, every: 10 * time.Second}
	if isTerminal(to) {
		p.terminal, p.every = true, 500*time.Millisecond
	}
	p.next = p.began.Add(p.every)
	return p
}

// isTerminal says whether what is written is seen at once by a person who cannot use it twice.
func isTerminal(to io.Writer) bool {
	file, ok := to.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// due says whether it is time for a line. It looks at the clock only now and then.
func (p *progress) due() bool {
	p.asked++
	return p.asked%4096 == 0 && time.Now().After(p.next)
}

// line shows how many lines are read, and which part of the input.
func (p *progress) line(lines uint64, consumed int64) {
	p.next = time.Now().Add(p.every)
	text := fmt.Sprintf("weir %s: %s lines", p.command, grouped(lines))
	if p.size > 0 && consumed > 0 {
		text += fmt.Sprintf(", %d %%, %v left", consumed*100/p.size, left(time.Since(p.began), consumed, p.size))
	}
	if !p.terminal {
		fmt.Fprintln(p.to, text)
		return
	}
	p.shown = true
	fmt.Fprintf(p.to, "\r\x1b[K%s", text)
}

// left is how much longer it takes if it goes on as it did, to the second.
func left(taken time.Duration, consumed, size int64) time.Duration {
	rest := float64(max(0, size-consumed)) / float64(consumed)
	return time.Duration(rest * float64(taken)).Round(time.Second)
}

// end clears the line.
func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
