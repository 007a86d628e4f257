package keyed

// Place is where a table with that seed has a key: the shard in the highest bits, the slot in the lowest.
func Place(seed, key uint64) uint64 { return newPlacement(seed).hash(key) }
