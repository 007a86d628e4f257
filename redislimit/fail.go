package redislimit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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
	switch {
	case errors.Is(err, context.Canceled): // a caller that goes says nothing of the server
	case strange(err):
		l.logStrange(err)
	case l.down.CompareAndSwap(false, true):
		l.log.Warn("redislimit: the server cannot be asked", "policy", l.name, "prefix", l.prefix, "error", err)
	}
	return fmt.Errorf("%w: %w", policy.ErrUnavailable, err)
}

// strange says whether an error is that of a key that holds what is not ours: it says nothing of the server either. Where
// in the text a server has the word depends on its version. "attempt to" is Lua's, of members of a set that are no entries,
// and "unfinished string" that of a text without its end.
func strange(err error) bool {
	text := err.Error()
	return errors.As(err, new(errText)) || strings.Contains(text, "WRONGTYPE") || strings.Contains(text, "attempt to") ||
		strings.Contains(text, "unfinished string")
}

// strangeEvery is how often strange keys are logged at most: strangers may choose which are asked for.
const strangeEvery = time.Minute

func (l *Limiter) logStrange(err error) {
	now, last := int64(time.Since(l.base))+1, l.strange.Load()
	if (last == 0 || now-last >= int64(strangeEvery)) && l.strange.CompareAndSwap(last, now) {
		l.log.Warn("redislimit: a key holds what is not of this package", "policy", l.name, "prefix", l.prefix, "error", err)
	}
}
