package config

import "fmt"

// Fault is one thing that is wrong with a file.
type Fault struct {
	// File is the name that the file was read under.
	File string
	// Line is where, counted from 1.
	Line int
	// Text says what, on one line.
	Text string
}

// Error is FILE:LINE: and what is wrong.
func (f Fault) Error() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text) }

// Faults are all that is wrong with a file, by line, at least one.
type Faults []Fault

// Error is the first fault, and how many more there are.
func (f Faults) Error() string {
	switch len(f) {
	case 0:
		return "no fault"
	case 1:
		return f[0].Error()
	}
	return fmt.Sprintf("%s (and %d more faults)", f[0].Error(), len(f)-1)
}

// Unwrap is each fault.
func (f Faults) Unwrap() []error {
	all := make([]error, len(f))
	for i := range f {
		all[i] = f[i]
	}
	return all
}
