package main

import (
	"errors"
	"fmt"

	"weir/config"
)

// check checks files of limits, a line for each fault.
func check(a app, args []string) (int, error) {
	f := flags("check")
	if err := f.Parse(args); err != nil || f.NArg() == 0 {
		return usage, parse(a, f, args, "FILE...")
	}
	status := good
	for _, name := range f.Args() {
		file, err := config.ParseFile(name)
		var faults config.Faults
		switch {
		case errors.As(err, &faults):
			status = wrong
			for _, fault := range faults {
				fmt.Fprintln(a.out, fault)
			}
		case err != nil:
			return usage, err
		default:
			fmt.Fprintf(a.out, "%s: %s\n", name, counts(file))
		}
	}
	return status, nil
}

// counts says how much is in a file that is as it should be.
func counts(f *config.File) string {
	plans := 0
	for _, l := range f.Limits {
		plans += len(l.Plans)
	}
	return fmt.Sprintf("is as it should be, limits %d, plans %d", len(f.Limits), plans)
}
