package accesslog

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// Stats is what a Reader has seen so far. Lines is the sum of Read, Unreadable and Skipped.
type Stats struct {
	// Format is common, combined, csv, json or the format string; empty until known.
	Format string
	// Lines is all lines, each counted once whatever its length.
	Lines uint64
	// Read is the lines that were requests.
	Read uint64
	// Unreadable is the lines that should have been requests.
	Unreadable uint64
	// Skipped is the lines that never meant to be: blank ones, and the header of a CSV each time it comes.
	Skipped uint64
	// Samples is the first few unreadable lines.
	Samples []Complaint
	// StepsBack is the records earlier than the record before them.
	StepsBack uint64
	// LargestStepBack is the most by which one was.
	LargestStepBack time.Duration
	// Trailing is the files with something after the end of their gzip stream, which is not read.
	Trailing uint64
}

// maxSamples is enough to see what is wrong with a log of which every line is.
const maxSamples = 3

// Complaint is one line that could not be read. It is safe to print.
type Complaint struct {
	// File is the one that the line is in; empty if there is but one.
	File string
	// Line counts from 1, in each file.
	Line uint64
	// Reason is a few words.
	Reason string
	// Text is how the line begins, quoted, all that is not printable escaped.
	Text string
}

// String is one line.
func (c Complaint) String() string {
	return fmt.Sprintf("%sline %d: %s: %s", inFile(c.File), c.Line, c.Reason, c.Text)
}

// inFile names a file before a line of it.
func inFile(name string) string {
	if name == "" {
		return ""
	}
	return strconv.Quote(name) + " "
}

// maxExcerpt leaves room, on a terminal, for the reason.
const maxExcerpt = 60

// excerpt is the beginning of line, safe to print.
func excerpt(line []byte) string {
	if len(line) <= maxExcerpt {
		return strconv.Quote(string(line))
	}
	end := maxExcerpt
	for end > maxExcerpt-utf8.UTFMax && !utf8.RuneStart(line[end]) { // not through the middle of a letter
		end--
	}
	return strconv.Quote(string(line[:end])) + "..."
}

// fault says what became of a line: whole, nothing, or why it is unreadable.
type fault string

const (
	whole   fault = ""
	nothing fault = "no request"

	unwanted      fault = "not what the options ask for"
	unknownFormat fault = "neither common, combined, csv nor json"
	tooLong       fault = "longer than 1 MiB"
	cutOff        fault = "the input breaks off"
	hasNUL        fault = "a NUL byte"
	farAway       fault = "more than 140 years from the first record"
	badTime       fault = "no time"
	noTimeColumn  fault = "a header without a column called time; name another with --time"
	stray         fault = "more than a year from the lines after it"

	noClient   fault = "no client, ident and user"
	extraField fault = "a field too many before the time"
	noRequest  fault = "no quoted request"
	badStatus  fault = "no status"
	badSize    fault = "no size"
	noReferrer fault = "no quoted referrer"
	noAgent    fault = "no quoted agent"

	badLayout fault = "not as the format string has it"
	badObject fault = "no JSON object"
	noKey     fault = "no field that the key asks for"

	badQuotes fault = "quotes that do not match"
	fewCells  fault = "too few columns"
	manyCells fault = "too many columns"
	badCost   fault = "a cost that is not a whole number below 2^64"
)
