package httplimit

import (
	"errors"
	"fmt"
	"net/http"

	"weir"
	"weir/policy"
)

// Rule is one limit on requests.
type Rule struct {
	// Name is what clients read in the RateLimit fields and in the body of a denial: 1 to 64 printable ASCII characters. The
	// second limit of a dual bucket is told under the name with "-second" after it.
	Name string
	// Limiter decides. It may be any: Local, All, redislimit's. Of an All the fields tell the first member's limit.
	Limiter weir.Limiter
	// Plan says by which limiter a request is decided, instead of Limiter: one for each plan that customers can have. nil
	// means that the rule does not hold for the request; a nil *weir.Local is not nil here, so look it up in a map of
	// weir.Limiter.
	Plan func(*http.Request) weir.Limiter
	// Key says whose request it is. nil means the client's address with no proxy trusted, as Address has it.
	Key KeyFunc
	// Cost says what a request spends. nil means one permit.
	Cost func(*http.Request) weir.Cost
	// Skip says for which requests the rule does not hold. nil means for none.
	Skip func(*http.Request) bool
	// DryRun decides and spends, but lets the request go on whatever the answer, and tells the client nothing. An Observer of the
	// limiter counts what would have been denied.
	DryRun bool
}

// The bounds of rules.
const (
	mostRules   = 16
	longestName = 64
)

func (r *Rule) check(i int) error {
	at := fmt.Sprintf("rule %d (%.64q)", i+1, r.Name)
	if len(r.Name) < 1 || len(r.Name) > longestName {
		return fmt.Errorf("httplimit.New: %s: Name has %d bytes, must have from 1 to %d", at, len(r.Name), longestName)
	}
	for _, c := range []byte(r.Name) {
		if c < ' ' || c > '~' {
			return fmt.Errorf("httplimit.New: %s: Name holds the byte %#x, must be printable ASCII", at, c)
		}
	}
	if (r.Limiter == nil) == (r.Plan == nil) {
		return fmt.Errorf("httplimit.New: %s: of Limiter and Plan one must be given and the other nil", at)
	}
	return nil
}

// limiter is the one that decides a request, nil if the rule does not hold for it.
func (r *Rule) limiter(q *http.Request) weir.Limiter {
	switch {
	case r.Skip != nil && r.Skip(q):
		return nil
	case r.Plan != nil:
		return r.Plan(q)
	}
	return r.Limiter
}

// Option changes how New makes a Middleware.
type Option func(*Middleware) error

// Form is a way of telling a client how it stands.
type Form uint8

// The forms. All numbers are whole; waits are in seconds, rounded up.
const (
	// RateLimit is the RateLimit and RateLimit-Policy fields of the IETF draft, with an item for each rule: r is what
	// remains, t for how long it cannot grow, q the burst, and w in how long that much comes back.
	RateLimit Form = iota + 1
	// RateLimitTriple is RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset of the draft's revisions up to -06. It
	// and those that follow tell of one rule only: of a denied request the one with the longest wait, else the one with the
	// least remaining. The limit is the burst, and reset how long until the key is as good as new.
	RateLimitTriple
	// XRateLimit is the same as X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset.
	XRateLimit
	// XRateLimitEpoch is XRateLimit with a Reset in seconds since 1970 by this machine's clock, rounded up.
	XRateLimitEpoch
)

// WithForms tells clients how they stand in these forms, instead of RateLimit alone; in none if none is given. Retry-After is
// told in any case.
func WithForms(forms ...Form) Option {
	return func(m *Middleware) error {
		var has [XRateLimitEpoch + 1]bool
		for _, f := range forms {
			if f < RateLimit || f > XRateLimitEpoch {
				return fmt.Errorf("WithForms: form is %d, must be from %d to %d", f, RateLimit, XRateLimitEpoch)
			}
			has[f] = true
		}
		if has[XRateLimit] && has[XRateLimitEpoch] {
			return errors.New("WithForms: XRateLimit and XRateLimitEpoch are given, must be at most one of them")
		}
		m.forms = has
		return nil
	}
}

// WithPartitionKeys adds to the RateLimit fields a pk parameter: 48 bits of SipHash-2-4 of the key, by which a client can
// tell its quotas apart and nobody can tell whose they are. Give all machines the same secret, and one that is used for
// nothing else.
func WithPartitionKeys(secret policy.SipSecret) Option {
	return func(m *Middleware) error {
		m.secret = &secret
		return nil
	}
}

// FailOpen lets requests go on that a limiter has no answer for (full, unavailable, past its horizon), as if its rule did not
// hold for them. Without it they are answered 503.
func FailOpen() Option {
	return func(m *Middleware) error {
		m.open = true
		return nil
	}
}
