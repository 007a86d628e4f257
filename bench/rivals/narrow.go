package rivals

import (
	"slices"

	"weir/policy"
	"weir/tokenbucket"
	"weir/vectors"
)

// refused is the word for any refusal of a limit: the words of the suite are weir's own.
const refused = "refused"

// LeftOut is what a rival was not asked and why. Cases are left out whole; single steps only where the exact policy says
// that they change nothing, so that the rest of the case means what it meant.
type LeftOut struct {
	Cases  map[string]int // by reason
	Steps  map[string]int // by case that is left
	Fields map[string]int
}

// Narrow is the part of the suite that a rival can be asked, with only those fields to compare that it reports.
func Narrow(s vectors.Suite, name string, a Asks) (vectors.Suite, LeftOut) {
	left := LeftOut{Cases: map[string]int{}, Steps: map[string]int{}, Fields: map[string]int{}}
	out := vectors.Suite{Version: s.Version, Rules: s.Rules}
	for _, f := range s.Files {
		if f.Policy != name {
			continue
		}
		kept := f
		kept.Cases = nil
		for _, c := range f.Cases {
			if reason := a.narrowCase(&c, &left); reason != "" {
				left.Cases[reason]++
				continue
			}
			kept.Cases = append(kept.Cases, c)
		}
		if len(kept.Cases) > 0 {
			out.Files = append(out.Files, kept)
		}
	}
	return out, left
}

// narrowCase makes c what the rival can be asked; reason is why nothing of it can be.
func (a Asks) narrowCase(c *vectors.Case, left *LeftOut) (reason string) {
	if c.ConfigError != "" {
		return a.narrowConfig(c)
	}
	var probed *vectors.Step // the denial that the next peeks probe
	var steps []vectors.Step
	fields := 0
	for i := range c.Steps {
		s := c.Steps[i]
		isProbe := s.Op == "peek" && probes(probed, s)
		if !isProbe {
			probed = denial(s)
		}
		if isProbe && !slices.Contains(a.Can, vectors.CanPeek) {
			continue
		}
		switch drop, reason := a.asked(c.Params.Limit(), s); {
		case reason != "":
			return reason
		case drop:
			continue
		}
		if s.Want != nil {
			w, n := a.mask(s.Op, *s.Want)
			s.Want = &w
			fields += n
		}
		steps = append(steps, s)
	}
	if !slices.ContainsFunc(steps, func(s vectors.Step) bool { return s.Op == "take" || s.Op == "fill" }) {
		return "no request left to make"
	}
	left.Steps[c.ID] = len(c.Steps) - len(steps)
	left.Fields[c.ID] = fields
	c.Steps = steps
	return ""
}

// narrowConfig keeps the refusals that any limiter could make; which word it has for them is its own affair.
func (a Asks) narrowConfig(c *vectors.Case) (reason string) {
	switch {
	case !a.Config:
		return "no refusal of a limit"
	case !slices.Contains([]string{"invalid_permits", "invalid_period", "invalid_burst"}, c.ConfigError):
		return "a refusal of the suite's own"
	}
	c.ConfigError = refused
	return ""
}

// asked says whether step s can be left out of its case (drop), or the case cannot be asked at all (reason).
func (a Asks) asked(l policy.Limit, s vectors.Step) (drop bool, reason string) {
	if s.Op == "forget" && !a.Forget {
		return false, "forget"
	}
	if s.Op == "sweep" && slices.Contains(a.Can, vectors.CanSweep) && pastHorizon(l, uint64(*s.Now)) {
		return false, "sweep past the horizon"
	}
	if s.Want != nil && s.Want.Outcome == "past_horizon" {
		return true, "" // the horizon is the exact policy's
	}
	if s.Op != "take" && s.Op != "peek" || s.Want == nil {
		return false, ""
	}
	changes := s.Op == "take" && s.Want.Outcome == "allow" && *s.Cost > 0
	switch {
	case *s.Cost == 0 && !a.ZeroCost, a.Queues && s.Want.Outcome != "allow":
		return true, ""
	case uint64(*s.Cost) > a.MaxCost && changes:
		return false, "cost above its largest"
	case uint64(*s.Cost) > a.MaxCost:
		return true, ""
	case s.Op == "peek" && a.PeekCost > 0 && uint64(*s.Cost) != a.PeekCost:
		return true, ""
	}
	return false, ""
}

// pastHorizon says whether now is more than a bucket of that limit counts exactly.
func pastHorizon(l policy.Limit, now uint64) bool {
	exact, err := tokenbucket.New(l, policy.Options{})
	return err == nil && now > exact.Horizon()
}

// mask takes out of an answer what the rival does not report, and says how many fields that are.
func (a Asks) mask(op string, w vectors.Want) (vectors.Want, int) {
	reports := a.Fields(op, w.Outcome)
	n := 0
	hide := func(field string, there bool) bool {
		hidden := there && !slices.Contains(reports, field)
		if hidden {
			n++
		}
		return hidden
	}
	if hide("remaining", w.Remaining != nil) {
		w.Remaining = nil
	}
	if hide("retry_after", w.RetryAfter != nil) {
		w.RetryAfter = nil
	}
	if hide("reset_after", w.ResetAfter != nil) {
		w.ResetAfter = nil
	}
	if hide("delay", w.Delay != nil) {
		w.Delay = nil
	}
	if hide("keys", w.Keys != nil) {
		w.Keys = nil
	}
	if a.YesNo && w.Outcome == "too_costly" {
		w.Outcome = "deny"
	}
	return w, n
}

// denial is s if it is a request denied for a while; the peeks behind it prove its wait.
func denial(s vectors.Step) *vectors.Step {
	if s.Want == nil || s.Want.Outcome != "deny" || s.Want.RetryAfter == nil || *s.Want.RetryAfter == vectors.Never {
		return nil
	}
	return &s
}

// probes says whether peek s asks about the denial d at one of the two ticks that its wait tells apart.
func probes(d *vectors.Step, s vectors.Step) bool {
	if d == nil || *d.Key != *s.Key || *d.Cost != *s.Cost {
		return false
	}
	at := uint64(*d.Now) + uint64(*d.Want.RetryAfter)
	return uint64(*s.Now) == at || uint64(*s.Now)+1 == at
}
