package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"weir"
	"weir/cmd/weir/internal/explain"
	"weir/policy"
	"weir/vectors"
)

// explanation is what explain was asked for.
type explanation struct {
	policy, at, id string
	limit          weir.Limit
	tick           time.Duration
}

// explainCommand tells a policy's decisions step by step: of requests of one key, or of a case of the vectors.
func explainCommand(a app, args []string) (int, error) {
	f := flags("explain")
	var e explanation
	f.StringVar(&e.policy, "policy", "gcra", "the `name` of the policy")
	f.TextVar(&e.limit, "limit", weir.Limit{}, "the `limit`: 3/s burst 1, or two for dualbucket: 100/s burst 20 & 5000/h")
	f.StringVar(&e.at, "at", "", "when one key asks: `ticks` with commas between, each perhaps with a cost: 0,100,333x2; under a dual bucket 0x1:1500 costs "+
		"1 of the first limit and 1500 of the second")
	tick := f.String("tick", "ms", "the `length` of a tick, which must divide the period: ns, us, ms, s ...")
	f.StringVar(&e.id, "case", "", "explain the case of the vectors of this `id`, gcra/basic/first-request, instead")
	if err := parse(a, f, args); err != nil {
		return usage, err
	}
	given := 0
	for _, text := range []string{e.limit.String(), e.at} {
		if text != "" {
			given++
		}
	}
	var err error
	if e.tick, err = parsePeriod("tick", *tick); err != nil {
		return usage, err
	}
	switch {
	case e.id != "" && given > 0:
		return usage, errors.New("case has its own limit and requests: leave --limit and --at out")
	case e.id == "" && e.limit == weir.Limit{}:
		return usage, errors.New("limit is missing: say --limit \"3/s burst 1\", or --case ID")
	case e.id == "" && e.at == "":
		return usage, errors.New("at is missing: say --at 0,100,333,334, or --case ID")
	}
	story, err := e.story()
	if err != nil {
		return usage, err
	}
	if err := story.Tell(a.ctx, a.out); err != nil {
		return usage, err
	}
	return good, nil
}

func (e *explanation) story() (explain.Story, error) {
	if e.id != "" {
		return caseOf(e.id)
	}
	if err := weir.Registry().Check(e.policy); err != nil {
		return explain.Story{}, err
	}
	l, err := e.inTicks()
	if err != nil {
		return explain.Story{}, err
	}
	s := explain.Story{Policy: e.policy, Params: paramsOf(l), MaxKeys: "1"}
	s.Steps, err = takes(e.at, e.policy == "dualbucket")
	return s, err
}

// caseOf finds a case of the built-in vectors.
func caseOf(id string) (explain.Story, error) {
	suite, err := vectors.Load(vectors.FS())
	if err != nil {
		return explain.Story{}, err
	}
	for _, f := range suite.Files {
		for _, c := range f.Cases {
			if c.ID == id {
				return explain.Of(f.Policy, c)
			}
		}
	}
	return explain.Story{}, fmt.Errorf("case is %q, must be the id of a case of steps in the vectors; \"weir vectors export\" shows them", id)
}

// inTicks is the limit in ticks of the length that was asked for.
func (e *explanation) inTicks() (policy.Limit, error) {
	if e.limit.Period%e.tick != 0 || e.limit.Period2%e.tick != 0 {
		return policy.Limit{}, fmt.Errorf("tick is %v, must divide the period of %s", e.tick, e.limit)
	}
	l := policy.Limit{Permits: e.limit.Permits, Period: uint64(e.limit.Period / e.tick), Burst: e.limit.Burst,
		Permits2: e.limit.Permits2, Period2: uint64(e.limit.Period2 / e.tick), Burst2: e.limit.Burst2}
	if l.Burst == 0 {
		l.Burst = l.Permits
	}
	if l.Burst2 == 0 {
		l.Burst2 = l.Permits2
	}
	if e.policy == "slidinglog" {
		l.Burst = 0 // it has none of its own
	}
	return l, nil
}

func paramsOf(l policy.Limit) vectors.Params {
	some := func(n uint64) *vectors.Number {
		if n == 0 {
			return nil
		}
		number := vectors.Number(n)
		return &number
	}
	return vectors.Params{Permits: some(l.Permits), Period: some(l.Period), Burst: some(l.Burst),
		Permits2: some(l.Permits2), Period2: some(l.Period2), Burst2: some(l.Burst2)}
}

// mostTakes is how many requests are explained at once; each takes some lines.
const mostTakes = 10_000

// takes reads TICK[xCOST[:COST2]],...
func takes(text string, two bool) ([]vectors.Step, error) {
	parts := strings.Split(text, ",")
	if len(parts) > mostTakes {
		return nil, fmt.Errorf("at has %d requests, must have at most %d", len(parts), mostTakes)
	}
	var steps []vectors.Step
	for _, part := range parts {
		now, cost, priced := strings.Cut(strings.TrimSpace(part), "x")
		if !priced {
			cost = "1"
		}
		cost, cost2, both := strings.Cut(cost, ":")
		s := vectors.Step{Op: "take", Key: new(vectors.Number)}
		bad := false
		for _, f := range []struct {
			text string
			to   **vectors.Number
		}{{now, &s.Now}, {cost, &s.Cost}, {cost2, &s.Cost2}} {
			if f.to == &s.Cost2 && !both {
				continue
			}
			n, err := strconv.ParseUint(f.text, 10, 64)
			number := vectors.Number(n)
			*f.to, bad = &number, bad || err != nil
		}
		if bad || both && !two {
			return nil, fmt.Errorf("at has %q, must be a whole number of ticks below 2^64, perhaps with a cost: 333x2; only a dual bucket takes 333x2:5", short(part))
		}
		steps = append(steps, s)
	}
	return steps, nil
}
