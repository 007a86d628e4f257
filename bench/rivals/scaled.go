package rivals

import (
	"context"
	"errors"
	"slices"

	"weir/policy"
	"weir/tokenbucket"
	"weir/vectors"
)

// scaled makes a tick longer than a nanosecond for a driver that counts nanoseconds: times are multiplied on the way in
// and divided, rounded up, on the way out. It changes no answer of an exact limiter.
type scaled struct {
	vectors.Driver
	hello vectors.Hello
	tick  uint64
}

// Hello is what the driver has said already: it is asked once, not for each length of the tick.
func (s *scaled) Hello(context.Context) (vectors.Hello, error) { return s.hello, nil }

// Run answers one case, and skips one whose times get too large.
func (s *scaled) Run(ctx context.Context, q vectors.Request) (vectors.Reply, error) {
	if s.tick == 1 {
		return s.Driver.Run(ctx, q)
	}
	if !s.fits(q) {
		return vectors.Reply{Skipped: "a time too large in nanoseconds"}, nil
	}
	times := func(n *vectors.Number) *vectors.Number {
		if n == nil {
			return nil
		}
		v := *n * vectors.Number(s.tick)
		return &v
	}
	q.Params.Period = times(q.Params.Period)
	steps := make([]vectors.Step, len(q.Steps))
	for i, one := range q.Steps {
		one.Now = times(one.Now)
		steps[i] = one
	}
	q.Steps = steps
	reply, err := s.Driver.Run(ctx, q)
	for i := range reply.Results {
		s.divide(&reply.Results[i])
	}
	return reply, err
}

// fits says whether weir itself would count the case exactly in nanoseconds: it must not be longer ticks alone that make a
// number too large for the rival.
func (s *scaled) fits(q vectors.Request) bool {
	const bound = uint64(1) << 62
	l := q.Params.Limit()
	if l.Period >= bound/s.tick {
		return false
	}
	l.Period *= s.tick
	if _, err := tokenbucket.New(l, policy.Options{}); errors.Is(err, policy.ErrLimitTooLarge) {
		return false
	}
	return !slices.ContainsFunc(q.Steps, func(one vectors.Step) bool {
		return one.Now != nil && (uint64(*one.Now) >= bound/s.tick || pastHorizon(l, uint64(*one.Now)*s.tick))
	})
}

func (s *scaled) divide(w *vectors.Want) {
	for _, n := range []*vectors.Number{w.ResetAfter, w.Delay} {
		if n != nil {
			*n = (*n + vectors.Number(s.tick) - 1) / vectors.Number(s.tick)
		}
	}
	if w.RetryAfter != nil && *w.RetryAfter != vectors.Never {
		*w.RetryAfter = (*w.RetryAfter + vectors.Wait(s.tick) - 1) / vectors.Wait(s.tick)
	}
}
