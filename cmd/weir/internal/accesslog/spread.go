package accesslog

import (
	"bytes"
	"time"
)

// mostSpread is how many requests of one second are held to be spread.
const mostSpread = 1 << 16

// spread sets the requests of one whole second into it.
type spread struct {
	group []Record // of one second, with keys of their own
	given int      // of the group
	ahead Record   // the first of the next, if have
	have  bool
	full  bool // the group holds as many as may be, and its second, cut, goes on
	late  bool // the group is what goes on of a second
	cut   time.Duration
	err   error
}

// next is the next request of r, spread.
func (s *spread) next(r *Reader) (Record, error) {
	if s.given == len(s.group) {
		s.fill(r)
	}
	if s.given == len(s.group) {
		return Record{}, s.err
	}
	record := s.group[s.given]
	switch n := len(s.group); {
	case s.late:
		record.At += time.Second - 1
	case n > 1:
		record.At += time.Duration(int64(s.given) * int64(time.Second) / int64(n)) // below 2^16 * 2^30
	}
	s.given++
	return record, nil
}

// fill reads the next group: one record, and those after it of the same second if that is a whole one.
func (s *spread) fill(r *Reader) {
	for i := range s.group {
		s.group[i].Key = nil
	}
	s.group, s.given = s.group[:0], 0
	if !s.have && !s.read(r) {
		return
	}
	first := s.ahead
	whole := r.first.nano == 0 && first.At%time.Second == 0
	s.late, s.full = s.full && whole && first.At == s.cut, false
	s.group, s.have = append(s.group, first), false
	for whole && s.read(r) && s.ahead.At == first.At {
		if len(s.group) == mostSpread {
			s.full, s.cut = true, first.At
			return
		}
		s.group, s.have = append(s.group, s.ahead), false
	}
}

// read reads one record ahead.
func (s *spread) read(r *Reader) bool {
	record, err := r.relative()
	if err != nil {
		s.err, s.have = err, false
		return false
	}
	record.Key = bytes.Clone(record.Key)
	s.ahead, s.have = record, true
	return true
}
