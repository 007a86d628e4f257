package accesslog

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var (
	// gzipMagic begins every gzip member (RFC 1952, 2.3.1), and no text.
	gzipMagic = []byte{0x1f, 0x8b}
	// zstdMagic begins every zstd frame (RFC 8878, 3.1.1), and no text.
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// mostWindow bounds the memory that a zstd frame may ask for: what `zstd --long` asks for, and eight times what a decoder must
// offer (RFC 8878, 3.1.1.1.2).
const mostWindow = 128 << 20

// packed is what an input holds: itself, or what its gzip members or zstd frames unpack to.
type packed struct {
	raw      *bufio.Reader
	text     io.Reader
	member   *gzip.Reader // nil unless gzip
	frames   *zstd.Decoder
	kind     string
	trailing bool
}

func unpack(raw *bufio.Reader) (*packed, error) {
	magic, err := raw.Peek(len(zstdMagic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	p := &packed{raw: raw, text: raw}
	switch {
	case bytes.HasPrefix(magic, gzipMagic):
		p.kind = "gzip"
		if p.member, err = gzip.NewReader(raw); err != nil {
			return nil, streamError{p.kind, err}
		}
		p.member.Multistream(false)
		p.text = p.member
	case bytes.Equal(magic, zstdMagic):
		p.kind = "zstd"
		p.frames, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return nil, streamError{p.kind, err}
		}
		p.text = p.frames
	}
	return p, nil
}

func (p *packed) close() {
	if p.frames != nil {
		p.frames.Close()
	}
}

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.text.Read(b)
	switch {
	case err == nil || p.kind == "":
		return n, err
	case err != io.EOF:
		return n, streamError{p.kind, err}
	case p.member == nil:
		return n, err
	}
	return n, p.nextMember()
}

// nextMember goes on to the next gzip member. Whatever else follows one is no part of the log and is left alone, as gzip does: a
// tape's padding, or a file that was appended by mistake.
func (p *packed) nextMember() error {
	magic, err := p.raw.Peek(len(gzipMagic))
	if len(magic) == 0 {
		return err
	}
	if !bytes.Equal(magic, gzipMagic) {
		p.trailing = true
		p.text, p.kind = bytes.NewReader(nil), ""
		return io.EOF
	}
	if err := p.member.Reset(p.raw); err != nil {
		return streamError{p.kind, err}
	}
	p.member.Multistream(false)
	return nil
}

// streamError says of an error that it is one of a packed stream, which the bare "unexpected EOF" does not.
type streamError struct {
	kind string
	err  error
}

func (e streamError) Error() string {
	if errors.Is(e.err, io.ErrUnexpectedEOF) || e.err == io.EOF {
		return "the " + e.kind + " stream is cut off"
	}
	return "the " + e.kind + " stream is broken: " + e.err.Error()
}

func (e streamError) Unwrap() error {
	if e.err == io.EOF { // of the header: whoever asks for io.EOF must not take it for the end
		return io.ErrUnexpectedEOF
	}
	return e.err
}
