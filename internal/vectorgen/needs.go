package vectorgen

import (
	"math/bits"
	"slices"

	"weir/vectors"
)

// Bounds of the capabilities.
const (
	exactDouble = 1 << 53 // beyond it a double is not exact
	shortLog    = 4096    // entries a key, beyond which a port must be able to hold a long log
)

// needs is what a port must be able to do to run the case, in the order in which the suite lists capabilities.
func needs(name string, done vectors.Case) []string {
	has := map[string]bool{
		vectors.CanMaxKeys: done.MaxKeys != "*",
		vectors.CanPeek:    peeks(done.Steps),
		vectors.CanInt64:   beyondDouble(name, done),
		vectors.CanLongLog: name == "slidinglog" && done.ConfigError == "" && holdsLong(done.Params),
	}
	for _, s := range done.Steps {
		switch s.Op {
		case "refund":
			has[vectors.CanRefund] = true
		case "relimit":
			has[vectors.CanRelimit] = true
			if name == "slidinglog" && holdsLong(*s.Params) {
				has[vectors.CanLongLog] = true
			}
		case "sweep", "keys":
			has[vectors.CanSweep] = true
		}
		if s.Cost2 != nil {
			has[vectors.CanCost2] = true
		}
	}
	var list []string
	for _, c := range vectors.Capabilities() {
		if has[c] {
			list = append(list, c)
		}
	}
	return list
}

// peeks says whether any peek is left when those that only check the denial before them are taken away.
func peeks(steps []vectors.Step) bool {
	var denied *vectors.Step
	for i := range steps {
		s := &steps[i]
		if s.Op == "peek" && checks(denied, s) {
			continue
		}
		if s.Op == "peek" {
			return true
		}
		if denied = nil; s.Want != nil && s.Want.Outcome == "deny" {
			denied = s
		}
	}
	return false
}

func checks(denied, s *vectors.Step) bool {
	if denied == nil || *denied.Key != *s.Key || *denied.Cost != *s.Cost || value(denied.Cost2) != value(s.Cost2) {
		return false
	}
	due := uint64(*denied.Now) + uint64(*denied.Want.RetryAfter)
	return uint64(*s.Now) == due || uint64(*s.Now)+1 == due
}

// holdsLong says whether a log under the limit may come to hold more than 4,096 entries a key.
func holdsLong(p vectors.Params) bool { return min(value(p.Permits), value(p.Period)) > shortLog }

// beyondDouble says whether any number of the case, or now, TAT or L in units, is beyond 2^53. The keys of a fill are.
func beyondDouble(name string, done vectors.Case) bool {
	if slices.ContainsFunc(numbersOf(done.Params), tooBig) {
		return true
	}
	p := done.Params
	if done.ConfigError == "" && toleranceTooBig(name, p) {
		return true
	}
	for _, s := range done.Steps {
		if s.Op == "fill" || slices.ContainsFunc(numbers(s), tooBig) {
			return true
		}
		if s.Op == "relimit" {
			if slices.ContainsFunc(numbersOf(*s.Params), tooBig) {
				return true
			}
			if s.Want.Outcome == "allow" {
				p = *s.Params
			}
		}
		if timeTooBig(name, p, s) || toleranceTooBig(name, p) {
			return true
		}
	}
	return false
}

// timeTooBig looks at now and at the moment at which the key is idle again, which is TAT, in the units of each limit.
func timeTooBig(name string, p vectors.Params, s vectors.Step) bool {
	latest := value(s.Now)
	if s.Want != nil {
		latest += value(s.Want.ResetAfter)
	}
	for _, l := range pairs(p) {
		tick := uint64(1)
		if name != "slidinglog" {
			tick = l[0] / max(1, gcd(l[0], l[1]))
		}
		if hi, lo := bits.Mul64(latest, tick); hi != 0 || lo > exactDouble {
			return true
		}
	}
	return false
}

func toleranceTooBig(name string, p vectors.Params) bool {
	if name == "slidinglog" {
		return false
	}
	for _, l := range pairs(p) {
		if hi, lo := bits.Mul64(l[2], l[1]/max(1, gcd(l[0], l[1]))); hi != 0 || lo > exactDouble {
			return true
		}
	}
	return false
}

// pairs are the one or two limits: permits, period and burst.
func pairs(p vectors.Params) [][3]uint64 {
	return [][3]uint64{{value(p.Permits), value(p.Period), value(p.Burst)},
		{value(p.Permits2), value(p.Period2), value(p.Burst2)}}
}

func numbersOf(p vectors.Params) []*vectors.Number {
	return []*vectors.Number{p.Permits, p.Period, p.Burst, p.Permits2, p.Period2, p.Burst2}
}

func numbers(s vectors.Step) []*vectors.Number {
	all := []*vectors.Number{s.Now, s.Key, s.Cost, s.Cost2, s.Leave}
	if w := s.Want; w != nil {
		all = append(all, w.Remaining, w.ResetAfter, w.Delay, w.Keys)
		if w.RetryAfter != nil && *w.RetryAfter != never {
			all = append(all, num(uint64(*w.RetryAfter)))
		}
	}
	return all
}

func tooBig(n *vectors.Number) bool { return value(n) > exactDouble }

func value(n *vectors.Number) uint64 {
	if n == nil {
		return 0
	}
	return uint64(*n)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
