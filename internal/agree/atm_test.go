package agree_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"weir/policy"
)

// The two forms of the GCRA(T, tau) in ITU-T I.371 (Annex A) and The ATM Forum's Traffic Management Specification 4.0
// (figure "Equivalent versions of the generic cell rate algorithm"), box by box. A cell that does not conform changes
// nothing. Arrival times never decrease.

// virtualScheduling has the theoretical arrival time of the next cell.
type virtualScheduling struct {
	increment, limit int64 // T and tau
	tat              int64
	begun            bool
}

// conforms is the chart's question. At the arrival of the first cell TAT is its arrival time.
func (v *virtualScheduling) conforms(ta int64) bool {
	if !v.begun {
		v.tat, v.begun = ta, true
	}
	return v.tat < ta || ta >= v.tat-v.limit
}

// update is the chart's last box for a conforming cell.
func (v *virtualScheduling) update(ta int64) {
	if v.tat < ta {
		v.tat = ta
	}
	v.tat += v.increment
}

// leakyState has the bucket's content at the last conformance time.
type leakyState struct {
	increment, limit int64 // T and tau
	x, lct           int64
	begun            bool
}

// auxiliary is X' of the chart, after the box that sets it to 0 where it is negative. At the arrival of the first cell X
// is 0 and LCT its arrival time.
func (b *leakyState) auxiliary(ta int64) int64 {
	if !b.begun {
		b.x, b.lct, b.begun = 0, ta, true
	}
	return max(0, b.x-(ta-b.lct))
}

func (b *leakyState) conforms(ta int64) bool { return b.auxiliary(ta) <= b.limit }

func (b *leakyState) update(ta int64) { b.x, b.lct = b.auxiliary(ta)+b.increment, ta }

// cells draws the arrival times of a stream: back to back, about as often as permitted, and with pauses.
func cells(draw source, n int, increment uint64) []int64 {
	now, out := draw(1000), make([]int64, n)
	for i := range out {
		switch draw(8) {
		case 0:
			now += draw(4) * draw(4*increment)
		case 1, 2:
			now += draw(increment + 2)
		case 3, 4:
			now += increment - draw(2)
		case 5:
			now += draw(2)
		}
		out[i] = int64(now)
	}
	return out
}

// conform runs a stream of cells through both forms and through a bucket policy, whose cells cost what is said.
func conform(t *testing.T, s subject, l policy.Limit, cost, increment, limit uint64, arrivals []int64) (refused int) {
	t.Helper()
	p, err := s.make(l, policy.Options{})
	require.NoError(t, err)
	vs := &virtualScheduling{increment: int64(increment), limit: int64(limit)}
	lb := &leakyState{increment: int64(increment), limit: int64(limit)}
	for i, ta := range arrivals {
		want := vs.conforms(ta)
		require.Equal(t, want, lb.conforms(ta), "the two forms differ at cell %d of %v", i, arrivals)
		if want {
			vs.update(ta)
			lb.update(ta)
		} else {
			refused++
		}
		d := p.Take(uint64(ta), 7, cost)
		require.Equal(t, want, d.OK(), "%s %+v: cell %d of %v", s.name, l, i, arrivals)
		require.Equal(t, uint64(max(0, vs.tat-ta)), d.ResetAfter(), "reset_after is TAT - ta")
		require.Equal(t, uint64(lb.auxiliary(ta)), d.ResetAfter(), "and the bucket's content")
	}
	return refused
}

// TestATMConformance: cell by cell, the three meters say what both forms of the standard say. With one permit a cell T
// is period/permits and tau is (burst-1)*T; with T permits a cell, each worth one tick, tau may be any number.
func TestATMConformance(t *testing.T) {
	draw, refused, n := seeded(t, 50), 0, 0
	for range 1200 / slowdown {
		increment, burst, permits := 1+draw(300), 1+draw(20), 1+draw(9)
		whole := policy.Limit{Permits: permits, Period: permits * increment, Burst: burst}
		tau := draw(6 * increment)
		parts := policy.Limit{Permits: 1, Period: 1, Burst: increment + tau}
		for _, s := range meters {
			arrivals := cells(draw, 60, increment)
			refused += conform(t, s, whole, 1, increment, (burst-1)*increment, arrivals)
			refused += conform(t, s, parts, increment, increment, tau, arrivals)
			n += 2 * len(arrivals)
		}
	}
	t.Logf("%d cells, %d do not conform", n, refused)
	require.Greater(t, 5*refused, n)
	require.Less(t, refused, n*4/5)
}

// TestATMConformanceShrinking is the same with streams that rapid makes small where one fails.
func TestATMConformanceShrinking(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := shrinking(rt)
		increment, burst := 1+draw(300), 1+draw(20)
		l := policy.Limit{Permits: 1, Period: increment, Burst: burst}
		conform(t, five[0], l, 1, increment, (burst-1)*increment, cells(draw, 20, increment))
	})
}

// TestATMCoordinated: a connection with a peak cell rate (tolerance CDVT) and a sustainable cell rate (tolerance BT + CDVT,
// BT = (MBS-1)*(Ts-Tp)). A cell conforms if it conforms to both; only then are both updated. The dual bucket takes Tp
// permits of the first limit and Ts of the second for each cell, each worth one tick.
func TestATMCoordinated(t *testing.T) {
	draw, byPeak, bySustained := seeded(t, 51), 0, 0
	for range 1200 / slowdown {
		tp := 1 + draw(50)
		ts := tp + 1 + draw(200)
		cdvt, bt := draw(3*tp), draw(20)*(ts-tp)
		peakLimits := [2]int64{int64(tp), int64(cdvt)}
		sustained := [2]int64{int64(ts), int64(bt + cdvt)}
		dual, err := five[4].make(policy.Limit{Permits: 1, Period: 1, Burst: tp + cdvt,
			Permits2: 1, Period2: 1, Burst2: ts + bt + cdvt}, policy.Options{})
		require.NoError(t, err)
		pcr := &virtualScheduling{increment: peakLimits[0], limit: peakLimits[1]}
		scr := &virtualScheduling{increment: sustained[0], limit: sustained[1]}
		pcrX := &leakyState{increment: peakLimits[0], limit: peakLimits[1]}
		scrX := &leakyState{increment: sustained[0], limit: sustained[1]}
		for i, ta := range cells(draw, 100, tp+draw(2)*(ts-tp)/2) {
			first, second := pcr.conforms(ta), scr.conforms(ta)
			require.Equal(t, first && second, pcrX.conforms(ta) && scrX.conforms(ta))
			if first && second {
				pcr.update(ta)
				scr.update(ta)
				pcrX.update(ta)
				scrX.update(ta)
			}
			d := dual.(policy.TwoCosts).Take2(uint64(ta), 7, tp, ts)
			require.Equal(t, first && second, d.OK(), "Tp %d CDVT %d Ts %d BT %d: cell %d at %d", tp, cdvt, ts, bt, i, ta)
			switch {
			case first && !second:
				require.Equal(t, policy.Second, d.Binding())
				bySustained++
			case second && !first:
				require.Equal(t, policy.First, d.Binding())
				byPeak++
			}
		}
	}
	require.Positive(t, byPeak)
	require.Positive(t, bySustained)
}
