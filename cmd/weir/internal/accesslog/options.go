package accesslog

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the formats.
const (
	auto      = "auto"
	common    = "common"
	combined  = "combined"
	csvFormat = "csv"
)

// The names that a CSV gives its columns, and the default of each.
const (
	timeColumn = "time"
	keyColumn  = "key"
	costColumn = "cost"
)

// What a request of a log may cost.
const (
	costOne   = "1"
	costBytes = "bytes"
)

// Options say how to read a log. The zero value tells the format by the first line that is readable in any, and takes
// the first field, or the column key, as the key.
type Options struct {
	// Format is common, combined, csv, or, the default, auto.
	Format string
	// Key names what the requests are limited by. In a log it is client (the default), ident, user, method, path, proto,
	// status or, in a combined one, referrer or agent. In a CSV it is the name of a column; the default is key.
	Key string
	// Cost is 1 or, in a log, bytes: the size of the response; the default is 1. In a CSV it is 1 or the name of a
	// column; the default is the column cost, or 1 where there is none, so that 1 and empty differ.
	Cost string
}

// OptionError says which option asks for what there is not.
type OptionError struct {
	// Field is format, key or cost.
	Field string
	// Value is what it was.
	Value string
	// Accepted says what it may be.
	Accepted string
}

// Error is one line: field, value and what is accepted.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%s is %q, must be %s", e.Field, e.Value, e.Accepted)
}

func (o Options) check() error {
	formats := []string{auto, common, combined, csvFormat}
	if o.Format != "" && !slices.Contains(formats, o.Format) {
		return &OptionError{"format", o.Format, oneOf(formats)}
	}
	return nil
}

func newFormat(name string, o Options) (format, error) {
	if name == csvFormat {
		return newTable(o), nil
	}
	return newWeblog(name, o)
}

// oneOf lists names as a person would.
func oneOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
