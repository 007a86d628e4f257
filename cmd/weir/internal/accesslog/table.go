package accesslog

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// table reads a CSV of time, key and cost.
//
// encoding/csv gets one line at a time. Left to itself it recovers from a bare quote, but a quote that opens a cell
// and is never closed, one damaged line, swallows the rest of the log, and holds it in memory. The price is that no
// cell spans lines, which no time, key or cost needs to.
type table struct {
	options Options
	line    feed
	cells   *csv.Reader
	header  []byte // the line that named the columns; nil if none has
	columns columns
	known   bool // columns stands: a header or a record has been seen
	record  []string
	cell    []byte
}

// columns says where things are, counted from 0.
type columns struct {
	time, cost  int // cost: -1 if every request costs 1
	key         *key
	least, most int // how many a line has
}

func newTable(o Options) *table {
	t := &table{options: o}
	t.cells = csv.NewReader(&t.line)
	t.cells.FieldsPerRecord = -1 // we count
	t.cells.TrimLeadingSpace = true
	t.cells.ReuseRecord = true
	return t
}

func (t *table) parse(line []byte) (entry, fault, error) {
	if t.header != nil && bytes.Equal(line, t.header) { // files that were joined, each with its own
		return entry{}, nothing, nil
	}
	t.line.text = line
	cells, err := t.cells.Read()
	if err != nil {
		return entry{}, badQuotes, nil
	}
	t.record = cells
	if t.known {
		e, f := t.columns.entry(cells)
		return e, f, nil
	}
	return t.begin(line, cells)
}

// begin reads the first line that is a header or a request. Whatever comes before is unreadable, and does not keep
// what follows from being the first.
func (t *table) begin(line []byte, cells []string) (entry, fault, error) {
	if t.isHeader(cells) {
		c, err := t.named(cells)
		if err != nil {
			return entry{}, whole, err
		}
		t.columns, t.known, t.header = c, true, bytes.Clone(line)
		return entry{}, nothing, nil
	}
	c, err := t.unnamed()
	e, f := c.entry(cells)
	switch named := f == badTime && looksNamed(cells); {
	case named && t.options.Time != "":
		return entry{}, whole, &OptionError{"time", t.options.Time, "a column of the log: " + show(cells)}
	case named:
		return entry{}, noTimeColumn, nil
	case f != whole:
		return entry{}, f, nil
	case err != nil:
		return entry{}, whole, err
	}
	t.columns, t.known = c, true
	return e, whole, nil
}

// looksNamed says whether a line that is no request may be the names of columns: at least two cells, each a letter and
// then letters, digits and what joins words.
func looksNamed(cells []string) bool {
	for _, c := range cells {
		c = strings.TrimSpace(c)
		if c == "" || !unicode.IsLetter(rune(c[0])) || strings.ContainsFunc(c, isForeign) {
			return false
		}
	}
	return len(cells) >= 2
}

func isForeign(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. ", r)
}

// at is what stands in a column of the line at hand.
func (t *table) at(i int) []byte {
	t.cell = append(t.cell[:0], t.record[i]...)
	return t.cell
}

// unnamed is what a CSV without a header has: time, key and perhaps cost.
func (t *table) unnamed() (columns, error) {
	k, _ := newKey(keyColumn, func(string) int { return 1 }, t.at)
	c := columns{time: 0, key: k, cost: 2, least: 2, most: 3}
	if t.options.Time != "" {
		return c, &OptionError{"time", t.options.Time, "left out (the log names no columns)"}
	}
	if t.options.Key != "" && t.options.Key != keyColumn {
		return c, &OptionError{"key", t.options.Key, keyColumn + " (the log names no columns)"}
	}
	switch t.options.Cost {
	case "", costColumn:
	case costOne:
		c.cost = -1
	default:
		return c, &OptionError{"cost", t.options.Cost, "1 or cost (the log names no columns)"}
	}
	return c, nil
}

func (t *table) isHeader(cells []string) bool {
	return len(cells) >= 2 && find(cells, cmp.Or(t.options.Time, timeColumn)) >= 0
}

func (t *table) named(header []string) (columns, error) {
	names := slices.Clone(header) // the reader fills the same slice again
	c := columns{time: find(header, cmp.Or(t.options.Time, timeColumn)), cost: -1, least: len(header), most: len(header)}
	named, ok := cmp.Or(t.options.Key, keyColumn), false
	if c.key, ok = newKey(named, func(name string) int { return find(names, name) }, t.at); !ok {
		return c, &OptionError{"key", named, "a column of the log: " + show(header)}
	}
	switch cost := t.options.Cost; cost {
	case costOne:
	case "":
		c.cost = find(header, costColumn)
	default:
		if c.cost = find(header, cost); c.cost < 0 {
			return c, &OptionError{"cost", cost, costOne + " or a column of the log: " + show(header)}
		}
	}
	return c, nil
}

func find(header []string, name string) int {
	return slices.IndexFunc(header, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), name) })
}

// show lists the names of a header, safe to print.
func show(header []string) string {
	const enough = 10
	var names []string
	for _, h := range header[:min(len(header), enough)] {
		s := strconv.Quote(strings.TrimSpace(h))
		if len(s) > maxExcerpt {
			s = excerpt([]byte(h))
		}
		names = append(names, s)
	}
	if len(header) > enough {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

// entry reads one record, which must be the one that the key is taken from.
func (c columns) entry(cells []string) (entry, fault) {
	e := entry{cost: 1}
	switch {
	case len(cells) < c.least:
		return e, fewCells
	case len(cells) > c.most:
		return e, manyCells
	}
	var ok bool
	if e.at, ok = parseTime(strings.TrimSpace(cells[c.time])); !ok {
		return e, badTime
	}
	if c.cost >= 0 && c.cost < len(cells) {
		if e.cost, ok = parseWhole(strings.TrimSpace(cells[c.cost])); !ok {
			return e, badCost
		}
	}
	e.key = c.key.of()
	return e, whole
}

// feed is a reader that ends after each line and begins again with the next.
type feed struct{ text []byte }

func (f *feed) Read(p []byte) (int, error) {
	if len(f.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}
