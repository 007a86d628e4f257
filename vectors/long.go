package vectors

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Generator is the name of the generator of long transcripts that Script is; README.md writes it out.
const Generator = "weir-1"

// Long is a long transcript: not its steps, which anybody can generate, but what its answers must hash to.
type Long struct {
	Format    int      `json:"format"`
	Policy    string   `json:"policy"`
	Params    Params   `json:"params"`
	MaxKeys   string   `json:"max_keys"`
	Needs     []string `json:"needs"`
	Generator string   `json:"generator"`
	Seed      Number   `json:"seed"`
	Steps     Number   `json:"steps"`
	Every     Number   `json:"every"`
	// Digests are the XXH64, seed 0, of all answers' lines so far, after each Every steps.
	Digests []Number `json:"digests"`
}

// LoadLong reads long/<policy>.json of a suite. The error is one line that names file, field and what is wrong.
func LoadLong(tree fs.FS, policy string) (Long, error) {
	name := "long/" + policy + ".json"
	l := loader{tree: tree}
	raw, err := l.read(name)
	if err != nil {
		return Long{}, err
	}
	var long Long
	if err := json.Unmarshal(raw, &long); err != nil {
		return Long{}, fmt.Errorf("%s: %w", name, err)
	}
	return long, long.check(name)
}

func (l Long) check(name string) error {
	bad := func(field, value, must string) error {
		return fmt.Errorf("%s: %s is %s: must be %s", name, field, value, must)
	}
	blocks := uint64(0)
	if l.Every > 0 {
		blocks = uint64(l.Steps / l.Every)
	}
	switch {
	case l.Format != Format:
		return bad("format", strconv.Itoa(l.Format), strconv.Itoa(Format))
	case !contains(Policies(), l.Policy):
		return bad("policy", strconv.Quote(l.Policy), "one of "+list(Policies()))
	case l.Generator != Generator:
		return bad("generator", strconv.Quote(l.Generator), Generator)
	case or0(l.Params.Permits) == 0 || or0(l.Params.Period) == 0:
		return bad("params", "without permits or period", "a limit")
	case l.Every == 0 || l.Steps%l.Every != 0:
		return bad("every", strconv.FormatUint(uint64(l.Every), 10), "a divisor of steps")
	case uint64(len(l.Digests)) != blocks:
		return bad("digests", fmt.Sprintf("%d long", len(l.Digests)), strconv.FormatUint(blocks, 10)+" long")
	}
	return nil
}

// Script generates the steps of a long transcript. Where it goes next depends on the last answer, since that is where the
// edges are: call Next and Answered in turn.
type Script struct {
	dual            bool
	period, stride  uint64
	burst, burst2   uint64
	random          uint64
	key, now        uint64
	at, wait, reset uint64 // of the last take or peek
}

// Script is the script of a long transcript from its first step.
func (l Long) Script() *Script {
	p := l.Params.Limit()
	s := &Script{dual: l.Policy == "dualbucket", period: p.Period, burst: p.Burst, burst2: p.Burst2, random: uint64(l.Seed)}
	s.stride = 2*p.Period/p.Permits + 1
	if s.burst == 0 {
		s.burst = p.Permits // a sliding log
	}
	return s
}

// draw is a number below n: the next of SplitMix64, by Guy Steele, Doug Lea and Christine Flood, modulo n.
func (s *Script) draw(n uint64) uint64 {
	s.random += 0x9E3779B97F4A7C15
	z := s.random
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return (z ^ z>>31) % n
}

// Next is the next step.
func (s *Script) Next() Step {
	if s.draw(4) == 0 {
		s.key = s.draw(9)
	}
	s.move()
	cost := s.cost(s.burst)
	cost2 := cost
	if s.dual {
		cost2 = s.cost(s.burst2)
	}
	op := s.draw(64)
	switch {
	case op < 48:
		return s.step("take", cost, cost2)
	case op < 56:
		return s.step("peek", cost, cost2)
	case op < 60:
		return s.step("refund", cost, cost2)
	case op < 62:
		return Step{Op: "forget", Key: number(s.key)}
	}
	return Step{Op: "sweep", Now: number(s.now)}
}

// move sets the clock: on the edge that the last answer named, a tick beside it, back, or on by about a permit.
func (s *Script) move() {
	switch r := s.draw(16); {
	case r < 3:
	case r < 9:
		s.now = beside(s.at+s.wait, s.draw(3))
	case r < 11:
		s.now = beside(s.at+s.reset, s.draw(3))
	case r < 12:
		s.now -= min(s.now, s.draw(s.period))
	default:
		s.now += s.draw(s.stride)
	}
}

// beside is edge - 1, edge or edge + 1, and at least 0.
func beside(edge, which uint64) uint64 { return max(1, edge+which) - 1 }

func (s *Script) cost(burst uint64) uint64 {
	switch r := s.draw(8); {
	case r < 5:
		return 1
	case r < 6:
		return 0
	case r < 7:
		return s.draw(burst + 2)
	}
	return burst
}

func (s *Script) step(op string, cost, cost2 uint64) Step {
	step := Step{Op: op, Now: number(s.now), Key: number(s.key), Cost: number(cost)}
	if s.dual {
		step.Cost2 = number(cost2)
	}
	return step
}

func number(n uint64) *Number { return (*Number)(&n) }

// Answered tells the script what the last step was answered.
func (s *Script) Answered(w Want) {
	if w.RetryAfter == nil || w.ResetAfter == nil {
		return
	}
	s.at, s.wait, s.reset = s.now, 0, uint64(*w.ResetAfter)
	if *w.RetryAfter != Never {
		s.wait = uint64(*w.RetryAfter)
	}
}

// Digest hashes answers as they come.
type Digest struct {
	policy string
	sum    xxhash.Digest
}

// Digest is the digest of no answers yet.
func (l Long) Digest() *Digest {
	d := &Digest{policy: l.Policy}
	d.sum.Reset()
	return d
}

// Add hashes one more answer: its line, and a line feed.
func (d *Digest) Add(w Want) { _, _ = d.sum.WriteString(d.line(w) + "\n") } // never fails

// Sum is the digest of all answers so far.
func (d *Digest) Sum() Number { return Number(d.sum.Sum64()) }

// line is an answer as the plain text protocol has it, from the outcome on: the fields that the policy has, "-" for the
// others; the number of keys alone for a sweep.
func (d *Digest) line(w Want) string {
	if w.Keys != nil {
		return strconv.FormatUint(uint64(*w.Keys), 10)
	}
	if w.RetryAfter == nil {
		return w.Outcome + " - - - - -"
	}
	wait := "-1"
	if *w.RetryAfter != Never {
		wait = strconv.FormatUint(uint64(*w.RetryAfter), 10)
	}
	delay, binding := "-", "-"
	if d.policy == "leakybucket" {
		delay = numberText(w.Delay)
	}
	if d.policy == "dualbucket" {
		binding = w.Binding
	}
	return w.Outcome + " " + numberText(w.Remaining) + " " + wait + " " + numberText(w.ResetAfter) + " " + delay + " " + binding
}
