package oracle

import "math/big"

// bucket is the rule of every bucket policy: what is owed leaks steadily, and no more than burst is ever owed
// when a request has been allowed.
type bucket struct {
	rate  *big.Rat // permits that leak in a tick
	burst uint64
	leak  leak // used again for every question, to save allocations
}

func newBucket(permits, period, burst uint64) *bucket {
	return &bucket{rate: new(big.Rat).SetFrac(whole(permits), whole(period)), burst: burst}
}

// tooLarge says whether production could overflow: with the rate in lowest terms, burst times its denominator
// or its numerator reaches 2^62.
func (b *bucket) tooLarge() bool {
	full := whole(b.burst)
	return full.Mul(full, b.rate.Denom()).Cmp(bound) >= 0 || b.rate.Num().Cmp(bound) >= 0
}

// horizon is the now at which one tick more would take now, times the numerator of the rate in lowest terms, to
// 2^62.
func (b *bucket) horizon() uint64 {
	return least(1<<62, func(now uint64) bool {
		next := whole(now + 1)
		return next.Mul(next, b.rate.Num()).Cmp(bound) >= 0
	})
}

func (b *bucket) fresh() share { return &meter{bucket: b} }

// carried keeps what is owed at now: rounded up to a whole share of a permit that b can count, which is one
// over the denominator of its rate, and never above its burst. A share that owes nothing owes nothing as of
// now.
func (b *bucket) carried(old share, now uint64) share {
	owed := old.(*meter).at(now)
	parts := new(big.Rat).SetInt(b.rate.Denom())
	parts.Mul(parts, owed)
	up, rest := new(big.Int).DivMod(parts.Num(), parts.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		up.Add(up, big.NewInt(1))
	}
	owed.SetFrac(up, b.rate.Denom())
	if full := new(big.Rat).SetInt(whole(b.burst)); owed.Cmp(full) > 0 {
		owed = full
	}
	return &meter{bucket: b, owed: owed, since: now}
}

// meter is what one key owes a bucket.
type meter struct {
	*bucket
	// owed is the permits owed as of since, never negative. nil: nothing was ever spent, and nothing is owed at any
	// now.
	owed  *big.Rat
	since uint64 // a tick
}

func (m *meter) size() uint64 { return m.burst }

// at is how many permits are owed at now. If now is before since, there is more in the bucket than at since.
func (m *meter) at(now uint64) *big.Rat {
	owed := new(big.Rat)
	if m.owed == nil {
		return owed
	}
	ticks := whole(now)
	owed.SetInt(ticks.Sub(ticks, whole(m.since)))
	owed.Sub(m.owed, owed.Mul(owed, m.rate))
	if owed.Sign() < 0 {
		owed.SetInt64(0)
	}
	return owed
}

// fits says whether what is owed leaves space for cost.
func (m *meter) fits(now, cost uint64) bool {
	if m.owed == nil || cost > m.burst {
		return cost <= m.burst
	}
	return m.follow(now, m.burst-cost).down(0)
}

func (m *meter) untilFits(now, cost uint64) uint64 {
	if m.owed == nil {
		return 0
	}
	return m.follow(now, m.burst-cost).wait()
}

func (m *meter) untilNew(now uint64) uint64 {
	if m.owed == nil {
		return 0
	}
	return m.follow(now, 0).wait()
}

func (m *meter) spend(now, cost uint64) {
	owed := m.at(now)
	m.owed, m.since = owed.Add(owed, new(big.Rat).SetInt(whole(cost))), now
}

// refund lowers what is owed at now. Where nothing is owed there is nothing to lower, and since stays too.
func (m *meter) refund(now, cost uint64) {
	owed := m.at(now)
	if owed.Sign() == 0 {
		return
	}
	owed.Sub(owed, new(big.Rat).SetInt(whole(cost)))
	if owed.Sign() < 0 {
		owed.SetInt64(0)
	}
	m.owed, m.since = owed, now
}

// leak follows a meter down to a level: it is there at now+wait if the rate times the ticks since the meter was
// right is at least what is owed above that level. Both sides are multiplied by both denominators, so that one
// question is one product and one comparison.
type leak struct {
	need  big.Int // numerator of what must leak, times the rate's denominator
	speed big.Int // numerator of the rate, times the denominator of what must leak; above 0
	past  big.Int // ticks from since to now; negative if now is the earlier

	ticks, leaked big.Int
}

// follow is good until the bucket is asked to follow again.
func (m *meter) follow(now, level uint64) *leak {
	l := &m.bucket.leak
	l.need.SetUint64(level)
	l.need.Sub(m.owed.Num(), l.need.Mul(&l.need, m.owed.Denom()))
	l.need.Mul(&l.need, m.rate.Denom())
	l.speed.Mul(m.rate.Num(), m.owed.Denom())
	l.past.SetUint64(now)
	l.past.Sub(&l.past, l.ticks.SetUint64(m.since))
	return l
}

// down says whether the level is reached at now+wait.
func (l *leak) down(wait uint64) bool {
	l.ticks.SetUint64(wait)
	l.ticks.Add(&l.ticks, &l.past)
	return l.leaked.Mul(&l.speed, &l.ticks).Cmp(&l.need) >= 0
}

// wait is the least wait for which the level is reached. The guess is a power of two above it, from lengths in
// bits.
func (l *leak) wait() uint64 {
	l.leaked.Sub(&l.need, l.leaked.Mul(&l.speed, &l.past))
	longer := min(max(l.leaked.BitLen()-l.speed.BitLen()+1, 0), 63)
	return least(1<<longer, l.down)
}
