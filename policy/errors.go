package policy

import (
	"errors"
	"fmt"
)

// code is a sentinel whose text is the word that vectors and ports use for it.
type code string

func (c code) Error() string { return string(c) }

// Why a limit is refused when a policy is made. A LimitError wraps one of them and says field, value and bound.
const (
	// ErrUnknownPolicy: the registry has no policy of that name.
	ErrUnknownPolicy = code("unknown_policy")
	// ErrInvalidSecond: a dual bucket without a second limit, or another policy with one.
	ErrInvalidSecond = code("invalid_second")
	// ErrInvalidPermits: no permits.
	ErrInvalidPermits = code("invalid_permits")
	// ErrInvalidPeriod: no period.
	ErrInvalidPeriod = code("invalid_period")
	// ErrInvalidBurst: no burst, or one that this policy or clock cannot have.
	ErrInvalidBurst = code("invalid_burst")
	// ErrLimitTooLarge: the limit cannot be counted exactly in 62 bits.
	ErrLimitTooLarge = code("limit_too_large")
	// ErrInvalidMaxKeys: a bounded table for no keys, or for more than can be held.
	ErrInvalidMaxKeys = code("invalid_max_keys")
)

// What a request can meet but an allowance; see the Outcome of the same name.
const (
	ErrDenied      = code("deny")
	ErrTooCostly   = code("too_costly")
	ErrFull        = code("full")
	ErrPastHorizon = code("past_horizon")
	ErrUnavailable = code("unavailable")
)

// Code is the word of the vectors that err wraps, such as "invalid_burst" or "past_horizon"; "" if it wraps none.
func Code(err error) string {
	var c code
	if errors.As(err, &c) {
		return string(c)
	}
	return ""
}

// LimitError says what is wrong with one number of a limit. It unwraps to the sentinel that Code names.
type LimitError struct {
	// Code is the vectors' word for the fault.
	Code string
	// Field is the number at fault: permits, period, burst, permits2, period2, burst2 or max_keys.
	Field string
	// Value is what the field holds.
	Value uint64
	// Need says how Value must stand to Bound: "at least", "at most" or "exactly".
	Need string
	// Bound is a value of the field that, with all else as it is, does not have this fault.
	Bound uint64
}

// Error is one line: code, field, value and bound.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %s is %d, must be %s %d", e.Code, e.Field, e.Value, e.Need, e.Bound)
}

// Unwrap is the sentinel that Code names.
func (e *LimitError) Unwrap() error { return code(e.Code) }

func tooSmall(c code, field string, value, bound uint64) error {
	return &LimitError{Code: string(c), Field: field, Value: value, Need: "at least", Bound: bound}
}

func tooLarge(field string, value, bound uint64) error {
	return &LimitError{Code: string(ErrLimitTooLarge), Field: field, Value: value, Need: "at most", Bound: bound}
}
