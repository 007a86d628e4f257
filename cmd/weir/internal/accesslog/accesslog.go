// Package accesslog reads the requests of a log, one after the other, for weir simulate. It knows the common and the
// combined log format of web servers and a CSV of time,key,cost, each plain or gzip (told by its first bytes).
//
// A log is what other programs, and strangers through them, wrote: a line that cannot be read is counted and the
// first few are kept to be shown, and reading goes on. A line is one request; nothing spans lines. Memory does not
// grow with the log.
//
// # Common and combined
//
//	192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 512
//	192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 512 "https://example.org/" "agent"
//
// Quoted fields may hold \" and \\; keys are the bytes as they were logged, escapes and the query of a path
// included. What follows the last field after a space is ignored: nginx and others like to add fields, and so a
// combined log is also a common one. A size of "-" is 0 bytes. A part that a request lacks, as garbage or HTTP/0.9
// does, is "-".
//
// # CSV
//
//	time,key,cost
//	0.25,alice,3
//	2015-05-17T10:05:03.5+02:00,bob,1
//
// Quoting is that of encoding/csv, but a quoted cell ends on its line; space before a cell is ignored, and after a
// time, a cost or a name. The first line may name the columns, in any order and case; it is a header if one of at
// least two is called time. Without it they are time, key and, in every line or in some, cost. A cost is a whole
// number. A time is decimal seconds since whenever, or RFC 3339; both may be mixed if the seconds are those of Unix.
//
// Times are exact whole nanoseconds and never pass through a float; digits after the ninth are dropped, whatever
// the sign.
//
// # Odds and ends
//
// A line may end in LF, CRLF or, the last one, in nothing, and may begin with a UTF-8 byte order mark. One longer
// than 1 MiB is unreadable, and so is one with a NUL byte and the last one of an input that breaks off in it.
package accesslog

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// Record is one request.
type Record struct {
	// At is the time since the first record; negative if the log steps back before its first. It is never
	// further than 140 years from 0.
	At time.Duration
	// Key is valid until the next call of Next. It is what strangers wrote: escape it before it meets a terminal.
	Key []byte
	// Cost may be 0.
	Cost uint64
}

// Reader reads the requests of one log. It is for one goroutine.
type Reader struct {
	options  Options
	lines    *lines
	format   format    // nil until the first readable line tells
	sniffers []sniffer // until then: one for each format
	first    instant   // when the first record came
	last     time.Duration
	stats    Stats
	err      error // why there is no more
}

// format reads the lines of one kind of log. The key of an entry is valid until the next call. An error says that
// the options ask for what this log does not have; nothing else is fatal.
type format interface {
	parse(line []byte) (entry, fault, error)
}

type entry struct {
	at   instant
	key  []byte
	cost uint64
}

// sniffer is a format with no wishes, which tells whether a line could be of it.
type sniffer struct {
	name string
	format
}

// New reads the log in r. It looks at the first bytes of r, and fails if it cannot, if a gzip header is broken, or,
// with an *OptionError, if o asks for what there is not.
func New(r io.Reader, o Options) (*Reader, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	l, err := newLines(r)
	if err != nil {
		return nil, err
	}
	reader := &Reader{options: o, lines: l}
	if o.Format != "" && o.Format != auto {
		if err := reader.settle(o.Format); err != nil {
			return nil, err
		}
		return reader, nil
	}
	for _, name := range []string{combined, common, csvFormat} { // every combined line is a common one: ask it first
		f, err := newFormat(name, Options{})
		if err != nil {
			return nil, err
		}
		reader.sniffers = append(reader.sniffers, sniffer{name, f})
	}
	return reader, nil
}

// Next is the next request that can be read. The error is io.EOF after the last; an *OptionError if the log turned
// out not to have the field, or be of the format, that the options ask for; else it wraps what the input met, a gzip
// stream that is cut off for one, and says at which line. Once it fails it fails the same way for ever.
func (r *Reader) Next() (Record, error) {
	for r.err == nil {
		line, f, err := r.lines.next()
		if err != nil {
			r.err = r.ended(err)
			break
		}
		r.stats.Lines++
		line = bytes.TrimPrefix(line, []byte("\ufeff")) // of any line: files that were joined, each with its own
		if f != whole {
			r.complain(line, f)
			continue
		}
		record, f, err := r.read(line)
		switch {
		case err != nil:
			r.complain(line, unwanted)
			r.err = err
		case f == nothing:
			r.stats.Skipped++
		case f != whole:
			r.complain(line, f)
		default:
			r.account(record.At)
			return record, nil
		}
	}
	return Record{}, r.err
}

// Stats is what has been read so far. Its Samples are not to be changed.
func (r *Reader) Stats() Stats { return r.stats }

// Consumed is the bytes taken from the input so far, compressed if it is; never less than what Next has told, and
// ahead of it by the buffers, about a mebibyte.
func (r *Reader) Consumed() int64 { return r.lines.consumed() }

func (r *Reader) read(line []byte) (Record, fault, error) {
	if len(bytes.Trim(line, " \t\r")) == 0 {
		return Record{}, nothing, nil
	}
	if bytes.IndexByte(line, 0) >= 0 { // a crash leaves runs of them where a block was never written
		return Record{}, hasNUL, nil
	}
	if r.format == nil {
		name := r.sniff(line)
		if name == "" {
			return Record{}, unknownFormat, nil
		}
		if err := r.settle(name); err != nil {
			return Record{}, whole, err
		}
	}
	e, f, err := r.format.parse(line)
	if err != nil || f != whole {
		return Record{}, f, err
	}
	if r.stats.Read == 0 {
		r.first = e.at
	}
	at, ok := e.at.since(r.first)
	if !ok {
		return Record{}, farAway, nil
	}
	return Record{At: at, Key: e.key, Cost: e.cost}, whole, nil
}

// sniff names the format of line, "" if it is of none.
func (r *Reader) sniff(line []byte) string {
	for _, s := range r.sniffers {
		if _, f, err := s.parse(line); err != nil || f == whole || f == nothing {
			return s.name
		}
	}
	return ""
}

func (r *Reader) settle(name string) (err error) {
	if r.format, err = newFormat(name, r.options); err != nil {
		return err
	}
	r.stats.Format, r.sniffers = name, nil
	return nil
}

func (r *Reader) account(at time.Duration) {
	if back := r.last - at; r.stats.Read > 0 && back > 0 {
		r.stats.StepsBack++
		r.stats.LargestStepBack = max(r.stats.LargestStepBack, back)
	}
	r.last = at
	r.stats.Read++
}

func (r *Reader) complain(line []byte, f fault) {
	r.stats.Unreadable++
	if len(r.stats.Samples) < maxSamples {
		r.stats.Samples = append(r.stats.Samples, Complaint{r.stats.Lines, string(f), excerpt(line)})
	}
}

// ended gives the error of the input its line: the one that it broke off in, or the next if it broke off between two.
func (r *Reader) ended(err error) error {
	if err == io.EOF {
		return err
	}
	at := r.stats.Lines
	if !r.lines.broken {
		at++
	}
	return fmt.Errorf("line %d: %w", at, err)
}
