package agree_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"weir/policy"
)

// source draws a number below n; any number for n = 0.
type source func(n uint64) uint64

// seeded is a stream that is the same in every run; WEIR_SEED chooses another one. The stream number keeps tests apart.
func seeded(t testing.TB, stream uint64) source {
	t.Helper()
	seed := uint64(1)
	if s := os.Getenv("WEIR_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 0, 64)
		require.NoError(t, err, "WEIR_SEED")
		seed = n
	}
	t.Logf("PCG seed %d, stream %d", seed, stream)
	r := rand.New(rand.NewPCG(seed, stream))
	return func(n uint64) uint64 {
		if n == 0 {
			return r.Uint64()
		}
		return r.Uint64N(n)
	}
}

// shrinking is a stream that rapid makes smaller where a program fails.
func shrinking(t *rapid.T) source {
	return func(n uint64) uint64 { return rapid.Uint64Range(0, n-1).Draw(t, "n") } // n = 0 wraps to all
}

// fuzzed is a stream of bytes; when they are used up it gives 0 for ever, and says so.
func fuzzed(data []byte) (draw source, ended func() bool) {
	draw = func(n uint64) uint64 {
		var b [8]byte
		size := 8
		if n > 0 && n <= 256 {
			size = 1
		}
		data = data[copy(b[:size], data):]
		v := binary.LittleEndian.Uint64(b[:])
		if n == 0 {
			return v
		}
		return v % n
	}
	return draw, func() bool { return len(data) == 0 }
}

// sized is from 1 to below 2^bits, every length in bits equally often.
func sized(draw source, bits uint64) uint64 {
	top := uint64(1) << draw(bits)
	return top | draw(top)
}

const bound = 1 << 62

// bucketLimit is a valid limit of one bucket: half of them tiny, so that edges are met often, the others of every size
// up to the largest.
func bucketLimit(draw source) policy.Limit {
	for range 8 {
		l := anyBucket(draw)
		if _, err := l.Scale(); err == nil {
			return l
		}
	}
	return policy.Limit{Permits: 3, Period: 10, Burst: 2}
}

func anyBucket(draw source) policy.Limit {
	switch draw(10) {
	case 0:
		return policy.Limit{Permits: 1 + draw(1000), Period: 1e9, Burst: 1 + draw(200)} // nanoseconds
	case 1:
		return policy.Limit{Permits: sized(draw, 62), Period: sized(draw, 62), Burst: sized(draw, 62)}
	case 2:
		return policy.Limit{Permits: sized(draw, 20), Period: sized(draw, 40), Burst: sized(draw, 20)}
	case 3: // the largest tolerance there is
		q := sized(draw, 62)
		return policy.Limit{Permits: sized(draw, 20), Period: q, Burst: (bound - 1) / q}
	case 4: // the largest tick, and few ticks to the horizon
		return policy.Limit{Permits: bound - 1 - draw(5), Period: 1 + draw(5), Burst: 1 + draw(3)}
	}
	return policy.Limit{Permits: 1 + draw(12), Period: 1 + draw(40), Burst: 1 + draw(12)}
}

// limitFor is a valid limit of the policy of that name.
func limitFor(draw source, name string) policy.Limit {
	switch name {
	case "slidinglog":
		l := policy.Limit{Permits: 1 + draw(12), Period: 1 + draw(40)}
		if draw(4) == 0 {
			l = policy.Limit{Permits: sized(draw, 62), Period: sized(draw, 62)}
		}
		l.Burst = l.Permits * draw(2)
		return l
	case "dualbucket":
		l, second := bucketLimit(draw), bucketLimit(draw)
		if draw(2) == 0 { // a slower one with more burst: both bind now and then
			second = policy.Limit{Permits: l.Permits, Period: l.Period * 2, Burst: l.Burst + 1}
		}
		l.Permits2, l.Period2, l.Burst2 = second.Permits, second.Period, second.Burst
		if _, _, err := l.Scales(); err != nil {
			return policy.Limit{Permits: 3, Period: 10, Burst: 2, Permits2: 7, Period2: 50, Burst2: 3}
		}
		return l
	}
	return bucketLimit(draw)
}

func add(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

func sub(a, b uint64) uint64 { return a - min(a, b) }
