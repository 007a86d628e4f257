package redislimit_test

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/redislimit"
)

// between does something before the first batch of calls that carries a key over.
type between struct {
	redislimit.Store
	once func()
}

func (b *between) Run(ctx context.Context, calls []redislimit.Call) []redislimit.Reply {
	if len(calls) > 1 && b.once != nil {
		once := b.once
		b.once = nil
		once()
	}
	return b.Store.Run(ctx, calls)
}

// TestCarryRace: somebody who still has the old limit spends while a key is being carried over: his charge is carried too.
func TestCarryRace(t *testing.T) {
	_, conn := dial(t)
	for name, texts := range map[string][2]string{"gcra": {"10/d", "20/d"}, "tokenbucket": {"10/d", "20/d"},
		"leakybucket": {"10/d", "20/d"}, "dualbucket": {"10/d & 30/d", "20/d & 40/d"}} {
		old := limiter(t, conn, name, parse(t, texts[0]))
		require.True(t, old.AllowN(ctx, "k", weir.N(2)).OK())
		store := &between{Store: conn, once: func() { require.True(t, old.AllowN(ctx, "k", weir.N(3)).OK()) }}
		fresh := limiter(t, store, name, parse(t, texts[1]))
		r := fresh.AllowN(ctx, "k", weir.N(1))
		assert.True(t, r.OK(), name)
		assert.Equal(t, uint64(20-6), r.Remaining(), name)
	}
}

// TestExpiryToTheMillisecond: a key goes after it is as good as new, and no more than four milliseconds after, as a script
// sees it at one moment.
func TestExpiryToTheMillisecond(t *testing.T) {
	_, conn := dial(t)
	const look = `local t = redis.call('TIME')
return {t[1] * 1000000 + t[2], redis.call('PTTL', KEYS[1]), redis.call('TYPE', KEYS[1]).ok == 'zset' and redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or redis.call('GET', KEYS[1])}`
	for _, name := range weir.Names() {
		l := limiter(t, conn, name, parse(t, limits[name]))
		require.True(t, l.AllowN(ctx, "k", weir.N(1)).OK())
		r := conn.Run(ctx, []redislimit.Call{{Source: look, Keys: []string{"weir:" + name + "::{k}"}}})[0]
		require.NoError(t, r.Err)
		now, left, held := r.Values[0].(int64), r.Values[1].(int64), r.Values[2].(string)
		const day = 86_400_000_000
		number := func(i int) int64 {
			return int64(math.Float64frombits(binary.LittleEndian.Uint64([]byte(held[8*i:]))))
		}
		var idle int64
		switch name {
		case "gcra":
			idle = number(0)
		case "tokenbucket": // a full bucket less the balance, from when that was right
			idle = number(2) + day - number(0)
		case "leakybucket":
			idle = number(2) + number(0)
		case "dualbucket":
			idle = max(number(0), number(2))
		case "slidinglog":
			tick, err := strconv.ParseFloat(held, 64)
			require.NoError(t, err)
			idle = int64(tick) + day
		}
		gone := now/1000 + left // a millisecond more or less
		assert.GreaterOrEqual(t, gone*1000, idle-1000, name)
		assert.LessOrEqual(t, gone*1000, idle+5000, name)
	}
}
