package redislimit

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"weir/internal/arith"
	"weir/policy"
)

// errText is what errors about the text of a key wrap that no script of ours has written.
type errText struct{ text string }

func (e errText) Error() string {
	const most = 60
	if len(e.text) > most {
		e.text = e.text[:most] + "..."
	}
	return fmt.Sprintf("redislimit: a key holds %q, which is not of this package", e.text)
}

// held is what a key owes each limit that its text is counted in: a pair each.
type held struct {
	limit  string // as the text has it
	scales []policy.Scale
	w      []int64 // ticks, below zero where the key has been idle
	r      []uint64
}

// carried is a text that says under other rules what text says: what is owed at the tick at, in permits, rounded up and
// at most the other burst. A key that owes nothing then is one that was idle at that tick. own, if it is not empty, is
// what the key held when it was last counted in those rules: it owes no less than that leaves.
func carried(text, own string, at uint64, to *rules) (string, error) {
	h, err := heldBy(to.name, text, at)
	if err != nil {
		return "", err
	}
	debts := make([]uint64, len(to.buckets))
	for i := range to.buckets {
		s := &to.buckets[i].scale
		debts[i] = min(s.Tolerance, arith.MulDivCeil(h.units(i), s.Permit, h.scales[i].Permit))
	}
	return to.heeding(own, at, debts), nil
}

// heeding is the text of a key that owes so much, and no less than own leaves.
func (to *rules) heeding(own string, at uint64, debts []uint64) string {
	if o, err := heldBy(to.name, own, at); err == nil && o.limit == to.text {
		for i := range debts {
			debts[i] = max(debts[i], min(to.buckets[i].scale.Tolerance, o.units(i)))
		}
	}
	return to.write(at, debts)
}

// units is what is owed one limit, 2^64-1 where that is more.
func (h *held) units(i int) uint64 {
	if h.w[i] < 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(h.w[i]), h.scales[i].Tick)
	sum, over := bits.Add64(low, h.r[i], 0)
	if high != 0 || over != 0 {
		return policy.Never
	}
	return sum
}

// heldBy reads the text of a bucket as of a tick: numbers as little-endian doubles, then the limit and a zero byte.
func heldBy(name, text string, at uint64) (*held, error) {
	count := map[string]int{gcra: 2, tokenBucket: 3, leakyBucket: 3, dualBucket: 4}[name]
	if len(text) <= 8*count || text[len(text)-1] != 0 {
		return nil, errText{text}
	}
	n := make([]int64, count)
	for i := range n {
		f := math.Float64frombits(binary.LittleEndian.Uint64([]byte(text[8*i:])))
		if !(f >= -exact && f <= exact) || f != math.Trunc(f) {
			return nil, errText{text}
		}
		n[i] = int64(f)
	}
	h := &held{limit: text[8*count : len(text)-1]}
	for _, l := range strings.Split(h.limit, "&") {
		s, ok := scaleOf(l)
		if !ok {
			return nil, errText{text}
		}
		h.scales = append(h.scales, s)
	}
	if (len(h.scales) == 2) != (name == dualBucket) || len(h.scales) > 2 {
		return nil, errText{text}
	}
	s := h.scales[0]
	switch name {
	case leakyBucket:
		h.owe(n[0]+n[2]-int64(at), n[1])
	case tokenBucket:
		w, r := int64(s.Tolerance/s.Tick)-n[0]+n[2]-int64(at), int64(s.Tolerance%s.Tick)-n[1]
		if r < 0 {
			w, r = w-1, r+int64(s.Tick)
		}
		h.owe(w, r)
	default:
		for i := range h.scales {
			h.owe(n[2*i]-int64(at), n[2*i+1])
		}
	}
	for i, r := range h.r {
		if r >= h.scales[i].Tick {
			return nil, errText{text}
		}
	}
	return h, nil
}

func (h *held) owe(w, r int64) { h.w, h.r = append(h.w, w), append(h.r, uint64(r)) }

// scaleOf reads what one limit's text says: units a tick, units a permit, and the burst.
func scaleOf(text string) (s policy.Scale, ok bool) {
	fields := strings.Split(text, "/")
	if len(fields) < 3 {
		return s, false
	}
	var n [3]uint64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseUint(fields[i], 10, 62); err != nil || n[i] == 0 {
			return s, false
		}
	}
	high, tolerance := bits.Mul64(n[1], n[2])
	s = policy.Scale{Tick: n[0], Permit: n[1], Tolerance: tolerance, Burst: n[2]}
	return s, high == 0 && tolerance < 1<<62 && n[0] <= mostPer
}

// write is the text of a key that owes so many units, each below 2^62, at a tick.
func (r *rules) write(at uint64, debts []uint64) string {
	text := ""
	for i := range r.buckets {
		s := &r.buckets[i].scale
		left := s.Tolerance - debts[i]
		switch r.name {
		case tokenBucket:
			text += doubles(left/s.Tick, left%s.Tick, at)
		case leakyBucket:
			text += doubles(debts[i]/s.Tick, debts[i]%s.Tick, at)
		default:
			text += doubles(at+debts[i]/s.Tick, debts[i]%s.Tick)
		}
	}
	return text + r.text + "\x00"
}

// idle is a whole number of milliseconds after which a key with this text, read at a tick, is as good as new.
func (h *held) idle() uint64 {
	wait := int64(0)
	for _, w := range h.w {
		wait = max(wait, w)
	}
	return uint64(wait)/1000 + 2
}

// carry is the call that carries a key over to the limit in force. By the server's time it also keeps what the key held,
// and heeds what it held when it was last counted in this limit, if that was after this limiter began with it: so two
// limits that are in force at once, in an old process and a new one, do not let go of the same debt again and again.
func (l *Limiter) carry(ctx context.Context, q question, a answer) (Call, error) {
	call := Call{Digest: swapScript, Source: sources[swapScript], Keys: []string{q.name}}
	if l.clock != nil {
		next, err := carried(a.text, "", a.now, q.force.rules)
		call.Args = []string{a.text, next, ""}
		return call, err
	}
	memory := memoryOf(q.name)
	r := runOne(ctx, l.store, Call{Digest: wasScript, Keys: []string{memory}, Args: []string{q.force.rules.text}})
	if r.Err != nil || len(r.Values) != 1 {
		return call, fmt.Errorf("%w: %v", errReply, r.Err)
	}
	own := ""
	if kept, ok := r.Values[0].(string); ok && len(kept) > 8 && atOf(kept) >= float64(q.force.since.Load()) {
		own = kept[8:]
	}
	ms := a.now / 1000
	if a.gone { // idle in another limit, and so forgotten; not in this one perhaps
		next := q.force.rules.heeding(own, a.now, make([]uint64, len(q.force.rules.buckets)))
		made, err := heldBy(l.name, next, a.now)
		if err != nil {
			return call, err
		}
		call.Args = []string{"", next, number(ms + made.idle())}
		return call, nil
	}
	next, err := carried(a.text, own, a.now, q.force.rules)
	if err != nil {
		return call, err
	}
	found, err := heldBy(l.name, a.text, a.now)
	if err != nil {
		return call, err
	}
	made, err := heldBy(l.name, next, a.now)
	if err != nil {
		return call, err
	}
	call.Keys = append(call.Keys, memory)
	call.Args = []string{a.text, next, number(ms + made.idle()), found.limit, doubles(a.now) + a.text,
		number(found.idle()), number(ms + found.idle())}
	return call, nil
}

// memoryOf is the name of what a key held under limits that it is not counted in any more. Scripts make it too.
func memoryOf(name string) string { return "weir-was:" + strings.TrimPrefix(name, "weir:") }

// atOf is when something was kept: its first number.
func atOf(kept string) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(kept[:8])))
}
