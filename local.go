package weir

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"weir/policy"
)

// SweepSlots is how many slots of its table a limiter looks at for idle keys whenever a new key comes, so that they never
// pile up: a limiter holds little more than the keys that are not idle.
const SweepSlots = 32

// fullSlots is how many it looks at before it answers full: all of a small table. Once a whole pass has found nothing, a
// table answers at once until the first of its keys can be idle.
const fullSlots = 1024

// Local is the Limiter of this process. New makes one, the zero Local is of no use. Any number of goroutines may share it;
// it must not be copied.
//
// It keeps of a key its hash and no more. So a key that is in bytes need not be copied into a string for it:
//
//	limiter.Allow(ctx, unsafe.String(unsafe.SliceData(key), len(key)))
//
// is right as long as key does not change before Allow returns. For one hot key see Lease, for many keys at one moment
// AllowBatch and AllowAt, for a clock that costs less to read Coarse.
type Local struct {
	name     string
	registry *policy.Registry
	options  policy.Options
	clock    Clock
	portable bool   // keys are made by XXH64
	seed     uint64 // of XXH64
	log      *slog.Logger
	queue    queue
	given    givenBack
	changed  atomic.Pointer[change] // the next change of the limit
	mu       sync.Mutex             // held to change era, and to forget, so that no forgetting is lost in a change
	era      atomic.Pointer[era]
}

// era is a policy and what its ticks mean. It ends when the clock runs past the policy's horizon or when a new limit
// counts in other ticks.
type era struct {
	policy  policy.Policy
	two     policy.TwoCosts // the policy, if it takes two costs
	fetcher policy.Fetcher  // the policy, if it can have a key brought from memory
	batcher policy.Batcher  // the policy, if it takes one cost and decides many requests at once
	limit   Limit
	base    time.Duration // tick 0, on the limiter's clock
	tick    time.Duration
	horizon uint64       // in ticks
	swept   atomic.Int64 // keys at the last sweep
}

// New makes a limiter of the policy of that name: gcra, tokenbucket, leakybucket, slidinglog or dualbucket. It counts in
// the finest tick of 1, 10, 100 ns, 1, 10, 100 us and 1 ms that divides the period and puts the policy's horizon a year
// away or more, and a request counts as of the beginning of its tick: a coarser tick makes it come up to a tick earlier than
// it did. Should a limiter run past its horizon, it starts anew with every key as new, and says so in its log.
//
// The error is one line. It wraps ErrUnknownPolicy and lists the known names, or wraps what is wrong with the limit and
// names field, value and bound: a limit can also be refused because one tick would give back more than the burst holds
// (ErrInvalidBurst, with the least burst that would do).
func New(name string, l Limit, o ...Option) (*Local, error) {
	local := &Local{name: name, registry: Registry(), log: slog.Default()}
	for _, option := range o {
		if option == nil {
			return nil, errors.New("weir.New: an option is nil")
		}
		if err := option(local); err != nil {
			return nil, err
		}
	}
	if err := local.registry.Check(name); err != nil {
		return nil, err
	}
	if local.clock == nil {
		local.clock = &monotonic{time.Now()}
	}
	c, err := local.count(l)
	if err != nil {
		return nil, err
	}
	e, err := local.begin(l, c, local.clock.Now())
	if err != nil {
		return nil, err
	}
	local.era.Store(e)
	local.changed.Store(newChange())
	return local, nil
}

// count is the limit in ticks; a burst that goes unused is said in the log.
func (l *Local) count(limit Limit) (counted, error) {
	c, dropped, err := count(l.name, limit)
	if err != nil {
		return c, fmt.Errorf("%s: %w", l.name, err)
	}
	if dropped {
		l.log.Warn("weir: a sliding log has no burst of its own: it is dropped", "limit", limit.String())
	}
	return c, nil
}

// begin makes an era with no key in it.
func (l *Local) begin(limit Limit, c counted, base time.Duration) (*era, error) {
	p, err := l.registry.New(l.name, c.limit, l.options)
	if err != nil {
		return nil, err
	}
	return newEra(p, limit, base, c.tick), nil
}

func newEra(p policy.Policy, limit Limit, base, tick time.Duration) *era {
	e := &era{policy: p, limit: limit, base: base, tick: tick, horizon: p.Horizon()}
	e.fetcher, _ = p.(policy.Fetcher)
	if e.two, _ = p.(policy.TwoCosts); e.two == nil {
		e.batcher, _ = p.(policy.Batcher)
	}
	return e
}

// Limit is the limit in force, as it was given.
func (l *Local) Limit() Limit { return l.era.Load().limit }

// Keys is how many keys hold room; some of them may be idle.
func (l *Local) Keys() int { return l.era.Load().policy.Keys() }

// Name is the name of the policy.
func (l *Local) Name() string { return l.name }

// key is what a string is to the policy.
func (l *Local) key(s string) uint64 {
	if l.portable {
		return policy.KeyString(s, l.seed)
	}
	return policy.SecretKey(s)
}

// at is the era in force and where now, a reading of the clock, stands in it. It ends an era that the clock has run out of.
func (l *Local) at(now time.Duration) (*era, instant) {
	e := l.era.Load()
	at := e.at(now)
	if at.ticks <= e.horizon {
		return e, at
	}
	return l.renew(now)
}

func (e *era) at(now time.Duration) instant { return since(e.base, now, e.tick) }

func (e *era) take(now, key uint64, c Cost) policy.Decision {
	if e.two != nil {
		return e.two.Take2(now, key, c.first, c.second)
	}
	return e.policy.Take(now, key, c.first)
}

func (e *era) peek(now, key uint64, c Cost) policy.Decision {
	if e.two != nil {
		return e.two.Peek2(now, key, c.first, c.second)
	}
	return e.policy.Peek(now, key, c.first)
}

func (e *era) refund(now, key uint64, c Cost) policy.Outcome {
	if e.two != nil {
		return e.two.Refund2(now, key, c.first, c.second)
	}
	return e.policy.Refund(now, key, c.first)
}

// tidy looks at a few slots for each key that came since it last did. Where goroutines race it may see some of them
// twice or none, never none of many.
func (e *era) tidy(now uint64) {
	const most = 64 // new keys made up for in one call, so that no caller pays for everybody
	keys, swept := int64(e.policy.Keys()), e.swept.Load()
	if keys == swept {
		return
	}
	fresh := min(most, max(1, keys-swept))
	e.policy.Sweep(now, int(fresh)*SweepSlots)
	e.swept.Store(int64(e.policy.Keys()))
}

// Refund is Limiter's. Who waits for the key looks again.
func (l *Local) Refund(_ context.Context, key string, c Cost) error {
	k := l.key(key)
	given := l.given.of(k)
	given.begin(c.first)
	defer given.end()
	return l.refund(l.Now(), k, c)
}

// refund gives back what is noted already as given back.
func (l *Local) refund(now time.Duration, key uint64, c Cost) error {
	defer l.queue.wake(key)
	for {
		e, at := l.at(now)
		outcome := e.refund(at.ticks, key, c)
		if outcome == 0 && l.settled() != e {
			continue
		}
		return outcome.Err()
	}
}

// Forget is Limiter's. Who waits for the key looks again.
func (l *Local) Forget(_ context.Context, key string) error {
	k := l.key(key)
	given := l.given.of(k)
	given.begin(mostLeased)
	defer given.end()
	l.mu.Lock()
	l.era.Load().policy.Forget(k)
	l.mu.Unlock()
	l.queue.wake(k)
	return nil
}

// settled is the era in force once a change under way is done: the policy of one that has ended answers nothing.
func (l *Local) settled() *era {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.era.Load()
}

// renew ends the era in force if the clock is past its horizon: a new one begins now, with every key as new.
func (l *Local) renew(now time.Duration) (*era, instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.era.Load()
	at := e.at(now)
	if at.ticks <= e.horizon {
		return e, at
	}
	next, err := l.begin(e.limit, counted{e.policy.Limit(), e.tick}, now)
	if err != nil {
		return e, at // a maker that refuses what it took before: the policy answers past_horizon
	}
	l.given.beginAll()
	defer l.given.endAll()
	l.era.Store(next)
	l.sayAnew(e.limit)
	return next, instant{}
}

func (l *Local) sayAnew(limit Limit) {
	l.log.Warn("weir: the clock has run past what the limit can count exactly: starting anew, every key as new",
		"policy", l.name, "limit", limit.String())
}

// SetLimit is Limiter's. Under its new limit the limiter may count in other ticks. Whoever waits looks again. It converts
// every key, and requests wait for that: some milliseconds for 100,000 keys.
func (l *Local) SetLimit(_ context.Context, limit Limit) error {
	c, err := l.count(limit)
	if err != nil {
		return err
	}
	if err := l.put(limit, c); err != nil {
		return err
	}
	l.changed.Swap(newChange()).happen()
	return nil
}

// put begins the era of another limit.
func (l *Local) put(limit Limit, c counted) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given.beginAll()
	defer l.given.endAll()
	old := l.era.Load()
	next, err := l.change(old, limit, c, old.at(l.Now()).ticks)
	if err != nil {
		return err
	}
	l.era.Store(next)
	return nil
}

// change is the era under another limit: the same table where the ticks stay and now is within the new horizon, else the
// keys move to one that begins at now, or, past the old horizon, a new one.
func (l *Local) change(old *era, limit Limit, c counted, now uint64) (*era, error) {
	base := old.base + time.Duration(now)*old.tick
	if now > old.horizon {
		next, err := l.begin(limit, c, base)
		if err == nil {
			l.sayAnew(limit)
		}
		return next, err
	}
	if c.tick == old.tick {
		err := old.policy.Relimit(now, c.limit)
		if err == nil {
			e := newEra(old.policy, limit, old.base, old.tick)
			e.swept.Store(old.swept.Load())
			return e, nil
		}
		if policy.Code(err) != ErrPastHorizon.Error() {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
	}
	mover, ok := old.policy.(policy.Mover)
	if !ok {
		return nil, fmt.Errorf("%s: %s counts in ticks of %v, the limit in force in ticks of %v, and this implementation cannot change that: make a new limiter",
			l.name, limit, c.tick, old.tick)
	}
	p, err := mover.Move(now, 0, c.limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	return newEra(p, limit, base, c.tick), nil
}
