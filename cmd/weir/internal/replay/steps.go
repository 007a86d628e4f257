package replay

import (
	"weir/dualbucket"
	"weir/gcra"
	"weir/leakybucket"
	"weir/policy"
	"weir/slidinglog"
	"weir/tokenbucket"
)

// Steps is a policy's own arithmetic over the states of keys 0, 1, 2 and so on. Unlike a key table it never drops an idle
// key, so that its answers are the contract's on a clock that steps back too.
type Steps struct {
	// Take decides a request at a tick, and spends if it is allowed; a dual bucket is charged the cost twice.
	Take func(id int, now, cost uint64) policy.Decision
	// Peek is what Take would decide; it changes nothing.
	Peek func(id int, now, cost uint64) policy.Decision
	// Horizon is the largest now that is decided, in ticks.
	Horizon uint64
}

// states are by key. A key never seen has the fresh one.
type states[S any] struct {
	all   []S
	fresh S
}

func (s *states[S]) at(id int) *S {
	for id >= len(s.all) {
		s.all = append(s.all, s.fresh)
	}
	return &s.all[id]
}

// rules are what four of the five policies have alike.
type rules[S any] interface {
	Fresh() S
	Horizon() uint64
	Step(s *S, now, cost, cost2 uint64) policy.Decision
	Peek(s S, now, cost, cost2 uint64) policy.Decision
}

func stepsOf[S any](r rules[S], err error) (Steps, error) {
	if err != nil {
		return Steps{}, err
	}
	s := &states[S]{fresh: r.Fresh()}
	return Steps{
		Take:    func(id int, now, cost uint64) policy.Decision { return r.Step(s.at(id), now, cost, cost) },
		Peek:    func(id int, now, cost uint64) policy.Decision { return r.Peek(*s.at(id), now, cost, cost) },
		Horizon: r.Horizon(),
	}, nil
}

// NewSteps makes the steps of one of the five policies under a limit. The error wraps policy.ErrUnknownPolicy or is a
// *policy.LimitError.
func NewSteps(name string, l policy.Limit) (Steps, error) {
	switch name {
	case "gcra":
		return gcraSteps(l)
	case "tokenbucket":
		return stepsOf(tokenbucket.NewRules(l))
	case "leakybucket":
		return stepsOf(leakybucket.NewRules(l))
	case slidingLog:
		return logSteps(l)
	case dualBucket:
		return stepsOf(dualbucket.NewRules(l))
	}
	return Steps{}, unknown(name)
}

// gcraSteps differ in that a state is one word and is handed over by value.
func gcraSteps(l policy.Limit) (Steps, error) {
	r, err := gcra.NewRules(l)
	if err != nil {
		return Steps{}, err
	}
	s := &states[gcra.State]{} // a key never seen has a theoretical arrival time of 0
	return Steps{
		Take: func(id int, now, cost uint64) policy.Decision {
			state := s.at(id)
			next, d := r.Step(*state, now, cost)
			*state = next
			return d
		},
		Peek:    func(id int, now, cost uint64) policy.Decision { return r.Peek(*s.at(id), now, cost) },
		Horizon: r.Scale().Horizon,
	}, nil
}

// logSteps differ in that the entries of all logs stand in one memory, which has to know whose they are.
func logSteps(l policy.Limit) (Steps, error) {
	bare, err := slidinglog.NewRules(l)
	if err != nil {
		return Steps{}, err
	}
	s := &states[slidinglog.State]{fresh: bare.Fresh()}
	r := bare.Settle(nil, func(key uint64) *slidinglog.State { return s.at(int(key)) })
	return Steps{
		Take: func(id int, now, cost uint64) policy.Decision {
			state := s.at(id)
			known := *state != s.fresh
			d := r.Step(state, now, cost, cost)
			if !known && *state != s.fresh {
				r.Keep(uint64(id), *state)
			}
			return d
		},
		Peek:    func(id int, now, cost uint64) policy.Decision { return r.Peek(*s.at(id), now, cost, cost) },
		Horizon: r.Horizon(),
	}, nil
}
