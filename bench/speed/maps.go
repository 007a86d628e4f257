package speed

import (
	"hash/maphash"
	"sync"
)

// parts is how many maps a sharded map has, each behind its own mutex.
const parts = 256

// byText and byNumber are the maps that people put around a limiter of one key: sharded, so that goroutines seldom wait for
// each other, with the lock held for the look-up alone. They never drop a key.
type byText[V any] struct {
	seed maphash.Seed
	part [parts]struct {
		sync.Mutex
		of map[string]V
	}
	open func() V
}

func newByText[V any](open func() V) *byText[V] {
	m := &byText[V]{seed: maphash.MakeSeed(), open: open}
	for i := range m.part {
		m.part[i].of = map[string]V{}
	}
	return m
}

func (m *byText[V]) get(key string) V {
	p := &m.part[maphash.String(m.seed, key)%parts]
	p.Lock()
	v, ok := p.of[key]
	if !ok {
		v = m.open()
		p.of[key] = v
	}
	p.Unlock()
	return v
}

type byNumber[V any] struct {
	part [parts]struct {
		sync.Mutex
		of map[uint64]V
	}
	open func() V
}

func newByNumber[V any](open func() V) *byNumber[V] {
	m := &byNumber[V]{open: open}
	for i := range m.part {
		m.part[i].of = map[uint64]V{}
	}
	return m
}

// get takes the keys' own bits to find the part: they are random already.
func (m *byNumber[V]) get(key uint64) V {
	p := &m.part[key%parts]
	p.Lock()
	v, ok := p.of[key]
	if !ok {
		v = m.open()
		p.of[key] = v
	}
	p.Unlock()
	return v
}

// inSyncMap is the value of a key in m, made if it is not there.
func inSyncMap[K comparable, V any](m *sync.Map, key K, open func() V) V {
	v, ok := m.Load(key)
	if !ok {
		v, _ = m.LoadOrStore(key, open())
	}
	return v.(V)
}
