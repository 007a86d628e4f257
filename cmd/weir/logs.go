package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"weir/cmd/weir/internal/accesslog"
)

// logs are the files that a command reads, one after the other, and how.
type logs struct {
	paths   []string
	options accesslog.Options
	kept    *os.File // what came from standard input, if it has to be read more than once
}

// logWords is what a command that reads logs takes besides its flags.
const logWords = "[FILE" + more

// flags adds the flags that say what to read.
func (l *logs) flags(f *flag.FlagSet) {
	f.Func("log", "required: the log: a `file`, gzip or zstd or neither, or - for standard input; may come again, and further words are "+
		"files too: all are read in order as one", func(path string) error {
		l.paths = append(l.paths, path)
		return nil
	})
	o := &l.options
	f.StringVar(&o.Format, "format", "auto", "the `format`: common, combined, csv, json, auto, or a format string of nginx or Apache: '$remote_addr [$time_local] ...'")
	f.StringVar(&o.Key, "key", "", "the `fields` that are limited: client, user, method, path, route ..., a CSV's column or a JSON line's field; "+
		"a+b takes both together, a|b the first that a line has")
	f.StringVar(&o.Cost, "cost", "", "the `cost` of a request: 1, bytes, a CSV's column or a JSON line's field")
	f.StringVar(&o.Time, "time", "", "the `name` of the column of a CSV or the field of a JSON line that holds the time")
	f.BoolVar(&o.Spread, "spread", false, "set the requests of one whole second evenly into it, where the log tells no fractions")
}

// add takes the words after the flags as further files.
func (l *logs) add(words []string) error {
	if len(l.paths) == 0 {
		return fmt.Errorf("log is missing: say --log FILE, or --log - for standard input")
	}
	l.paths = append(l.paths, words...)
	dashes := 0
	for _, path := range l.paths {
		if path == "-" {
			dashes++
		}
	}
	if dashes > 1 {
		return fmt.Errorf("log is - %d times, must be at most once", dashes)
	}
	return nil
}

// inputs opens nothing yet, but a file that is not there is an error now. size is that of all, 0 where it is not known.
func (l *logs) inputs(a app) (all []accesslog.Input, size int64, err error) {
	known := true
	for _, path := range l.paths {
		open := func() (io.ReadCloser, error) { return os.Open(path) }
		if path == "-" {
			open = func() (io.ReadCloser, error) { return l.standard(a) }
			known = false
		} else {
			info, err := os.Stat(path)
			if err == nil && info.IsDir() {
				err = fmt.Errorf("%s is a folder, must be a file", path)
			}
			if err != nil {
				return nil, 0, fmt.Errorf("log: %w", err)
			}
			size += info.Size()
		}
		all = append(all, accesslog.Input{Name: path, Open: open})
	}
	if !known {
		size = 0
	}
	return all, size, nil
}

func (l *logs) standard(a app) (io.ReadCloser, error) {
	if l.kept == nil {
		return io.NopCloser(a.in), nil
	}
	_, err := l.kept.Seek(0, io.SeekStart)
	return io.NopCloser(l.kept), err
}

// keep makes what is read from standard input readable again, by way of a temporary file. done takes it away.
func (l *logs) keep(a app) (done func(), err error) {
	for _, path := range l.paths {
		if path != "-" {
			continue
		}
		if l.kept, err = os.CreateTemp("", "weir"); err != nil {
			return nil, fmt.Errorf("log: %w", err)
		}
		done = func() {
			l.kept.Close()
			os.Remove(l.kept.Name())
		}
		if _, err = io.Copy(l.kept, a.in); err != nil {
			done()
			return nil, fmt.Errorf("log: %w", err)
		}
		return done, nil
	}
	return func() {}, nil
}

// read hands every request to each, and shows how far it is. The error is nil at the end of the log; any other leaves what was
// read until then.
func (l *logs) read(a app, command string, each func(accesslog.Record)) (accesslog.Stats, error) {
	files, size, err := l.inputs(a)
	if err != nil {
		return accesslog.Stats{}, err
	}
	r, err := accesslog.NewFiles(files, l.options)
	if err != nil {
		return accesslog.Stats{}, err
	}
	defer r.Close()
	show := newProgress(a.err, command, size)
	defer show.end()
	for n := 1; ; n++ {
		record, err := r.Next()
		if err == nil && n%4096 == 0 && a.ctx.Err() != nil {
			err = fmt.Errorf("log: stopped after %d lines", r.Stats().Lines)
		}
		if err == io.EOF {
			return r.Stats(), nil
		}
		if err != nil {
			return r.Stats(), err
		}
		each(record)
		if show.due() {
			show.line(r.Stats().Lines, r.Consumed())
		}
	}
}

// noRequests is the error of a log in which nothing could be read.
func noRequests(stats accesslog.Stats) error {
	if len(stats.Samples) > 0 {
		return fmt.Errorf("log: none of %d lines is a request; %s", stats.Lines, stats.Samples[0])
	}
	return fmt.Errorf("log: has no requests")
}
