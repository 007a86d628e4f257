package policy

// Outcome is what became of a request. The numbers are the same in the C library.
type Outcome uint8

// The outcomes. Zero is none of them: a Decision that nobody made.
const (
	// Allow: the request conforms; its cost is spent (a peek spends nothing).
	Allow Outcome = iota + 1
	// Deny: the cost fits the limit but not now; RetryAfter says when it will.
	Deny
	// TooCostly: the cost is more than the burst, so it can never fit.
	TooCostly
	// Full: the key is new and a bounded table has no room for it.
	Full
	// PastHorizon: now is further than the limit can count exactly.
	PastHorizon
	// Unavailable: whoever keeps the state could not be asked. No in-process policy answers it.
	Unavailable
)

var outcomeWords = [...]string{"none", "allow", "deny", "too_costly", "full", "past_horizon", "unavailable"}

// String is the word that the vectors use: allow, deny, too_costly, full, past_horizon, unavailable.
func (o Outcome) String() string {
	if int(o) < len(outcomeWords) {
		return outcomeWords[o]
	}
	return outcomeWords[0]
}

// Err is nil for Allow and the sentinel of the same name for everything else: ErrDenied, ErrTooCostly,
// ErrFull, ErrPastHorizon, ErrUnavailable. The zero Outcome gives ErrUnavailable, since nobody answered.
func (o Outcome) Err() error {
	switch o {
	case Allow:
		return nil
	case Deny:
		return ErrDenied
	case TooCostly:
		return ErrTooCostly
	case Full:
		return ErrFull
	case PastHorizon:
		return ErrPastHorizon
	}
	return ErrUnavailable
}

// Binding says which of two limits binds a decision of a dual bucket. It is First wherever there is one limit.
type Binding uint8

// The two limits of a dual bucket.
const (
	First Binding = iota
	Second
)

// String is "first" or "second".
func (b Binding) String() string {
	if b == Second {
		return "second"
	}
	return "first"
}
