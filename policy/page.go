package policy

import "strings"

// Page is the package comment of a Go source file that has it as its first block comment: the page that describes a
// policy. It is empty if there is none.
func Page(source string) string {
	_, rest, _ := strings.Cut(source, "/*\n")
	page, _, found := strings.Cut(rest, "\n*/")
	if !found {
		return ""
	}
	return page + "\n"
}
