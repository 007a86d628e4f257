package vectorgen

import (
	"encoding/json"
	"fmt"
	"reflect"

	"weir/internal/oracle"
	"weir/policy"
	"weir/vectors"
)

const (
	longSteps = 1_000_000
	longEvery = 1000
	longRooms = 8 // of the nine keys that the script draws, so that a full table occurs too
)

// longLimits are the limits of the long transcripts: small, so that every edge is met often, and none divides.
var longLimits = map[string]policy.Limit{
	"gcra":        {Permits: 3, Period: 1000, Burst: 5},
	"tokenbucket": {Permits: 7, Period: 100, Burst: 12},
	"leakybucket": {Permits: 5, Period: 333, Burst: 6},
	"slidinglog":  {Permits: 20, Period: 1000},
	"dualbucket":  {Permits: 7, Period: 1000, Burst: 9, Permits2: 3, Period2: 700, Burst2: 4},
}

// longSeeds start each policy's script elsewhere.
var longSeeds = map[string]vectors.Number{
	"gcra": 1, "tokenbucket": 2, "leakybucket": 3, "slidinglog": 4, "dualbucket": 5,
}

// Long is a policy's long transcript of so many steps, with the digests of production's answers. If check is set, every
// answer is the oracle's too, or there is an error.
func Long(name string, steps int, check bool) (vectors.Long, error) {
	l := longLimits[name]
	long := vectors.Long{Format: vectors.Format, Policy: name, Params: paramsOf(l), MaxKeys: fmt.Sprint(longRooms),
		Needs:     []string{vectors.CanMaxKeys, vectors.CanPeek, vectors.CanRefund, vectors.CanSweep},
		Generator: vectors.Generator, Seed: longSeeds[name], Steps: vectors.Number(steps), Every: longEvery}
	if l.Permits2 > 0 {
		long.Needs = append(long.Needs, vectors.CanCost2)
	}
	voices, err := longVoices(name, l, check)
	if err != nil {
		return long, err
	}
	script, digest := long.Script(), long.Digest()
	for i := 1; i <= steps; i++ {
		step := script.Next()
		want, err := agreed(name, voices, step)
		if err != nil {
			return long, fmt.Errorf("long/%s: step %d: %w", name, i-1, err)
		}
		script.Answered(want)
		if digest.Add(want); i%longEvery == 0 {
			long.Digests = append(long.Digests, digest.Sum())
		}
	}
	return long, nil
}

func longVoices(name string, l policy.Limit, check bool) ([]*voice, error) {
	var voices []*voice
	for _, b := range books() {
		if b.policy != name {
			continue
		}
		p, err := newProduction(b.make, l, policy.Options{MaxKeys: longRooms})
		if err != nil {
			return nil, err
		}
		voices = append(voices, &voice{name: "production", engine: p})
	}
	if check {
		m, err := oracle.New(name, l, true, longRooms)
		if err != nil {
			return nil, err
		}
		voices = append(voices, &voice{name: "oracle", engine: model{m: m}})
	}
	return voices, nil
}

// agreed is the answer to a step that all voices give.
func agreed(name string, voices []*voice, step vectors.Step) (vectors.Want, error) {
	first, err := voices[0].do(name, step)
	for _, v := range voices[1:] {
		other, err := v.do(name, step)
		if err != nil {
			return first, err
		}
		if !reflect.DeepEqual(first, other) {
			a, _ := json.Marshal(first)
			b, _ := json.Marshal(other)
			return first, fmt.Errorf("%s: %s says %s, %s says %s", step.Op, voices[0].name, a, v.name, b)
		}
	}
	return first, err
}

// layOutLong is the bytes of a long transcript's file: ten digests a line.
func layOutLong(l vectors.Long) ([]byte, error) {
	digests := l.Digests
	l.Digests = nil
	head, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return nil, err
	}
	const tail = "null\n}"
	out := append([]byte{}, head[:len(head)-len(tail)]...)
	out = append(out, '[')
	for i, d := range digests {
		if i > 0 {
			out = append(out, ',')
		}
		if i%5 == 0 {
			out = append(out, "\n    "...)
		} else {
			out = append(out, ' ')
		}
		text, err := d.MarshalJSON()
		if err != nil {
			return nil, err
		}
		out = append(out, text...)
	}
	return append(out, "\n  ]\n}\n"...), nil
}

func paramsOf(l policy.Limit) vectors.Params {
	switch {
	case l.Burst == 0:
		return windowParams(l.Permits, l.Period)
	case l.Permits2 == 0:
		return singleParams(l.Permits, l.Period, l.Burst)
	}
	return dualParams(l.Permits, l.Period, l.Burst, l.Permits2, l.Period2, l.Burst2)
}

// LongFiles are the files of all long transcripts, as Generate's; check is as Long's.
func LongFiles(check bool) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range vectors.Policies() {
		long, err := Long(name, longSteps, check)
		if err != nil {
			return nil, err
		}
		if files["long/"+name+".json"], err = layOutLong(long); err != nil {
			return nil, err
		}
	}
	return files, nil
}
