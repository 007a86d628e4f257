package main

import (
	"context"
	"io"
	"os"
	"time"
)

// follower is a file that is read on as it grows, until ctx ends. Another file under the same name, as a rotation leaves it, is
// read from its beginning once the old one is read, and so is one that was cut short.
type follower struct {
	ctx  context.Context
	path string
	file *os.File
	read int64
	idle func() // called each time that there is nothing to read for now
}

// patience is how long to wait before a file is looked at again.
const patience = 200 * time.Millisecond

func follow(ctx context.Context, path string, idle func()) (*follower, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &follower{ctx: ctx, path: path, file: file, idle: idle}, nil
}

// Read waits for something to read; the end is that of ctx.
func (f *follower) Read(b []byte) (int, error) {
	for {
		n, err := f.file.Read(b)
		f.read += int64(n)
		if n > 0 || err != nil && err != io.EOF {
			return n, err
		}
		if f.renewed() {
			continue
		}
		f.idle()
		select {
		case <-f.ctx.Done():
			return 0, io.EOF
		case <-time.After(patience):
		}
	}
}

// renewed says whether there is another beginning to read from. That a file is gone for a moment is how some are rotated.
func (f *follower) renewed() bool {
	now, err := os.Stat(f.path)
	if err != nil {
		return false
	}
	was, err := f.file.Stat()
	if err != nil {
		return false
	}
	if os.SameFile(was, now) {
		if now.Size() >= f.read {
			return false
		}
		f.read = 0
		_, err := f.file.Seek(0, io.SeekStart)
		return err == nil
	}
	next, err := os.Open(f.path)
	if err != nil {
		return false
	}
	f.file.Close()
	f.file, f.read = next, 0
	return true
}

// Close closes the file at hand.
func (f *follower) Close() error { return f.file.Close() }
