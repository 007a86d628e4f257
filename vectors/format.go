package vectors

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is a quantity of the suite: in JSON a string of canonical decimal, so that no reader ever goes through a
// float. Canonical means digits only, and no leading zero but in "0".
type Number uint64

// MarshalJSON writes the number as a quoted decimal.
func (n Number) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(n), 10)), nil
}

// UnmarshalJSON reads a quoted canonical decimal from 0 to 2^64-1 and refuses everything else.
func (n *Number) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("%s: a quantity must be a JSON string of decimal digits", b)
	}
	v, ok := canonical(s)
	if !ok {
		return fmt.Errorf("%q: not a canonical decimal from 0 to 2^64-1", s)
	}
	*n = v
	return nil
}

// Wait is a Number of ticks that can also be never, which JSON has as "-1".
type Wait uint64

// Never is the wait that has no end.
const Never Wait = math.MaxUint64

// MarshalJSON writes the wait as a quoted decimal, Never as "-1".
func (w Wait) MarshalJSON() ([]byte, error) {
	if w == Never {
		return []byte(`"-1"`), nil
	}
	return Number(w).MarshalJSON()
}

// UnmarshalJSON reads a quoted canonical decimal from 0 to 2^63-1, or "-1" for Never.
func (w *Wait) UnmarshalJSON(b []byte) error {
	if string(b) == `"-1"` {
		*w = Never
		return nil
	}
	if err := (*Number)(w).UnmarshalJSON(b); err != nil {
		return err
	}
	if *w > math.MaxInt64 {
		return fmt.Errorf("%s: must be at most %d, or \"-1\" for never", b, uint64(math.MaxInt64))
	}
	return nil
}

// File is one file of the suite: the cases of one category of one policy.
type File struct {
	Format   int    `json:"format"`
	Policy   string `json:"policy"`
	Category string `json:"category"`
	Cases    []Case `json:"cases"`
}

// Case is the unit of the suite: a fresh policy and the steps that it is put through, or the error with which its
// parameters are refused.
type Case struct {
	ID          string   `json:"id"`
	Comment     string   `json:"comment"`
	Rules       []string `json:"rules"`
	Kills       []string `json:"kills,omitempty"`
	Needs       []string `json:"needs,omitempty"`
	Params      Params   `json:"params"`
	MaxKeys     string   `json:"max_keys"`
	ConfigError string   `json:"config_error,omitempty"`
	Steps       []Step   `json:"steps,omitempty"`
}

// Params are a limit; an absent number is 0.
type Params struct {
	Permits  *Number `json:"permits,omitempty"`
	Period   *Number `json:"period,omitempty"`
	Burst    *Number `json:"burst,omitempty"`
	Permits2 *Number `json:"permits2,omitempty"`
	Period2  *Number `json:"period2,omitempty"`
	Burst2   *Number `json:"burst2,omitempty"`
}

// Step is one operation and, in a file, what it must answer.
//
// fill is the one step that no port ever sees: Expand makes takes of it, of keys 2^63, 2^63+1, ... (a second fill of
// the case goes on where the first stopped), until leave of the table's rooms are free. The rooms that are taken
// already are counted from the case's own wants, so no fill may follow a sweep that freed some keys but not all.
type Step struct {
	Op     string  `json:"op"`
	Now    *Number `json:"now,omitempty"`
	Key    *Number `json:"key,omitempty"`
	Cost   *Number `json:"cost,omitempty"`
	Cost2  *Number `json:"cost2,omitempty"`
	Leave  *Number `json:"leave,omitempty"`  // fill only
	Params *Params `json:"params,omitempty"` // relimit only
	Want   *Want   `json:"want,omitempty"`
}

// Want is an answer: take and peek have the whole of it (delay for a leaky bucket only, binding for a dual bucket only),
// refund, forget and relimit the outcome, sweep and keys the number of keys. A relimit that is refused has the word of
// the refusal as its outcome: past_horizon, or a word of config_error.
type Want struct {
	Outcome    string  `json:"outcome,omitempty"`
	Remaining  *Number `json:"remaining,omitempty"`
	RetryAfter *Wait   `json:"retry_after,omitempty"`
	ResetAfter *Number `json:"reset_after,omitempty"`
	Delay      *Number `json:"delay,omitempty"`
	Binding    string  `json:"binding,omitempty"`
	Keys       *Number `json:"keys,omitempty"`
}

// HashFile is one file of hash vectors: what Hash ("xxh64" or "mix32") makes of each input.
type HashFile struct {
	Format int        `json:"format"`
	Hash   string     `json:"hash"`
	Cases  []HashCase `json:"cases"`
}

// HashCase is one input of a hash and the key that comes of it: bytes and a seed for xxh64, a 32-bit number for mix32.
type HashCase struct {
	ID      string  `json:"id"`
	Comment string  `json:"comment,omitempty"`
	Hex     *string `json:"hex,omitempty"`  // xxh64 only: the bytes, two lower-case digits each
	Seed    *Number `json:"seed,omitempty"` // xxh64 only, up to 2^64-1
	In      *Number `json:"in,omitempty"`   // mix32 only, up to 2^32-1
	Want    *Number `json:"want,omitempty"`
}

// RulesFile is rules.json: every rule that a case may say it tests.
type RulesFile struct {
	Format int             `json:"format"`
	Rules  map[string]Rule `json:"rules"`
}

// Rule is one sentence of the contract.
type Rule struct {
	Says    string `json:"says"`    // the sentence
	Where   string `json:"where"`   // the section of README.md that it stands in
	Catches string `json:"catches"` // the fault that breaks it
}
