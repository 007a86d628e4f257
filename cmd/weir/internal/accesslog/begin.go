package accesslog

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// held is an entry that outlives its line.
type held struct {
	entry
	line uint64
	text []byte // the beginning of it
}

// mostHeld is how many records are looked at before it is decided which is the first.
const mostHeld = 64

// begin finds the first record that a log can be counted from. A clock that was not set yet when a server started, or a
// damaged line, puts a first line decades from all others, and they would be too far from it to be counted. So lines at
// the very beginning are left out that are more than a year from where, in time, three quarters of the first 64 stand, no
// two neighbours of them more than a year apart.
func (r *Reader) begin() {
	r.begun = true
	most := mostHeld
	if r.options.Live {
		most = 1
	}
	for len(r.held) < most {
		e, line, err := r.entry()
		if err != nil {
			break // it comes again after those that are held
		}
		e.key = bytes.Clone(e.key)
		r.held = append(r.held, held{e, r.inputs.line(), bytes.Clone(line[:min(len(line), 2*maxExcerpt)])})
	}
	if low, high, ok := bulk(r.held); ok {
		for outside(r.held[0].at, low, high) {
			r.complain(r.held[0].line, stray, r.held[0].text)
			r.held = r.held[1:]
		}
	}
	if len(r.held) > 0 {
		r.first = r.held[0].at
	}
}

const yearOfSeconds = int64(365 * 24 * time.Hour / time.Second)

// bulk is the earliest and the latest, in seconds, of those neighbours in time that hold the middle one; ok says whether they are
// three quarters of at least three.
func bulk(all []held) (low, high int64, ok bool) {
	seconds := make([]int64, len(all))
	for i, h := range all {
		seconds[i] = h.at.sec
	}
	if len(seconds) < 3 {
		return 0, 0, false
	}
	slices.SortFunc(seconds, cmp.Compare)
	from := len(seconds) / 2
	to := from
	for from > 0 && seconds[from]-seconds[from-1] <= yearOfSeconds {
		from--
	}
	for to+1 < len(seconds) && seconds[to+1]-seconds[to] <= yearOfSeconds {
		to++
	}
	return seconds[from], seconds[to], 4*(to-from+1) >= 3*len(seconds)
}

func outside(at instant, low, high int64) bool { return at.sec < low || at.sec > high }
