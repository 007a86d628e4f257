// Package accesslog reads the requests of a log, one after the other, for the commands of weir that look at logs. It knows the
// common and the combined log format of web servers, whatever a format string of nginx or Apache describes, JSON lines and a
// CSV of time,key,cost, each plain, gzip or zstd (told by their first bytes), in one file or several.
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
// # Format strings
//
// A format that holds a $ or a % is read as nginx's log_format or Apache's LogFormat. Between two fields there must be
// something; a field ends where that begins, one between quotes at the next quote that no backslash escapes. The last ends at a
// space or the end of the line. A time is $time_local, $time_iso8601, $msec, %t or %{sec|msec|usec}t.
//
// # JSON lines
//
// One object a line. Fields are found by the names that Caddy, Traefik, Envoy, nginx and others give them, or by their own,
// with a dot for nested ones: request.headers.X-Api-Key.0. A number is taken as it is written. A client with a port is known
// without it.
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
	inputs   inputs
	format   format    // nil until the first readable line tells
	sniffers []sniffer // until then: one for each format
	begun    bool
	first    instant // when the first record came
	last     time.Duration
	held     []held // the first records, until it is known which of them is the first
	spread   spread
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

// New reads the log in r. It looks at the first bytes of r, and fails if it cannot, if a gzip or zstd header is broken,
// or, with an *OptionError, if o asks for what there is not.
func New(r io.Reader, o Options) (*Reader, error) {
	return NewFiles([]Input{{Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}}, o)
}

// NewFiles reads the log that stands in some inputs, one after the other, as if they were one, each plain, gzip or zstd. Each is
// opened when the one before has ended, the first at once. The error is as New's, or that of opening.
func NewFiles(files []Input, o Options) (*Reader, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	reader := &Reader{options: o, inputs: inputs{rest: files, named: len(files) > 1}}
	if err := reader.inputs.open(); err != nil {
		return nil, err
	}
	if o.Format != "" && o.Format != auto {
		if err := reader.settle(o.Format); err != nil {
			reader.inputs.close()
			return nil, err
		}
		return reader, nil
	}
	for _, name := range []string{combined, common, jsonLines, csvFormat} { // every combined line is a common one: ask it first
		wishes := Options{}
		if name == csvFormat || name == jsonLines {
			wishes.Time = o.Time
		}
		f, err := newFormat(name, wishes)
		if err != nil {
			return nil, err
		}
		reader.sniffers = append(reader.sniffers, sniffer{name, f})
	}
	return reader, nil
}

// Close closes the input at hand. It is needed only where Next has not come to an end.
func (r *Reader) Close() error { return r.inputs.close() }

// Next is the next request that can be read. The error is io.EOF after the last; an *OptionError if the log turned
// out not to have the field, or be of the format, that the options ask for; else it wraps what the input met, a gzip
// stream that is cut off for one, and says at which line. Once it fails it fails the same way for ever.
func (r *Reader) Next() (Record, error) {
	if !r.options.Spread {
		return r.relative()
	}
	return r.spread.next(r)
}

// relative is the next request, by the time since the first.
func (r *Reader) relative() (Record, error) {
	if !r.begun {
		r.begin()
	}
	for {
		h, line, err := r.pull()
		if err != nil {
			return Record{}, err
		}
		at, ok := h.at.since(r.first)
		if !ok {
			r.complain(h.line, farAway, line)
			continue
		}
		r.account(at)
		return Record{At: at, Key: h.key, Cost: h.cost}, nil
	}
}

// pull is the next entry that was held, or else the next that is read, with its line as far as a complaint shows it.
func (r *Reader) pull() (held, []byte, error) {
	if len(r.held) > 0 {
		h := r.held[0]
		r.held = r.held[1:]
		return h, h.text, nil
	}
	e, line, err := r.entry()
	return held{entry: e, line: r.inputs.line()}, line, err
}

// entry is the next line that is a request.
func (r *Reader) entry() (entry, []byte, error) {
	for r.err == nil {
		line, f, err := r.inputs.next()
		if err != nil {
			r.err = err
			r.stats.Trailing = r.inputs.trailing
			break
		}
		r.stats.Lines++
		line = bytes.TrimPrefix(line, []byte("\ufeff")) // of any line: files that were joined, each with its own
		var e entry
		if f == whole {
			e, f, err = r.read(line)
		}
		switch {
		case err != nil:
			r.complain(r.inputs.line(), unwanted, line)
			r.err = err
		case f == nothing:
			r.stats.Skipped++
		case f != whole:
			r.complain(r.inputs.line(), f, line)
		default:
			return e, line, nil
		}
	}
	return entry{}, nil, r.err
}

// Stats is what has been read so far. Its Samples are not to be changed. While the first records are held, and those of a
// second that is spread, Read and Unreadable lag behind Lines.
func (r *Reader) Stats() Stats { return r.stats }

// Consumed is the bytes taken from the inputs so far, compressed if they are; never less than what Next has told, and
// ahead of it by the buffers, about a mebibyte.
func (r *Reader) Consumed() int64 { return r.inputs.consumed() }

func (r *Reader) read(line []byte) (entry, fault, error) {
	if len(bytes.Trim(line, " \t\r")) == 0 {
		return entry{}, nothing, nil
	}
	if bytes.IndexByte(line, 0) >= 0 { // a crash leaves runs of them where a block was never written
		return entry{}, hasNUL, nil
	}
	if r.format == nil {
		name, f := r.sniff(line)
		if name == "" {
			return entry{}, f, nil
		}
		if err := r.settle(name); err != nil {
			return entry{}, whole, err
		}
	}
	return r.format.parse(line)
}

// sniff names the format of line; if it is of none, the name is empty and the fault says so.
func (r *Reader) sniff(line []byte) (string, fault) {
	for _, s := range r.sniffers {
		switch _, f, err := s.parse(line); {
		case err != nil || f == whole || f == nothing || f == noKey:
			return s.name, whole
		case f == noTimeColumn:
			return "", f
		}
	}
	return "", unknownFormat
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

func (r *Reader) complain(line uint64, f fault, text []byte) {
	r.stats.Unreadable++
	if len(r.stats.Samples) < maxSamples {
		r.stats.Samples = append(r.stats.Samples, Complaint{r.inputs.name(), line, string(f), excerpt(text)})
	}
}
