package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress tells a waiting person how far a long log is read: over and over in one line on a terminal, else in a line
// now and then.
type progress struct {
	to       io.Writer
	size     int64 // of the input; 0 if not known
	terminal bool
	every    time.Duration
	next     time.Time
	asked    uint
	shown    bool
}

func newProgress(to io.Writer, size int64) *progress {
	p := &progress{to: to, size: size, every: 10 * time.Second}
	if file, ok := to.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.terminal, p.every = true, 500*time.Millisecond
		}
	}
	p.next = time.Now().Add(p.every)
	return p
}

// due says whether it is time for a line. It looks at the clock only now and then.
func (p *progress) due() bool {
	p.asked++
	return p.asked%4096 == 0 && time.Now().After(p.next)
}

// line shows how many lines are read, and which part of the input.
func (p *progress) line(lines uint64, consumed int64) {
	p.next = time.Now().Add(p.every)
	text := fmt.Sprintf("weir simulate: %s lines", grouped(lines))
	if p.size > 0 {
		text += fmt.Sprintf(", %d %%", consumed*100/p.size)
	}
	if !p.terminal {
		fmt.Fprintln(p.to, text)
		return
	}
	p.shown = true
	fmt.Fprintf(p.to, "\r\x1b[K%s", text)
}

// end clears the line.
func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
