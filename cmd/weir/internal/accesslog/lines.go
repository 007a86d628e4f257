package accesslog

import (
	"bufio"
	"io"
)

// maxLine is the longest line that is looked at, in bytes without its end. Servers cap a request line and each header
// at 8 KiB to 1 MiB, so that a longer line is damage.
const maxLine = 1 << 20

// lines splits an input into lines.
type lines struct {
	input  *counter
	packed *packed
	text   *bufio.Reader // holds exactly the longest line and its end
	head   [2 * maxExcerpt]byte
	err    error // what comes after the line just given
	broken bool  // err came in the middle of a line
}

// newLines looks at the first bytes to tell what the input is.
func newLines(r io.Reader) (*lines, error) {
	l := &lines{input: &counter{from: r}}
	raw := bufio.NewReaderSize(l.input, 1<<16)
	var err error
	if l.packed, err = unpack(raw); err != nil {
		return nil, err
	}
	l.text = bufio.NewReaderSize(l.packed, maxLine+len("\r\n"))
	return l, nil
}

func (l *lines) consumed() int64 { return l.input.n }

// trailing says whether the input goes on after what was packed in it.
func (l *lines) trailing() bool { return l.packed.trailing }

func (l *lines) close() { l.packed.close() }

// next is the next line without its end, valid until the next call, and why it cannot be read if so: then it is the
// beginning alone. The error, io.EOF after the last line, comes alone.
func (l *lines) next() ([]byte, fault, error) {
	if l.err != nil {
		return nil, whole, l.err
	}
	line, err := l.text.ReadSlice('\n')
	switch {
	case err == nil:
		line = line[:len(line)-1]
	case err == bufio.ErrBufferFull:
		return l.skip(line), tooLong, nil
	case len(line) == 0:
		l.err = err
		return nil, whole, err
	default:
		l.err, l.broken = err, err != io.EOF
	}
	if l.broken { // what there is of it might read as another request: a size that lost its last digits
		return line, cutOff, nil
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) > maxLine {
		return line, tooLong, nil
	}
	return line, whole, nil
}

// skip reads to the end of a line of which the buffer holds but the beginning, and returns what excerpt needs of it.
func (l *lines) skip(line []byte) []byte {
	head := l.head[:copy(l.head[:], line)]
	err := bufio.ErrBufferFull
	for err == bufio.ErrBufferFull {
		_, err = l.text.ReadSlice('\n')
	}
	l.err, l.broken = err, err != nil && err != io.EOF
	return head
}

// counter counts what it reads.
type counter struct {
	from io.Reader
	n    int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}
