package redislimit

import (
	"context"
	"errors"
	"fmt"

	"weir"
	"weir/policy"
)

// instead is the answer to a question that the server could not be asked.
func (l *Limiter) instead(ctx context.Context, q question) weir.Result {
	l.counts.unavailable.Add(1)
	switch {
	case l.open:
		return weir.NewResult(policy.Answered(policy.Answer{Outcome: policy.Allow}, 0), tick, 0)
	case l.share != 0 && q.op == "take":
		return q.force.local.AllowN(ctx, q.key, q.plain)
	case l.share != 0:
		return q.force.local.Peek(ctx, q.key, q.plain)
	}
	return weir.NewResult(policy.Refused(policy.Unavailable), tick, 0)
}

// said takes note of whether the server could be asked, says so in the log when that changes, and makes of its error
// one that wraps ErrUnavailable.
func (l *Limiter) said(err error) error {
	if err == nil {
		if l.down.Load() && l.down.CompareAndSwap(true, false) {
			l.log.Info("redislimit: the server answers again", "policy", l.name, "prefix", l.prefix)
		}
		return nil
	}
	// A caller that goes, and a key that is not ours, say nothing of the server.
	if !errors.Is(err, context.Canceled) && !errors.As(err, new(errText)) && l.down.CompareAndSwap(false, true) {
		l.log.Warn("redislimit: the server cannot be asked", "policy", l.name, "prefix", l.prefix, "error", err)
	}
	return fmt.Errorf("%w: %w", policy.ErrUnavailable, err)
}
