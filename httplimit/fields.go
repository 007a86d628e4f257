package httplimit

import (
	"encoding/base64"
	"math"
	"strconv"
	"time"

	"weir"
	"weir/internal/arith"
	"weir/policy"
)

// This file writes the RateLimit and RateLimit-Policy fields of draft-ietf-httpapi-ratelimit-headers-11 as Structured Fields
// (RFC 9651): lists of strings with parameters, as every revision since -08 has them. What changes in a later one changes here.

// mostInteger is the largest Integer of a Structured Field: 15 digits.
const mostInteger = 999_999_999_999_999

// second is one, in nanoseconds.
const second = uint64(time.Second)

// quota is one limit as the fields tell it: burst permits, and in how many seconds that many come back.
type quota struct{ permits, window uint64 }

// quotaOf is the quota of a limit's three numbers. A sliding log has no burst but its permits.
func quotaOf(permits, burst uint64, period time.Duration, window bool) quota {
	if burst == 0 || window {
		burst = permits
	}
	if permits <= math.MaxUint64/second {
		return quota{burst, arith.MulDivCeil(burst, uint64(period), permits*second)}
	}
	nanoseconds := arith.MulDivCeil(burst, uint64(period), permits)
	return quota{burst, arith.MulDivCeil(nanoseconds, 1, second)}
}

// seconds is a wait in whole seconds, rounded up.
func seconds(d time.Duration) uint64 { return arith.MulDivCeil(uint64(max(0, d)), 1, second) }

// partition is the pk parameter of a key, nothing without a secret.
type partition struct {
	secret *policy.SipSecret
	key    string
}

// append writes 48 bits of a keyed hash: enough to tell one's own keys apart, too few and too well hidden to tell whose
// they are.
func (p partition) append(b []byte) []byte {
	if p.secret == nil {
		return b
	}
	h := policy.SipKey(p.key, *p.secret)
	six := [6]byte{byte(h >> 40), byte(h >> 32), byte(h >> 24), byte(h >> 16), byte(h >> 8), byte(h)}
	b = append(b, ";pk=:"...)
	b = base64.StdEncoding.AppendEncode(b, six[:])
	return append(b, ':')
}

// appendPolicies writes the items of RateLimit-Policy for a limit: one, or two for a dual bucket.
func appendPolicies(b []byte, name string, l weir.Limit, window bool, p partition) []byte {
	b = appendPolicy(b, name, quotaOf(l.Permits, l.Burst, l.Period, window), p)
	if l.Permits2 != 0 {
		b = appendPolicy(append(b, ", "...), name+secondName, quotaOf(l.Permits2, l.Burst2, l.Period2, window), p)
	}
	return b
}

func appendPolicy(b []byte, name string, q quota, p partition) []byte {
	b = appendString(b, name)
	b = appendParameter(b, ";q=", q.permits)
	b = appendParameter(b, ";w=", q.window)
	return p.append(b)
}

// secondName is added to the name of a rule for the second limit of a dual bucket.
const secondName = "-second"

// nameOf is the name of a rule's limit that binds.
func nameOf(name string, r weir.Result) string {
	if r.Binding() == policy.Second {
		return name + secondName
	}
	return name
}

// appendStanding writes the item of RateLimit for an answer: what remains, and for how long it cannot grow. A key that has
// all it can have has no such time.
func appendStanding(b []byte, name string, r weir.Result, p partition) []byte {
	b = appendString(b, nameOf(name, r))
	b = appendParameter(b, ";r=", r.Remaining())
	if next := r.Next(); next > 0 {
		b = appendParameter(b, ";t=", seconds(next))
	}
	return p.append(b)
}

// appendString writes a String; names hold nothing that it cannot.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

func appendParameter(b []byte, name string, n uint64) []byte {
	return strconv.AppendUint(append(b, name...), min(n, mostInteger), 10)
}
