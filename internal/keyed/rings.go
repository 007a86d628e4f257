package keyed

import "slices"

// Ring names a ring of 2^Class entries in a Rings. The zero Ring is none.
type Ring struct{ Class, index uint32 }

// Rings is memory for rings whose lengths are powers of two, for the states of one shard. Rings of one length stand close
// together: the last one moves into the place of one that is given back, and memory that holds none any more is dropped.
// The collector follows a pointer to each KB and to each longer ring, not one to each key. The zero Rings is empty.
type Rings[E any] struct{ pools []pool[E] }

// pool is the rings of one class, in the order of their indices.
type pool[E any] struct {
	rings  uint32 // how many there are
	shift  uint32 // a chunk holds 2^shift of them
	mask   uint32 // 2^shift - 1
	chunks []chunk[E]
}

type chunk[E any] struct {
	entries []E
	owners  []uint64
}

// chunkClass is the class of the rings that have a chunk each, as longer ones have: of 1 KB, where an entry is 16 bytes.
const chunkClass = 6

// At is the entries of a ring, good until a ring of its class is given back.
func (r *Rings[E]) At(ring Ring) []E {
	p, class := &r.pools[ring.Class], ring.Class&63
	from := uint64(ring.index&p.mask) << class
	return p.chunks[ring.index>>(p.shift&31)].entries[from:][:1<<class]
}

// Owner is whose ring it is: what Put hands on when the ring has to move.
func (r *Rings[E]) Owner(ring Ring) *uint64 {
	p := &r.pools[ring.Class]
	return &p.chunks[ring.index>>p.shift].owners[ring.index&p.mask]
}

// Get makes a ring of a class from 1 on for an owner. What is in it is of no meaning.
func (r *Rings[E]) Get(class uint32, owner uint64) Ring {
	for uint32(len(r.pools)) <= class {
		c := min(uint32(len(r.pools)), chunkClass)
		r.pools = append(r.pools, pool[E]{shift: chunkClass - c, mask: 1<<(chunkClass-c) - 1})
	}
	p := &r.pools[class]
	ring := Ring{class, p.rings}
	if ring.index>>p.shift == uint32(len(p.chunks)) {
		p.chunks = append(p.chunks, chunk[E]{make([]E, 1<<max(class, chunkClass)), make([]uint64, p.mask+1)})
	}
	p.rings++
	*r.Owner(ring) = owner
	return ring
}

// Put gives a ring back. kept is where an owner keeps its ring: the last ring of the class moves, and its owner's changes.
func (r *Rings[E]) Put(ring Ring, kept func(owner uint64) *Ring) {
	p := &r.pools[ring.Class]
	p.rings--
	if last := (Ring{ring.Class, p.rings}); ring != last {
		owner := *r.Owner(last)
		if p.shift == 0 {
			p.chunks[ring.index] = p.chunks[last.index]
		} else {
			copy(r.At(ring), r.At(last))
			*r.Owner(ring) = owner
		}
		kept(owner).index = ring.index
	}
	if p.rings&p.mask == 0 {
		p.chunks[len(p.chunks)-1] = chunk[E]{}
		p.chunks = p.chunks[:len(p.chunks)-1]
	}
	if 4*len(p.chunks) < cap(p.chunks) {
		p.chunks = slices.Clone(p.chunks)
	}
}
