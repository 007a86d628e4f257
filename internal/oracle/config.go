package oracle

import (
	"fmt"
	"math/big"

	"weir/policy"
)

// The names of the policies that the model treats differently from the rest.
const (
	leakyBucket = "leakybucket"
	slidingLog  = "slidinglog"
	dualBucket  = "dualbucket"
)

// bound is 2^62: the largest quantities that production has to count exactly stay below it.
var bound = new(big.Int).Lsh(big.NewInt(1), 62)

// ConfigError refuses what New or Relimit was asked to make.
type ConfigError struct {
	// Code is the vectors' word: unknown_policy, invalid_second, invalid_permits, invalid_period,
	// invalid_burst, limit_too_large or invalid_max_keys; the first that applies, in this order, the first
	// limit before the second.
	Code string
}

// Error is the code in a sentence.
func (e *ConfigError) Error() string { return fmt.Sprintf("oracle: %s", e.Code) }

// rulesOf checks l as a limit of the policy called name and makes the rule or the two rules that it says. The
// error is a *ConfigError.
func rulesOf(name string, l policy.Limit) ([]rule, error) {
	switch name {
	case "gcra", "tokenbucket", leakyBucket, slidingLog, dualBucket:
	default:
		return nil, &ConfigError{Code: "unknown_policy"}
	}
	second := l.Permits2 != 0 || l.Period2 != 0 || l.Burst2 != 0
	if second != (name == dualBucket) {
		return nil, &ConfigError{Code: "invalid_second"}
	}
	if name == slidingLog {
		return windowRules(l)
	}
	return bucketRules(l, second)
}

// windowRules checks and makes the rule of a sliding log. Its burst may only repeat its permits.
func windowRules(l policy.Limit) ([]rule, error) {
	if code := invalid(l.Permits, l.Period, l.Burst == 0 || l.Burst == l.Permits); code != "" {
		return nil, &ConfigError{Code: code}
	}
	if whole(l.Period).Cmp(bound) >= 0 || whole(l.Permits).Cmp(bound) >= 0 {
		return nil, &ConfigError{Code: "limit_too_large"}
	}
	return []rule{&window{permits: l.Permits, period: l.Period}}, nil
}

// bucketRules checks and makes the rule of a bucket, and of the second one where there is a second.
func bucketRules(l policy.Limit, second bool) ([]rule, error) {
	numbers := [][3]uint64{{l.Permits, l.Period, l.Burst}}
	if second {
		numbers = append(numbers, [3]uint64{l.Permits2, l.Period2, l.Burst2})
	}
	var rules []rule
	for _, n := range numbers {
		if code := invalid(n[0], n[1], n[2] != 0); code != "" {
			return nil, &ConfigError{Code: code}
		}
		b := newBucket(n[0], n[1], n[2])
		if b.tooLarge() {
			return nil, &ConfigError{Code: "limit_too_large"}
		}
		rules = append(rules, b)
	}
	return rules, nil
}

// invalid is the code for a number that is missing or out of place; "" if there is none.
func invalid(permits, period uint64, burstOK bool) string {
	switch {
	case permits == 0:
		return "invalid_permits"
	case period == 0:
		return "invalid_period"
	case !burstOK:
		return "invalid_burst"
	}
	return ""
}

// whole is n as a number of any size.
func whole(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
