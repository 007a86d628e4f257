package weir

import (
	"context"

	"weir/policy"
)

// Limiter decides whether the holder of a key may go on now. It is safe for concurrent use. Local is the one in this
// process; All joins several. ctx is for limiters that ask somebody else: to Local it matters in Wait alone.
type Limiter interface {
	// Allow is AllowN at a cost of 1.
	Allow(ctx context.Context, key string) Result
	// AllowN decides whether key may spend a cost now, and spends it if so. It never waits.
	AllowN(ctx context.Context, key string, c Cost) Result
	// Peek is what AllowN would answer, with Remaining and ResetAfter as they stand. It changes nothing.
	Peek(ctx context.Context, key string, c Cost) Result
	// Refund gives back a cost that an earlier request spent, never making the key better than new: for work that did not
	// happen after all. Refund soon: what has come back by itself in the meantime comes back twice. A key that is not known
	// stays so. Local gives no error.
	Refund(ctx context.Context, key string, c Cost) error
	// Forget makes key as if it had never been seen. Local gives no error.
	Forget(ctx context.Context, key string) error
	// Wait spends a cost as soon as the limit lets it. It sleeps until the exact moment; those who wait for one key are
	// served in the order in which they came. It gives up at once, with nothing spent, when the cost can never fit
	// (ErrTooCostly), when there is no room for the key (ErrFull), or when ctx ends before the cost can fit (an error that
	// wraps context.DeadlineExceeded); and when ctx ends, with its error.
	Wait(ctx context.Context, key string, c Cost) error
	// SetLimit puts the keys under another limit at once. What they have spent is kept, in permits, so that no change hands
	// out a fresh burst; what is owed beyond a smaller new burst is let go. A limit that is refused changes nothing; the error is as New's.
	SetLimit(ctx context.Context, l Limit) error
	// Limit is the limit in force.
	Limit() Limit
}

// Why a request was not allowed: what Result.Err and Wait give. Compare with errors.Is.
const (
	ErrDenied      = policy.ErrDenied
	ErrTooCostly   = policy.ErrTooCostly
	ErrFull        = policy.ErrFull
	ErrPastHorizon = policy.ErrPastHorizon
	ErrUnavailable = policy.ErrUnavailable
)

// Why New and SetLimit refuse a limit. All but ErrUnknownPolicy come in a *policy.LimitError or name the value at fault
// in their text. Compare with errors.Is.
const (
	ErrUnknownPolicy  = policy.ErrUnknownPolicy
	ErrInvalidSecond  = policy.ErrInvalidSecond
	ErrInvalidPermits = policy.ErrInvalidPermits
	ErrInvalidPeriod  = policy.ErrInvalidPeriod
	ErrInvalidBurst   = policy.ErrInvalidBurst
	ErrLimitTooLarge  = policy.ErrLimitTooLarge
	ErrInvalidMaxKeys = policy.ErrInvalidMaxKeys
)

// Cost is what a request spends: N makes one. The zero Cost spends nothing and is always allowed: it asks how a key stands.
type Cost struct{ first, second uint64 }

// N is a cost of n permits, the same in both limits of a dual bucket.
func N(n uint64) Cost { return Cost{n, n} }

// Both is a cost of first permits in the first limit of a dual bucket and of second in its second: requests and bytes,
// calls and tokens. A policy with one limit charges first and takes no notice of second. A Result's Remaining is then the
// smaller of two numbers of different things: read it with Binding.
func Both(first, second uint64) Cost { return Cost{first, second} }

// Permits is what c spends in each of two limits; of one limit the first.
func (c Cost) Permits() (first, second uint64) { return c.first, c.second }

// plus adds costs; a sum too large to count stays the largest.
func (c Cost) plus(d Cost) Cost { return Cost{sum(c.first, d.first), sum(c.second, d.second)} }

func sum(a, b uint64) uint64 {
	if a+b < a {
		return ^uint64(0)
	}
	return a + b
}
