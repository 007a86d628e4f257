package accesslog

import "strings"

// key is what a log is limited by: fields joined by +, each of which may be several with | between, of which the first
// counts that a line has.
type key struct {
	terms [][]int // the fields of each, by number
	field func(int) []byte
	whole []byte
	lacks bool // the line at hand has none of the fields of a term: field was nil for the last
}

// joint stands between the parts of a key. No line with a NUL byte is read, so two keys that differ in a part differ.
const joint = 0

// newKey compiles text. find is the number of a field, -1 if there is none of that name; field is what stands in one in
// the line at hand. ok is false if a name is no field's. A field whose name has + or | in it can be had alone.
func newKey(text string, find func(name string) int, field func(int) []byte) (k *key, ok bool) {
	k = &key{field: field}
	if i := find(text); i >= 0 {
		k.terms = [][]int{{i}}
		return k, true
	}
	for _, term := range strings.Split(text, "+") {
		var fields []int
		for _, name := range strings.Split(term, "|") {
			i := find(strings.TrimSpace(name))
			if i < 0 {
				return nil, false
			}
			fields = append(fields, i)
		}
		k.terms = append(k.terms, fields)
	}
	return k, true
}

// of is the key of the line at hand, good until the next.
func (k *key) of() []byte {
	k.lacks = false
	if len(k.terms) == 1 {
		return k.first(k.terms[0])
	}
	k.whole = k.whole[:0]
	for i, term := range k.terms {
		if i > 0 {
			k.whole = append(k.whole, joint)
		}
		k.whole = append(k.whole, k.first(term)...)
	}
	return k.whole
}

// first is the first field of a term that holds something; the last if none does.
func (k *key) first(term []int) []byte {
	for _, i := range term[:len(term)-1] {
		if text := k.field(i); len(text) > 0 && !isDash(text) {
			return text
		}
	}
	text := k.field(term[len(term)-1])
	k.lacks = k.lacks || text == nil
	return text
}

// ShowKey is a key as a person reads it: with " + " between its parts.
func ShowKey(k string) string { return strings.ReplaceAll(k, string(rune(joint)), " + ") }
