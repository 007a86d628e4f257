package keyed

import "weir/policy"

// ahead is how many keys of a batch are on their way from memory while one is decided. A power of two.
const ahead = 16

// sight is where a key will be looked for.
type sight struct {
	h          uint64
	array      *array
	line, next *line
}

// TakeBatch is policy.Batcher's. It is Take with the lines of the keys that follow on their way from memory; a line that its
// array has lost meanwhile admits nothing any more.
func (t *Words) TakeBatch(now uint64, keys, costs []uint64, out []policy.Decision) int {
	n := min(len(keys), len(costs), len(out))
	keys, costs, out = keys[:n], costs[:n], out[:n]
	var sights [ahead]sight
	for i, key := range keys[:min(n, ahead)] {
		sights[i] = t.sight(key)
	}
	for i, key := range keys {
		s := &sights[i%ahead]
		out[i] = t.takeSeen(s, now, key, costs[i])
		if i+ahead < n {
			*s = t.sight(keys[i+ahead])
		}
	}
	return n
}

// Fetch is policy.Fetcher's.
func (t *Words) Fetch(key uint64) { t.sight(key) }

// sight asks for the line where the search for a key begins, and the next.
func (t *Words) sight(key uint64) sight {
	h := t.place.hash(key)
	a := t.arrays[shardOf(h)].Load()
	s := sight{h, a, a.line(h), a.next(h)}
	prefetch(s.line)
	prefetch(s.next)
	return s
}

// takeSeen is Take where it is known where to look.
func (t *Words) takeSeen(s *sight, now, key, cost uint64) policy.Decision {
	scale := s.array.scale
	demand, ok := scale.Demand(now, cost)
	if !ok {
		return t.takeSlowly(s.h, now, key, cost)
	}
	slot := &s.line[s.line.look(key)]
	word := slot.word.Load()
	if slot.key.Load() != key || word < taken {
		slot = &s.next[s.next.look(key)]
		word = slot.word.Load()
		if slot.key.Load() != key || word < taken {
			return t.takeSlowly(s.h, now, key, cost)
		}
	}
	idle := demand.Now | taken
	next := max(word, idle)
	debt := next - idle
	if demand.Conforms(debt) {
		if slot.word.CompareAndSwap(word, next+demand.Price) {
			return demand.Allowed(scale, debt)
		}
	} else if slot.stands(word) {
		return demand.Denied(scale, debt)
	}
	return t.takeSlowly(s.h, now, key, cost)
}
