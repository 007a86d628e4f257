package accesslog

import (
	"bytes"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
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
	key     []byte
}

// columns says where things are, counted from 0.
type columns struct {
	time, key, cost int // cost: -1 if every request costs 1
	least, most     int // how many a line has
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
	if t.known {
		e, f := t.columns.entry(cells, t.key[:0])
		t.key = e.key
		return e, f, nil
	}
	return t.begin(line, cells)
}

// begin reads the first line that is a header or a request. Whatever comes before is unreadable, and does not keep
// what follows from being the first.
func (t *table) begin(line []byte, cells []string) (entry, fault, error) {
	if isHeader(cells) {
		c, err := t.named(cells)
		if err != nil {
			return entry{}, whole, err
		}
		t.columns, t.known, t.header = c, true, bytes.Clone(line)
		return entry{}, nothing, nil
	}
	if _, f := unnamed.entry(cells, nil); f != whole {
		return entry{}, f, nil
	}
	c, err := t.unnamed()
	if err != nil {
		return entry{}, whole, err
	}
	t.columns, t.known = c, true
	e, f := c.entry(cells, nil)
	t.key = e.key
	return e, f, nil
}

// unnamed is what a CSV without a header has: time, key and perhaps cost.
var unnamed = columns{time: 0, key: 1, cost: 2, least: 2, most: 3}

func (t *table) unnamed() (columns, error) {
	c := unnamed
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

func isHeader(cells []string) bool { return len(cells) >= 2 && find(cells, timeColumn) >= 0 }

func (t *table) named(header []string) (columns, error) {
	c := columns{time: find(header, timeColumn), cost: -1, least: len(header), most: len(header)}
	key := t.options.Key
	if key == "" {
		key = keyColumn
	}
	if c.key = find(header, key); c.key < 0 {
		return c, &OptionError{"key", key, "a column of the log: " + show(header)}
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

// entry reads one record; its key is appended to key.
func (c columns) entry(cells []string, key []byte) (entry, fault) {
	e := entry{key: key, cost: 1}
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
	e.key = append(key, cells[c.key]...)
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
