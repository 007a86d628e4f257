//go:build cgo

package cport

/*
#cgo noescape weir_go_gcra_take
#cgo nocallback weir_go_gcra_take
#cgo noescape weir_go_gcra_peek
#cgo nocallback weir_go_gcra_peek

#include "weir/gcra.h"

// One crossing for a decision and all its quotients: C computes them too, so that what is verified is C.
typedef struct {
    weir_answer answer;
    uint64_t next;
} weir_go_answer;

typedef struct {
    uint64_t freed;
    bool done;
} weir_go_swept;

static weir_go_answer weir_go_of(const weir_gcra *table, weir_decision d)
{
    const weir_scale *scale = weir_gcra_rules_of(table);
    weir_go_answer a;

    a.answer = weir_answer_of(scale, d);
    a.next = weir_next(scale, d);
    return a;
}

static weir_go_answer weir_go_gcra_take(uint64_t *block, uint64_t now, uint64_t key, uint64_t cost)
{
    weir_gcra *table = (weir_gcra *)block;
    return weir_go_of(table, weir_gcra_take(table, now, key, cost));
}

static weir_go_answer weir_go_gcra_peek(const uint64_t *block, uint64_t now, uint64_t key, uint64_t cost)
{
    const weir_gcra *table = (const weir_gcra *)block;
    return weir_go_of(table, weir_gcra_peek(table, now, key, cost));
}

static weir_go_swept weir_go_gcra_sweep(uint64_t *block, uint64_t now, uint64_t slots)
{
    weir_go_swept swept = {0, false};
    (void)weir_gcra_sweep((weir_gcra *)block, now, slots, &swept.freed, &swept.done);
    return swept;
}

static weir_error weir_go_gcra_refund(uint64_t *block, uint64_t now, uint64_t key, uint64_t cost)
{
    return weir_gcra_refund((weir_gcra *)block, now, key, cost);
}

static void weir_go_gcra_forget(uint64_t *block, uint64_t key)
{
    weir_gcra_forget((weir_gcra *)block, key);
}

static weir_error weir_go_gcra_relimit(uint64_t *block, uint64_t now, weir_limit limit)
{
    return weir_gcra_relimit((weir_gcra *)block, now, &limit);
}

static weir_error weir_go_gcra_size(weir_limit limit, uint64_t max_keys, size_t *bytes)
{
    return weir_gcra_size(&limit, max_keys, bytes);
}

static weir_error weir_go_gcra_init(uint64_t *block, size_t bytes, weir_limit limit, uint64_t max_keys,
                                    uint64_t seed)
{
    return weir_gcra_init(block, bytes, &limit, max_keys, seed);
}

static uint64_t weir_go_gcra_keys(const uint64_t *block) { return weir_gcra_keys((const weir_gcra *)block); }
static uint64_t weir_go_gcra_horizon(const uint64_t *block) { return weir_gcra_horizon((const weir_gcra *)block); }
static weir_limit weir_go_gcra_limit(const uint64_t *block) { return weir_gcra_limit((const weir_gcra *)block); }
*/
import "C"

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"weir/policy"
)

// gcra is a C table behind a lock. Its block is Go's memory; C keeps no pointer to it or into it between calls.
type gcra struct {
	mu    sync.Mutex
	block []uint64 // never grows; an array of 64-bit words, so it is aligned as C wants it
}

// newGCRA is the policy.Maker of "gcra". A seed of 0 draws a secret one.
func newGCRA(l policy.Limit, o policy.Options) (policy.Policy, error) {
	maxKeys, limit := capacity(o), limitOf(l)
	var bytes C.size_t
	if code := C.weir_go_gcra_size(limit, C.uint64_t(maxKeys), &bytes); code != C.WEIR_OK {
		return nil, refusal(code, l, maxKeys)
	}
	if maxKeys > MaxKeys {
		return nil, badMaxKeys(maxKeys)
	}
	seed := o.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	g := &gcra{block: make([]uint64, bytes/8)}
	code := C.weir_go_gcra_init(g.words(), bytes, limit, C.uint64_t(maxKeys), C.uint64_t(seed))
	if code != C.WEIR_OK {
		return nil, refusal(code, l, maxKeys)
	}
	return g, nil
}

func limitOf(l policy.Limit) C.weir_limit {
	return C.weir_limit{
		permits: C.uint64_t(l.Permits), period: C.uint64_t(l.Period), burst: C.uint64_t(l.Burst),
		permits2: C.uint64_t(l.Permits2), period2: C.uint64_t(l.Period2), burst2: C.uint64_t(l.Burst2),
	}
}

// words is the block as C takes it. A type without pointers spares the crossing a search for them.
func (g *gcra) words() *C.uint64_t { return (*C.uint64_t)(&g.block[0]) }

func decision(a C.weir_go_answer) policy.Decision {
	return policy.Answered(policy.Answer{
		Outcome:    policy.Outcome(a.answer.outcome),
		Remaining:  uint64(a.answer.remaining),
		RetryAfter: uint64(a.answer.retry_after),
		ResetAfter: uint64(a.answer.reset_after),
		Delay:      uint64(a.answer.delay),
		Binding:    policy.Binding(a.answer.binding),
	}, uint64(a.next))
}

// Take is policy.Policy's Take.
func (g *gcra) Take(now, key, cost uint64) policy.Decision {
	g.mu.Lock()
	a := C.weir_go_gcra_take(g.words(), C.uint64_t(now), C.uint64_t(key), C.uint64_t(cost))
	g.mu.Unlock()
	return decision(a)
}

// Peek is policy.Policy's Peek.
func (g *gcra) Peek(now, key, cost uint64) policy.Decision {
	g.mu.Lock()
	a := C.weir_go_gcra_peek(g.words(), C.uint64_t(now), C.uint64_t(key), C.uint64_t(cost))
	g.mu.Unlock()
	return decision(a)
}

// Refund is policy.Policy's Refund. C refuses it for one reason only: now past the horizon.
func (g *gcra) Refund(now, key, cost uint64) policy.Outcome {
	g.mu.Lock()
	defer g.mu.Unlock()
	if C.weir_go_gcra_refund(g.words(), C.uint64_t(now), C.uint64_t(key), C.uint64_t(cost)) != C.WEIR_OK {
		return policy.PastHorizon
	}
	return policy.Allow
}

// Forget is policy.Policy's Forget.
func (g *gcra) Forget(key uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	C.weir_go_gcra_forget(g.words(), C.uint64_t(key))
}

// Sweep is policy.Policy's Sweep. It holds the lock for as long as it looks.
func (g *gcra) Sweep(now uint64, slots int) (freed int, done bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	swept := C.weir_go_gcra_sweep(g.words(), C.uint64_t(now), C.uint64_t(max(slots, 0)))
	return int(swept.freed), bool(swept.done)
}

// Relimit is policy.Policy's Relimit. It holds the lock until every key is converted.
func (g *gcra) Relimit(now uint64, l policy.Limit) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch code := C.weir_go_gcra_relimit(g.words(), C.uint64_t(now), limitOf(l)); code {
	case C.WEIR_OK:
		return nil
	case C.WEIR_ERR_PAST_HORIZON:
		return g.pastHorizon(now, l)
	default:
		return refusal(code, l, 0)
	}
}

// pastHorizon names the horizon that a refused relimit met: the one in force if now is past it, else the new
// limit's.
func (g *gcra) pastHorizon(now uint64, l policy.Limit) error {
	horizon := uint64(C.weir_go_gcra_horizon(g.words()))
	if to, err := l.Scale(); now <= horizon && err == nil {
		horizon = to.Horizon
	}
	return fmt.Errorf("%w: now is %d, must be at most %d", policy.ErrPastHorizon, now, horizon)
}

// Keys is policy.Policy's Keys.
func (g *gcra) Keys() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return int(C.weir_go_gcra_keys(g.words()))
}

// Horizon is policy.Policy's Horizon.
func (g *gcra) Horizon() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return uint64(C.weir_go_gcra_horizon(g.words()))
}

// Limit is policy.Policy's Limit.
func (g *gcra) Limit() policy.Limit {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := C.weir_go_gcra_limit(g.words())
	return policy.Limit{
		Permits: uint64(l.permits), Period: uint64(l.period), Burst: uint64(l.burst),
		Permits2: uint64(l.permits2), Period2: uint64(l.period2), Burst2: uint64(l.burst2),
	}
}
