package keyed

import (
	"math/bits"
	"math/rand/v2"
)

const (
	shardBits  = 6
	shardCount = 1 << shardBits
	firstSlots = 8
	golden     = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: odd, with no pattern in its bits
)

// placement is the two words that decide where keys stand, the second of them odd.
type placement struct{ add, multiply uint64 }

// newPlacement spreads a seed over both; 0 draws both in secret.
func newPlacement(seed uint64) placement {
	if seed == 0 {
		return placement{rand.Uint64(), rand.Uint64() | 1}
	}
	source := rand.NewPCG(seed, seed)
	return placement{source.Uint64(), source.Uint64() | 1}
}

// hash folds the two halves of a 128-bit product, twice, so that every bit of the key reaches every bit of the hash in a way
// that only the seed tells. Once is not enough: keys that differ in a few neighbouring bits crowd under some seeds.
func (p placement) hash(key uint64) uint64 {
	hi, lo := bits.Mul64(key^p.add, p.multiply)
	hi, lo = bits.Mul64(hi^lo^p.multiply, golden)
	return hi ^ lo
}

// shardOf is the shard of a key with hash h: its highest bits.
func shardOf(h uint64) uint64 { return h >> (64 - shardBits) }

// foreign is a key that does not stand in the shard: of a few, one does not.
func (p placement) foreign(shard uint64) uint64 {
	key := uint64(0)
	for shardOf(p.hash(key)) == shard {
		key++
	}
	return key
}

// home is the slot where the search for a key with hash h begins, of so many: the bits below the shard's, as a fraction of
// the whole. So keys stand nearly in the order of their hashes whatever the size is, and a shard that moves to another size
// is read and written from one end to the other.
func home(h, slots uint64) uint64 {
	hi, _ := bits.Mul64(h<<shardBits, slots)
	return hi
}

// distance is how many slots a search goes from one slot to another.
func distance(from, to, slots uint64) uint64 {
	if to >= from {
		return to - from
	}
	return to + slots - from
}

// fits says whether a table of so many slots may have so many that are not empty: five of six. The sixth keeps the search
// for a key short and ends the search for one that is not there.
func fits(filled, slots uint64) bool { return 6*filled <= 5*slots }

// grown is the size that follows slots. It grows by a quarter, because a table is then nine tenths as full as it may be,
// taking one moment with another; and every shard by its own steps, so that never many of them are moving, or nearly
// empty, at once.
func grown(shard, slots uint64) uint64 {
	const small = 32
	switch {
	case slots < small:
		return max(firstSlots, 2*slots)
	case slots == small:
		return small + small/4 + shard/2
	}
	return slots + slots/4
}
