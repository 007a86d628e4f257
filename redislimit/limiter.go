package redislimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"weir"
	"weir/policy"
)

// Limiter is a weir.Limiter whose keys are on a Redis or Valkey server, so that all processes that ask the same server
// enforce one limit. New makes one. It is safe for concurrent use and must not be copied. It starts no goroutine but those of
// WithLease, which end with their call.
type Limiter struct {
	store   Store
	name    string
	prefix  string
	stem    string // of key names
	timeout time.Duration
	clock   weir.Clock // nil: the server's
	log     *slog.Logger
	open    bool
	share   uint64 // of FailLocal, else 0
	denials *denials
	leases  *leases

	base    time.Time // what l.strange and, without a clock, l.elapsed count from
	force   atomic.Pointer[force]
	down    atomic.Bool  // the last call failed
	strange atomic.Int64 // after base, when a key that cannot be read was last logged; 0 if never
	counts  counters
	lines   lines
	changed atomic.Pointer[change]
}

var _ weir.Joint = (*Limiter)(nil)

// force is the limit in force.
type force struct {
	limit weir.Limit
	rules *rules
	local *weir.Local   // of FailLocal
	since atomic.Uint64 // the server's time when it first answered under this limit, 0 before
}

// New makes a limiter of the policy of that name: gcra, tokenbucket, leakybucket, slidinglog or dualbucket. It asks the
// server nothing yet. It counts in microseconds, exactly, whatever the period; of a sliding log the period has to be whole
// microseconds.
//
// The error is as weir.New's. A limit is refused with ErrLimitTooLarge too if its burst, or a sliding log's period, takes
// more than a hundred years, or if its numbers in lowest terms pass 2^52 a microsecond.
func New(s Store, name string, limit weir.Limit, o ...Option) (*Limiter, error) {
	if s == nil {
		return nil, errors.New("redislimit.New: the store is nil")
	}
	l := &Limiter{store: s, name: name, timeout: DefaultTimeout, log: slog.Default(), base: time.Now()}
	for _, option := range o {
		if option == nil {
			return nil, errors.New("redislimit.New: an option is nil")
		}
		if err := option(l); err != nil {
			return nil, fmt.Errorf("redislimit.%w", err)
		}
	}
	if l.open && l.share != 0 {
		return nil, errors.New("redislimit.New: FailOpen and FailLocal are given, must be at most one of them")
	}
	l.stem = stem(name, l.prefix)
	f, err := l.forceOf(limit, nil)
	if err != nil {
		return nil, err
	}
	l.force.Store(f)
	l.changed.Store(newChange())
	return l, nil
}

// forceOf makes a limit fit to be put in force. The part of this process, if there is one already, keeps what it has spent.
func (l *Limiter) forceOf(limit weir.Limit, local *weir.Local) (*force, error) {
	rules, err := inMicroseconds(l.name, limit, l.clock != nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	f := &force{limit: limit, rules: rules, local: local}
	if l.share == 0 {
		return f, nil
	}
	part, err := shareOf(l.name, limit, l.share)
	if err != nil {
		return nil, fmt.Errorf("%s: FailLocal: %w", l.name, err)
	}
	if local != nil {
		return f, local.SetLimit(context.Background(), part)
	}
	o := []weir.Option{weir.WithLogger(l.log)}
	if l.clock != nil {
		o = append(o, weir.WithClock(l.clock))
	}
	if f.local, err = weir.New(l.name, part, o...); err != nil {
		return nil, fmt.Errorf("FailLocal: %w", err)
	}
	return f, nil
}

// Name is the name of the policy.
func (l *Limiter) Name() string { return l.name }

// Limit is weir.Limiter's.
func (l *Limiter) Limit() weir.Limit { return l.force.Load().limit }

// elapsed is the limiter's own clock: the time of calls, caches and leases.
func (l *Limiter) elapsed() time.Duration {
	if l.clock != nil {
		return l.clock.Now()
	}
	return time.Since(l.base)
}

// some is a ctx for a caller that has none: nil is one that never ends, as it is to weir.Local.
func some(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Allow is weir.Limiter's.
func (l *Limiter) Allow(ctx context.Context, key string) weir.Result {
	return l.AllowN(ctx, key, weir.N(1))
}

// AllowN is weir.Limiter's. Where the server cannot be asked in time the answer is that of the fail mode.
func (l *Limiter) AllowN(ctx context.Context, key string, c weir.Cost) weir.Result {
	ctx = some(ctx)
	if f := l.force.Load(); l.leases != nil {
		if first, _ := c.Permits(); l.leases.fits(f.rules, first) {
			return l.leases.take(ctx, l, f, key, c)
		}
	}
	return l.direct(ctx, l.question("take", key, c))
}

// direct answers from the cache of denials, or asks the server.
func (l *Limiter) direct(ctx context.Context, q question) weir.Result {
	if r, ok := l.denials.answer(l, q); ok {
		l.counts.cached.Add(1)
		return r
	}
	return l.ask(ctx, q).result
}

// Peek is weir.Limiter's. It always asks the server: permits that this process has leased are spent there.
func (l *Limiter) Peek(ctx context.Context, key string, c weir.Cost) weir.Result {
	return l.ask(some(ctx), l.question("peek", key, c)).result
}

// Refund is weir.Limiter's. If the error wraps ErrUnavailable, the refund may or may not have happened.
func (l *Limiter) Refund(ctx context.Context, key string, c weir.Cost) error {
	q := l.question("refund", key, c)
	if q.force.rules.nothing(q.cost) {
		return nil
	}
	defer l.change().happen()
	ctx = some(ctx)
	r := l.ask(ctx, q)
	l.denials.change(q.name)
	if l.share != 0 {
		_ = q.force.local.Refund(ctx, key, c) // Local gives no error
	}
	if r.err == nil && r.result.Outcome() == policy.PastHorizon {
		return policy.ErrPastHorizon
	}
	return r.err
}

// Forget is weir.Limiter's. If the error wraps ErrUnavailable, it may or may not have happened.
func (l *Limiter) Forget(ctx context.Context, key string) error {
	q := l.question("forget", key, weir.Cost{})
	defer l.change().happen()
	defer l.denials.change(q.name)
	if l.share != 0 {
		_ = q.force.local.Forget(ctx, key) // Local gives no error
	}
	ctx, cancel := context.WithTimeout(some(ctx), l.timeout)
	defer cancel()
	return l.leases.giveUp(ctx, l, key, func(g *grant) error {
		if g != nil {
			g.left.Store(0)
		}
		return l.said(runOne(ctx, l.store, Call{Digest: forgetScript, Keys: []string{q.name, memoryOf(q.name)}}).Err)
	})
}

// SetLimit is weir.Limiter's, for this process: set it in each. The server is not asked. Each key is carried over when it is
// next asked for; until then what it owes goes down at the old rate. A limiter that goes there and back lets go what is
// owed beyond the smaller burst, each time; of processes with different limits see the package. A change gives up what is
// leased and what is cached; the limit that is in force already is no change.
func (l *Limiter) SetLimit(_ context.Context, limit weir.Limit) error {
	old := l.force.Load()
	if limit == old.limit {
		return nil
	}
	f, err := l.forceOf(limit, old.local)
	if err != nil {
		return err
	}
	l.force.Store(f)
	l.change().happen()
	return nil
}

// question is one request for one key.
type question struct {
	op, key, name string // name is the key's on the server
	cost          costs
	plain         weir.Cost
	force         *force
	lost          uint64 // of the denials, when it was asked
}

func (l *Limiter) question(op, key string, c weir.Cost) question {
	q := question{op: op, key: key, name: keyName(l.stem, key), plain: c, force: l.force.Load(), lost: l.denials.changes()}
	q.cost[0], q.cost[1] = c.Permits()
	return q
}

// reply is what became of a question.
type reply struct {
	result  weir.Result
	err     error // why the server could not be asked
	sent    time.Duration
	now     uint64 // the server's, in ticks
	numbers []any
}

// ask puts a question to the server; if that fails the result is that of the fail mode.
func (l *Limiter) ask(ctx context.Context, q question) reply {
	limited, cancel := l.limited(ctx)
	defer cancel()
	return l.settle(ctx, q, l.exchange(limited, q))
}

// ended says why a caller has gone, nil if it has not. A deadline counts as soon as it has passed: the timer that tells ctx of
// it may be later than that of the call.
func ended(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && ctx.Err() == nil && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// settle counts a reply and keeps in mind what it says; one that failed gets the answer of the fail mode.
func (l *Limiter) settle(ctx context.Context, q question, r reply) reply {
	if r.err != nil && ended(ctx) != nil { // the caller has gone: no fault of the server, and none of its permits to give
		l.counts.unavailable.Add(1)
		r.err = fmt.Errorf("%w: %w", policy.ErrUnavailable, r.err)
		r.result = weir.NewResult(policy.Refused(policy.Unavailable), tick, 0)
		return r
	}
	if r.err = l.said(r.err); r.err != nil {
		r.result = l.instead(ctx, q)
		return r
	}
	if q.op != "take" {
		return r
	}
	switch r.result.Outcome() {
	case policy.Allow:
		l.counts.allowed.Add(1)
		l.denials.forget(q.name) // a smaller cost has put off the larger one
		l.warm(ctx, q)
	case policy.Deny:
		l.counts.denied.Add(1)
		l.denials.remember(q, r)
	default:
		l.counts.refused.Add(1)
	}
	return r
}

// warm charges the part of this process for what the server has allowed it.
func (l *Limiter) warm(ctx context.Context, q question) {
	if l.share != 0 {
		local := q.force.local
		if r := local.AllowN(ctx, q.key, q.plain); !r.OK() { // then all of its part is spent
			left := r.Remaining()
			local.AllowN(ctx, q.key, weir.Both(min(q.cost[0], left), min(q.cost[1], left)))
		}
	}
}

// exchange asks, and asks again after each time that the key had to be carried over from another limit first.
func (l *Limiter) exchange(ctx context.Context, q question) reply {
	const tries = 8
	var calls []Call
	for range tries {
		sent, now, into := l.instant()
		if l.clock != nil && now > q.force.rules.horizon {
			return reply{result: weir.NewResult(policy.Refused(policy.PastHorizon), tick, into), sent: sent}
		}
		calls = append(calls, one(q.force.rules, q.op, l.told(now), q.name, q.cost))
		replies := run(ctx, l.store, calls)
		a, err := replies[len(replies)-1].answer()
		if err != nil {
			return reply{err: err}
		}
		q.force.since.CompareAndSwap(0, a.now)
		if a.foreign == 0 {
			return q.read(a, sent, into)
		}
		swap, err := l.carry(ctx, q, a)
		if err != nil {
			return reply{err: err}
		}
		l.counts.carried.Add(1)
		calls = []Call{swap}
	}
	return reply{err: errors.New("redislimit: processes with different limits ask for this key faster than it can be carried over")}
}

// tick is what limiters count in.
const tick = time.Microsecond

// instant is now on the limiter's own clock, and, if that is the one that counts, in ticks and how far into the tick.
func (l *Limiter) instant() (sent time.Duration, now uint64, into time.Duration) {
	sent = l.elapsed()
	if l.clock == nil || sent < 0 {
		return sent, 0, 0
	}
	return sent, uint64(sent / tick), sent % tick
}

// told is what a script is told of the time.
func (l *Limiter) told(now uint64) string {
	if l.clock == nil {
		return ""
	}
	return number(now)
}

// read makes a reply of an answer.
func (q question) read(a answer, sent, into time.Duration) reply {
	r := reply{sent: sent, now: a.now, numbers: a.numbers}
	if a.now > q.force.rules.horizon {
		r.result = weir.NewResult(policy.Refused(policy.PastHorizon), tick, into)
		return r
	}
	d, err := q.force.rules.decide(a.now, a.numbers, q.cost, a.spent)
	if q.op == "take" && d.OK() && !a.spent && !q.force.rules.nothing(q.cost) {
		err = errReply // what is allowed is spent
	}
	r.result, r.err = weir.NewResult(d, tick, into), err
	return r
}
