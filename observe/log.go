package observe

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"weir"
	"weir/policy"
)

// seldom says one kind of thing once a minute at most, and how many it has left out.
type seldom struct {
	log     *slog.Logger
	limiter *weir.Local
	leftOut [policy.Unavailable + 2]atomic.Uint64 // by kind
}

// steppedBack is the kind of a clock's steps; the others are outcomes.
const steppedBack = policy.Unavailable + 1

func newSeldom(log *slog.Logger) (*seldom, error) {
	if log == nil {
		return nil, errors.New("observe: the logger is nil")
	}
	limiter, err := weir.New("gcra", weir.Per(1, time.Minute), weir.WithLogger(log))
	return &seldom{log: log, limiter: limiter}, err
}

func (s *seldom) say(ctx context.Context, kind policy.Outcome, text string, more ...any) {
	if !s.limiter.Allow(ctx, text).OK() {
		s.leftOut[kind].Add(1)
		return
	}
	s.log.WarnContext(ctx, text, append(more, "left_out", s.leftOut[kind].Swap(0))...)
}

// Log says odd things of the limiter of that name to log: that it is full, that its store is unavailable, that its clock is
// past its horizon; of each kind one a minute, with how many were left out since the last. A denial is nothing odd. The
// error says that the logger is nil.
func Log(log *slog.Logger, name string) (weir.Observer, error) {
	s, err := newSeldom(log)
	if err != nil {
		return weir.Observer{}, err
	}
	odd := map[policy.Outcome]string{
		policy.Full:        "weir: the limiter has no room for a new key",
		policy.PastHorizon: "weir: the clock is past what the limit can count exactly",
		policy.Unavailable: "weir: the limiter's store cannot be asked",
	}
	say := func(ctx context.Context, o policy.Outcome) {
		if text, is := odd[o]; is {
			s.say(ctx, o, text, "limit", name)
		}
	}
	return weir.Observer{
		Decided: func(ctx context.Context, _ weir.Cost, r weir.Result) { say(ctx, r.Outcome()) },
		Waited: func(ctx context.Context, _ weir.Cost, _ time.Duration, err error) {
			for o := range odd {
				if err != nil && errors.Is(err, o.Err()) {
					say(ctx, o)
				}
			}
		},
	}, nil
}

// Steady is c, and says to log when it has stepped back, by how much, once a minute at most: a limiter bears that, and then
// judges a key as of the earlier moment, but nobody wants it. Process-wide monotonic clocks never do. The error says what
// is nil.
func Steady(c weir.Clock, log *slog.Logger) (weir.Clock, error) {
	if c == nil {
		return nil, errors.New("observe: the clock is nil")
	}
	s, err := newSeldom(log)
	if err != nil {
		return nil, err
	}
	w := &watched{Clock: c, seldom: s}
	w.latest.Store(int64(c.Now()))
	return w, nil
}

type watched struct {
	weir.Clock
	seldom *seldom
	latest atomic.Int64
}

// Now reads latest before the clock: what another goroutine reads in between is no step back.
func (w *watched) Now() time.Duration {
	latest := w.latest.Load()
	now := w.Clock.Now()
	if int64(now) != latest && w.latest.CompareAndSwap(latest, int64(now)) && int64(now) < latest {
		w.seldom.say(context.Background(), steppedBack, "weir: the clock has stepped back", "by", time.Duration(latest)-now)
	}
	return now
}
