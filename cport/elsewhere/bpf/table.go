package bpf

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"weir/policy"
)

// MaxKeys is the room of the map in step.c.
const MaxKeys = 1024

// names are the policies that a map's value is enough for: a sliding log needs a ring beside it.
var names = []string{"gcra", "tokenbucket", "leakybucket", "dualbucket"}

// The operations of step.c.
const (
	take = iota
	peek
	refund
)

// The words of a packet: operation, now, key and two costs, then the answer.
const (
	requestWords = 5
	answerWords  = 7
)

// passed is XDP_PASS: the program has answered.
const passed = 2

// table is a policy whose decisions are made in the kernel. There is one at a time, since all share the maps.
type table struct {
	all     *ebpf.Collection
	program *ebpf.Program
	limit   policy.Limit
	horizon uint64
}

type pair struct{ *table }

// Registry holds the four buckets. Making one empties the map, which ends the one before.
func Registry(all *ebpf.Collection) *policy.Registry {
	r := new(policy.Registry)
	for _, name := range names {
		_ = r.Add(name, func(l policy.Limit, _ policy.Options) (policy.Policy, error) { // good names in an empty registry
			return newTable(all, name, l)
		})
	}
	return r
}

// newTable checks the limit and makes its units here, in user space, as whoever loads the program does with
// weir_scale_init.
func newTable(all *ebpf.Collection, name string, l policy.Limit) (policy.Policy, error) {
	t := &table{all: all, program: all.Programs["bpf_"+name], limit: l}
	if t.program == nil {
		return nil, fmt.Errorf("bpf: there is no program %s", name)
	}
	first, err := policy.Scale{}, error(nil)
	second := first
	if name == "dualbucket" {
		first, second, err = l.Scales()
	} else {
		first, err = l.Scale()
	}
	if err != nil {
		return nil, err
	}
	t.horizon = first.Horizon
	if name == "dualbucket" {
		t.horizon = min(first.Horizon, second.Horizon)
	}
	var words []byte
	for _, s := range []policy.Scale{first, second} {
		for _, w := range []uint64{s.Tick, s.Permit, s.Tolerance, s.Burst, s.Horizon} {
			words = binary.NativeEndian.AppendUint64(words, w)
		}
	}
	words = binary.NativeEndian.AppendUint64(words, t.horizon)
	if err := all.Maps["rules"].Put(uint32(0), words); err != nil {
		return nil, fmt.Errorf("bpf: rules: %w", err)
	}
	for _, key := range t.keys() {
		t.Forget(key)
	}
	if name == "dualbucket" {
		return pair{t}, nil
	}
	return t, nil
}

// run sends a packet through the program and gives the words of the answer.
func (t *table) run(op, now, key, cost, cost2 uint64) (a [answerWords]uint64) {
	packet := make([]byte, 0, 8*(requestWords+answerWords))
	for _, w := range []uint64{op, now, key, cost, cost2} {
		packet = binary.NativeEndian.AppendUint64(packet, w)
	}
	code, out, err := t.program.Test(packet[:cap(packet)])
	if err != nil || code != passed || len(out) != cap(packet) {
		panic(fmt.Sprintf("bpf: the program answers %d with %d bytes: %v", code, len(out), err))
	}
	for i := range a {
		a[i] = binary.NativeEndian.Uint64(out[8*(requestWords+i):])
	}
	return a
}

func (t *table) ask(op, now, key, cost, cost2 uint64) policy.Decision {
	a := t.run(op, now, key, cost, cost2)
	return policy.Answered(policy.Answer{Outcome: policy.Outcome(a[0]), Binding: policy.Binding(a[1]),
		Remaining: a[2], RetryAfter: a[3], ResetAfter: a[4], Delay: a[5]}, a[6])
}

// Take is policy.Policy's Take.
func (t *table) Take(now, key, cost uint64) policy.Decision { return t.ask(take, now, key, cost, cost) }

// Peek is policy.Policy's Peek, but that it does not see whether the map is full.
func (t *table) Peek(now, key, cost uint64) policy.Decision { return t.ask(peek, now, key, cost, cost) }

// Refund is policy.Policy's Refund.
func (t *table) Refund(now, key, cost uint64) policy.Outcome {
	return policy.Outcome(t.run(refund, now, key, cost, cost)[0])
}

// Take2 is policy.TwoCosts' Take2.
func (p pair) Take2(now, key, cost, cost2 uint64) policy.Decision {
	return p.ask(take, now, key, cost, cost2)
}

// Peek2 is policy.TwoCosts' Peek2.
func (p pair) Peek2(now, key, cost, cost2 uint64) policy.Decision {
	return p.ask(peek, now, key, cost, cost2)
}

// Refund2 is policy.TwoCosts' Refund2.
func (p pair) Refund2(now, key, cost, cost2 uint64) policy.Outcome {
	return policy.Outcome(p.run(refund, now, key, cost, cost2)[0])
}

// Forget is policy.Policy's Forget.
func (t *table) Forget(key uint64) {
	if err := t.all.Maps["states"].Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		panic(fmt.Sprintf("bpf: forget: %v", err))
	}
}

func (t *table) keys() []uint64 {
	var all []uint64
	var key uint64
	value := make([]byte, 16)
	entries := t.all.Maps["states"].Iterate()
	for entries.Next(&key, value) {
		all = append(all, key)
	}
	if err := entries.Err(); err != nil {
		panic(fmt.Sprintf("bpf: keys: %v", err))
	}
	return all
}

// Keys is policy.Policy's Keys.
func (t *table) Keys() int { return len(t.keys()) }

// Horizon is policy.Policy's Horizon.
func (t *table) Horizon() uint64 { return t.horizon }

// Limit is policy.Policy's Limit.
func (t *table) Limit() policy.Limit { return t.limit }

// Sweep is not there: it does nothing.
func (t *table) Sweep(uint64, int) (int, bool) { return 0, true }

// Relimit is not there: it is refused.
func (t *table) Relimit(uint64, policy.Limit) error {
	return errors.New("bpf: a map is not put under another limit")
}

// CannotDo is what the steps in the kernel cannot do: they have no sweep and no relimit, the map's size is the program's, a
// peek does not see whether it is full, and there are no hashes.
var CannotDo = []string{"sweep", "relimit", "max_keys", "long_log", "xxh64", "mix32"}
