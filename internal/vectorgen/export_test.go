package vectorgen

import "weir/policy"

// GenerateFor generates the files of one policy as if maker made it.
func GenerateFor(name string, maker policy.Maker) (map[string][]byte, error) {
	for _, b := range books() {
		if b.policy == name {
			b.make = maker
			return generate([]book{b})
		}
	}
	return nil, nil
}

// GenerateOne generates a file of one case that takes a permit of a GCRA and has a pin of what remains.
func GenerateOne(remaining uint64) (map[string][]byte, error) {
	r := c("one", "pinned", limit(1, 10, 3), rules("REMAINING"), take(0, 7, 1, want("allow", remaining, 0, 10)))
	b := books()[0]
	b.categories = []category{{"basic", []row{r}}}
	return generate([]book{b})
}

// LongCounts is what the first steps of a long transcript meet: outcomes, and how often a request came a tick too early, or
// on the very tick that the last denial named, or at an earlier now than the request before it.
func LongCounts(name string, steps int) (map[string]int, error) {
	long, err := Long(name, 0, false)
	if err != nil {
		return nil, err
	}
	voices, err := longVoices(name, longLimits[name], false)
	if err != nil {
		return nil, err
	}
	counts, script := map[string]int{}, long.Script()
	var last, due, key uint64
	for range steps {
		step := script.Next()
		want, err := agreed(name, voices, step)
		if err != nil {
			return nil, err
		}
		script.Answered(want)
		if want.RetryAfter == nil {
			continue
		}
		now := uint64(*step.Now)
		counts[want.Outcome]++
		switch {
		case want.Outcome == "deny" && *want.RetryAfter == 1:
			counts["denied a tick early"]++
		case want.Outcome == "allow" && due > 0 && now == due && uint64(*step.Key) == key:
			counts["allowed on the tick"]++
		}
		if now < last {
			counts["back"]++
		}
		last, due, key = now, 0, uint64(*step.Key)
		if want.Outcome == "deny" {
			due = now + uint64(*want.RetryAfter)
		}
	}
	return counts, nil
}
