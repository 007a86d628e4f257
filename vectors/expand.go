package vectors

import (
	"errors"
	"fmt"
	"math"
)

// MaxFill is how many rooms the fills of a case may take together; a port with more free is not filled.
const MaxFill = 65536

// firstFillKey is the key that the first fill of a case starts with: far from those that people choose.
const firstFillKey = 1 << 63

// fillAny as the number of rooms stands for whatever a port has.
const fillAny = math.MaxUint64

// errLargeFill is a fill that is no mistake of the case, but more than a port is put through.
var errLargeFill = errors.New("a fill too large")

// Expanded is a step as a port sees it, and the index of the step of the case that it stands for.
type Expanded struct {
	Step Step
	From int
}

// Expand is the steps of c as a port of maxKeys rooms sees them: each fill is replaced by takes, whose wants say no more
// than allow. The error says why a fill cannot be done.
func Expand(c Case, maxKeys uint64) ([]Expanded, error) { return expand(c.Steps, maxKeys) }

func expand(steps []Step, maxKeys uint64) ([]Expanded, error) {
	out := make([]Expanded, 0, len(steps))
	rooms := roomCount{held: map[Number]bool{}}
	next := Number(firstFillKey)
	for i, s := range steps {
		if s.Op != "fill" {
			rooms.after(s)
			out = append(out, Expanded{s, i})
			continue
		}
		n, err := rooms.toFill(maxKeys, uint64(*s.Leave))
		if err == nil && uint64(len(out)-i)+n > MaxFill {
			err = fmt.Errorf("%w: the fills of a case take more than %d rooms together", errLargeFill, MaxFill)
		}
		if err != nil {
			return nil, fmt.Errorf("fill at step %d: %w", i, err)
		}
		for range n {
			take := fillTake(*s.Now, next)
			next++
			rooms.after(take)
			out = append(out, Expanded{take, i})
		}
	}
	return out, nil
}

func fillTake(now, key Number) Step {
	one := Number(1)
	return Step{Op: "take", Now: &now, Key: &key, Cost: &one, Want: &Want{Outcome: "allow"}}
}

// roomCount follows which keys hold room, by what the steps must answer.
type roomCount struct {
	held   map[Number]bool
	unsure bool // a sweep has freed some and not all: nobody said which
}

func (r *roomCount) after(s Step) {
	switch {
	case s.Op == "take" && s.Want != nil && s.Want.Outcome == "allow" && spends(s):
		r.held[*s.Key] = true
	case s.Op == "forget":
		delete(r.held, *s.Key)
	case s.Op == "sweep" && s.Want != nil && s.Want.Keys != nil:
		switch left := uint64(*s.Want.Keys); {
		case left == 0:
			clear(r.held)
			r.unsure = false
		case left != uint64(len(r.held)):
			r.unsure = true
		}
	}
}

func spends(s Step) bool { return *s.Cost > 0 || s.Cost2 != nil && *s.Cost2 > 0 }

// toFill is how many rooms a fill must take so that leave of maxKeys are free.
func (r *roomCount) toFill(maxKeys, leave uint64) (uint64, error) {
	held := uint64(len(r.held))
	switch {
	case r.unsure:
		return 0, errors.New("a sweep before it has freed some keys and not all, so the rooms cannot be counted")
	case maxKeys == fillAny:
		return 0, nil
	case leave > maxKeys || held > maxKeys-leave:
		return 0, fmt.Errorf("%d rooms are held and %d must stay free, but max_keys is %d", held, leave, maxKeys)
	case maxKeys-leave-held > MaxFill:
		return 0, fmt.Errorf("%w: %d rooms to take, at most %d", errLargeFill, maxKeys-leave-held, MaxFill)
	}
	return maxKeys - leave - held, nil
}

// withoutProbes leaves out the peeks that only check a denial: those that directly follow it, one tick before and at the
// moment that it promised, of the same key and costs. left is whether any other peek remains.
func withoutProbes(steps []Expanded) (kept []Expanded, left bool) {
	var denied *Step
	for _, e := range steps {
		if e.Step.Op == "peek" && probes(denied, e.Step) {
			continue
		}
		left = left || e.Step.Op == "peek"
		denied = nil
		if w := e.Step.Want; w != nil && w.Outcome == "deny" && w.RetryAfter != nil && *w.RetryAfter != Never {
			denied = &e.Step
		}
		kept = append(kept, e)
	}
	return kept, left
}

// probes says whether peek s asks about the denial d at one of the two ticks that its retry_after tells apart.
func probes(d *Step, s Step) bool {
	if d == nil || !same(d.Key, s.Key) || !same(d.Cost, s.Cost) || !same(d.Cost2, s.Cost2) {
		return false
	}
	at := uint64(*d.Now) + uint64(*d.Want.RetryAfter)
	return uint64(*s.Now) == at || uint64(*s.Now)+1 == at
}

func same(a, b *Number) bool { return a == b || a != nil && b != nil && *a == *b }
