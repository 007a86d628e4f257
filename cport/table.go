//go:build cgo

package cport

/*
#cgo noescape weir_any_take
#cgo nocallback weir_any_take
#cgo noescape weir_any_peek
#cgo nocallback weir_any_peek
#cgo noescape weir_any_take_batch
#cgo nocallback weir_any_take_batch
#cgo noescape weir_any_size
#cgo nocallback weir_any_size

#include "any.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"weir/policy"
)

// batch is how many requests of a TakeBatch go to C at once.
const batch = 32

// table is a C table behind a lock. Its block is Go's memory; C keeps no pointer to it or into it between calls.
type table struct {
	kind    kind
	mu      sync.Mutex
	block   []uint64 // never grows; an array of 64-bit words, so it is aligned as C wants it
	answers [batch]C.weir_any_answer
}

// pair is the table of a dual bucket: a policy.TwoCosts.
type pair struct{ *table }

// words is the block as C takes it. A type without pointers spares the crossing a search for them.
func (t *table) words() *C.uint64_t { return (*C.uint64_t)(&t.block[0]) }

func (t *table) take(now, key, cost, cost2 uint64) policy.Decision {
	t.mu.Lock()
	a := C.weir_any_take(t.kind.number, t.words(), C.uint64_t(now), C.uint64_t(key), C.uint64_t(cost), C.uint64_t(cost2))
	t.mu.Unlock()
	return decision(&a)
}

func (t *table) peek(now, key, cost, cost2 uint64) policy.Decision {
	t.mu.Lock()
	a := C.weir_any_peek(t.kind.number, t.words(), C.uint64_t(now), C.uint64_t(key), C.uint64_t(cost), C.uint64_t(cost2))
	t.mu.Unlock()
	return decision(&a)
}

// refund is refused by C for one reason only: now past the horizon.
func (t *table) refund(now, key, cost, cost2 uint64) policy.Outcome {
	t.mu.Lock()
	defer t.mu.Unlock()
	code := C.weir_any_refund(t.kind.number, t.words(), C.uint64_t(now), C.uint64_t(key), C.uint64_t(cost), C.uint64_t(cost2))
	if code != C.WEIR_OK {
		return policy.PastHorizon
	}
	return policy.Allow
}

func decision(a *C.weir_any_answer) policy.Decision {
	return policy.Answered(policy.Answer{
		Outcome:    policy.Outcome(a.answer.outcome),
		Remaining:  uint64(a.answer.remaining),
		RetryAfter: uint64(a.answer.retry_after),
		ResetAfter: uint64(a.answer.reset_after),
		Delay:      uint64(a.answer.delay),
		Binding:    policy.Binding(a.answer.binding),
	}, uint64(a.next))
}

// Take is policy.Policy's Take. It does not allocate.
func (t *table) Take(now, key, cost uint64) policy.Decision { return t.take(now, key, cost, cost) }

// Peek is policy.Policy's Peek.
func (t *table) Peek(now, key, cost uint64) policy.Decision { return t.peek(now, key, cost, cost) }

// Refund is policy.Policy's Refund.
func (t *table) Refund(now, key, cost uint64) policy.Outcome { return t.refund(now, key, cost, cost) }

// Take2 is policy.TwoCosts' Take2.
func (p pair) Take2(now, key, cost, cost2 uint64) policy.Decision {
	return p.take(now, key, cost, cost2)
}

// Peek2 is policy.TwoCosts' Peek2.
func (p pair) Peek2(now, key, cost, cost2 uint64) policy.Decision {
	return p.peek(now, key, cost, cost2)
}

// Refund2 is policy.TwoCosts' Refund2.
func (p pair) Refund2(now, key, cost, cost2 uint64) policy.Outcome {
	return p.refund(now, key, cost, cost2)
}

// TakeBatch takes costs[i] of keys[i] for each i, in order, all at now, and puts the decisions into out; a dual bucket
// charges both limits alike. It answers how many it decided, which is the length of the shortest of the three. It crosses
// to C once for 32 requests, whose cache misses overlap, and does not allocate. Others may come between two crossings.
func (t *table) TakeBatch(now uint64, keys, costs []uint64, out []policy.Decision) int {
	n := min(len(keys), len(costs), len(out))
	for from := 0; from < n; from += batch {
		t.takeSome(now, keys[from:n], costs[from:n], out[from:n])
	}
	return n
}

// takeSome takes the first requests of a batch that is not empty, as many as go at once.
func (t *table) takeSome(now uint64, keys, costs []uint64, out []policy.Decision) {
	n := min(len(out), batch)
	t.mu.Lock()
	defer t.mu.Unlock()
	C.weir_any_take_batch(t.kind.number, t.words(), C.uint64_t(now), (*C.uint64_t)(&keys[0]), (*C.uint64_t)(&costs[0]),
		C.size_t(n), &t.answers[0])
	for i := range n {
		out[i] = decision(&t.answers[i])
	}
}

// Forget is policy.Policy's Forget.
func (t *table) Forget(key uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	C.weir_any_forget(t.kind.number, t.words(), C.uint64_t(key))
}

// Sweep is policy.Policy's Sweep. It holds the lock for as long as it looks.
func (t *table) Sweep(now uint64, slots int) (freed int, done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	swept := C.weir_any_sweep(t.kind.number, t.words(), C.uint64_t(now), C.uint64_t(max(slots, 0)))
	return int(swept.freed), bool(swept.done)
}

// Relimit is policy.Policy's Relimit. It holds the lock until every key is converted. A sliding log refuses a limit that
// needs more entries than it was made with.
func (t *table) Relimit(now uint64, l policy.Limit) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch code := C.weir_any_relimit(t.kind.number, t.words(), C.uint64_t(now), limitOf(l)); {
	case code == C.WEIR_OK:
		return nil
	case code == C.WEIR_ERR_PAST_HORIZON:
		return t.pastHorizon(now, l)
	case code == C.WEIR_ERR_LIMIT_TOO_LARGE && t.kind.check(l) == nil:
		return t.tooLong(l)
	default:
		return t.kind.refusal(code, l)
	}
}

// pastHorizon names the horizon that a refused relimit met: the one in force if now is past it, else the nearer one of
// the new limit.
func (t *table) pastHorizon(now uint64, l policy.Limit) error {
	horizon := uint64(C.weir_any_horizon(t.kind.number, t.words()))
	if now <= horizon {
		first, second, err := l.Scales()
		if horizon = first.Horizon; err == nil {
			horizon = min(horizon, second.Horizon)
		} else if one, err := l.Scale(); err == nil {
			horizon = one.Horizon
		}
	}
	return fmt.Errorf("%w: now is %d, must be at most %d", policy.ErrPastHorizon, now, horizon)
}

// tooLong is the refusal of a limit that needs more entries than the rings of a sliding log have.
func (t *table) tooLong(l policy.Limit) error {
	e := policy.LimitError{Code: string(policy.ErrLimitTooLarge), Field: "permits", Value: l.Permits, Need: "at most",
		Bound: uint64(C.weir_slidinglog_entries((*C.weir_slidinglog)(unsafe.Pointer(&t.block[0]))))}
	if l.Period < l.Permits {
		e.Field, e.Value = "period", l.Period
	}
	return &e
}

// Keys is policy.Policy's Keys.
func (t *table) Keys() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int(C.weir_any_keys(t.kind.number, t.words()))
}

// Horizon is policy.Policy's Horizon.
func (t *table) Horizon() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return uint64(C.weir_any_horizon(t.kind.number, t.words()))
}

// Limit is policy.Policy's Limit.
func (t *table) Limit() policy.Limit {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := C.weir_any_limit(t.kind.number, t.words())
	return policy.Limit{
		Permits: uint64(l.permits), Period: uint64(l.period), Burst: uint64(l.burst),
		Permits2: uint64(l.permits2), Period2: uint64(l.period2), Burst2: uint64(l.burst2),
	}
}

// Close does nothing: the block is Go's, and goes when nobody holds the policy any more.
func (t *table) Close() error { return nil }
