package redislimit

import (
	"context"

	"weir"
	"weir/policy"
)

// Request is one of a batch.
type Request struct {
	Key  string
	Cost weir.Cost
}

// AllowBatch decides requests in one round trip to each node that holds keys of them: those of one key in their order, as
// AllowN would one after the other. Results are in the order of the requests. The timeout is that of one call. Leases are
// not used.
func (l *Limiter) AllowBatch(ctx context.Context, requests []Request) []weir.Result {
	ctx = some(ctx)
	results := make([]weir.Result, len(requests))
	var calls []Call
	var questions []question
	var places []int
	sent, now, into := l.instant()
	for i, r := range requests {
		q := l.question("take", r.Key, r.Cost)
		if cached, ok := l.denials.answer(l, q); ok {
			l.counts.cached.Add(1)
			results[i] = cached
			continue
		}
		if l.clock != nil && now > q.force.rules.horizon {
			past := weir.NewResult(policy.Refused(policy.PastHorizon), tick, into)
			results[i] = l.settle(ctx, q, reply{result: past}).result
			continue
		}
		calls = append(calls, one(q.force.rules, q.op, l.told(now), q.name, q.cost))
		questions, places = append(questions, q), append(places, i)
	}
	if len(calls) == 0 {
		return results
	}
	limited, cancel := l.limited(ctx)
	defer cancel()
	replies := run(limited, l.store, calls)
	for i, q := range questions {
		r := reply{}
		a, err := replies[i].answer()
		switch {
		case err != nil:
			r.err = err
		case a.foreign != 0:
			r = l.exchange(limited, q)
		default:
			r = q.read(a, sent, into)
		}
		results[places[i]] = l.settle(ctx, q, r).result
	}
	return results
}
