package main

import (
	"fmt"
	"strings"

	"weir"
)

// list shows the policies, each with the first sentence of its page.
func list(a app, args []string) (int, error) {
	if err := parse(a, flags("list"), args); err != nil {
		return usage, err
	}
	for _, name := range weir.Names() {
		page, err := weir.Describe(name)
		if err != nil {
			return wrong, err
		}
		fmt.Fprintf(a.out, "%-12s %s\n", name, firstSentence(name, page))
	}
	return good, nil
}

// firstSentence is what a page says after "Package NAME is".
func firstSentence(name, page string) string {
	first, _, _ := strings.Cut(page, "\n\n")
	first = strings.Join(strings.Fields(first), " ")
	return strings.TrimPrefix(first, "Package "+name+" is ")
}

// describe prints a policy's page.
func describe(a app, args []string) (int, error) {
	f := flags("describe")
	if err := parse(a, f, args, "NAME"); err != nil {
		return usage, err
	}
	page, err := weir.Describe(f.Arg(0))
	if err != nil {
		return usage, err
	}
	_, err = fmt.Fprint(a.out, page)
	return good, err
}
