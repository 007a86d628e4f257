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
	jsonLines = "json"
)

// clientField is what a log is limited by unless said.
const clientField = "client"

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
	// Format is common, combined, csv, json or, the default, auto; or a format string of nginx or Apache, which holds a
	// $ or a %.
	Format string
	// Time names the column of a CSV or the field of a JSON line that says when a request came. The default is time, and in
	// JSON the first that a line has of those that servers are known to write.
	Time string
	// Key names what the requests are limited by. In a log it is client (the default), ident, user, method, path, route
	// (the path without its query), proto, status or, in a combined one, referrer or agent. In a CSV it is the name of a
	// column; the default is key. In JSON and under a format string it is one of those names or a field's own. Several
	// with + between are a key together; of several with | between the first counts that a line has: user|client+route.
	Key string
	// Cost is 1 or, in a log, bytes: the size of the response; the default is 1. In a CSV it is 1 or the name of a
	// column; the default is the column cost, or 1 where there is none, so that 1 and empty differ. In JSON and under a
	// format string it is 1, bytes or a field's name.
	Cost string
	// Spread sets requests that lines next to each other stamp with the same whole second evenly into that second, in their
	// order: of n the first at its beginning, the next 1/n later. Without it all come at once, which no server has seen.
	// No more than 65536 are held; what comes after them in the same second is set at its last nanosecond.
	Spread bool
	// Live gives each request as soon as it is read, for a log that is being written. The first line is then believed,
	// whatever it says: without Live some lines are held to see where in time the log begins.
	Live bool
}

// OptionError says which option asks for what there is not.
type OptionError struct {
	// Field is format, time, key or cost.
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
	formats := []string{auto, common, combined, csvFormat, jsonLines}
	if o.Format != "" && !slices.Contains(formats, o.Format) && !isLayout(o.Format) {
		return &OptionError{"format", o.Format, strings.Join(formats, ", ") + " or a format string of nginx or Apache"}
	}
	return nil
}

func newFormat(name string, o Options) (format, error) {
	switch {
	case name == csvFormat:
		return newTable(o), nil
	case name == jsonLines:
		return newObjects(o)
	case isLayout(name):
		return newLayout(name, o)
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
