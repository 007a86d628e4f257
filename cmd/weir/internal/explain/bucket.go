package explain

import (
	"fmt"
	"math/big"

	"weir/policy"
	"weir/vectors"
)

// units are the constants of one limit: one tick is p units, one permit q, the burst l.
type units struct{ p, q, l *big.Int }

func whole(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

func unitsOf(permits, period, burst uint64) units {
	p, q := whole(permits), whole(period)
	g := new(big.Int).GCD(nil, nil, p, q)
	p.Div(p, g)
	q.Div(q, g)
	return units{p, q, new(big.Int).Mul(whole(burst), q)}
}

func (u units) String() string {
	return fmt.Sprintf("1 tick = p = %v units, 1 permit = q = %v, burst = L = %v", u.p, u.q, u.l)
}

// bucket is one limit of a policy that keeps a debt, by key, as the theoretical arrival time in units: the other forms read off
// it what they store.
type bucket struct {
	units
	form string // gcra, tokenbucket or leakybucket
	tats map[uint64]*big.Int
}

func newBucket(form string, permits, period, burst uint64) *bucket {
	return &bucket{unitsOf(permits, period, burst), form, map[uint64]*big.Int{}}
}

// debt is how far the schedule of a key runs ahead of now, never below 0.
func (b *bucket) debt(key, now uint64) *big.Int {
	debt := new(big.Int)
	if tat := b.tats[key]; tat != nil {
		debt.Sub(tat, b.at(now))
	}
	if debt.Sign() < 0 {
		debt.SetInt64(0)
	}
	return debt
}

func (b *bucket) at(now uint64) *big.Int { return new(big.Int).Mul(whole(now), b.p) }

// ceil is units in ticks, rounded up.
func (b *bucket) ceil(n *big.Int) *big.Int {
	up := new(big.Int).Add(n, b.p)
	return up.Sub(up, big.NewInt(1)).Div(up, b.p)
}

// state is what the form keeps of a key, as it stands at now.
func (b *bucket) state(key, now uint64) string {
	debt := b.debt(key, now)
	switch b.form {
	case "tokenbucket":
		balance := new(big.Int).Sub(b.l, debt)
		return fmt.Sprintf("balance %s permits: %v of %v units", mixed(balance, b.q), balance, b.l)
	case "leakybucket":
		return fmt.Sprintf("water %s permits: %v of %v units", mixed(debt, b.q), debt, b.l)
	}
	tat := b.tats[key]
	if tat == nil {
		tat = new(big.Int)
	}
	return fmt.Sprintf("TAT %v units, tick %s; now is %v, so debt = max(TAT - now, 0) = %v", tat, mixed(tat, b.p), b.at(now), debt)
}

// mixed is a quotient as a whole number and a fraction.
func mixed(n, of *big.Int) string {
	if n.Sign() < 0 {
		return "-" + mixed(new(big.Int).Neg(n), of)
	}
	quotient, rest := new(big.Int).QuoRem(n, of, new(big.Int))
	if rest.Sign() == 0 {
		return quotient.String()
	}
	g := new(big.Int).GCD(nil, nil, rest, of)
	fraction := fmt.Sprintf("%v/%v", new(big.Int).Div(rest, g), new(big.Int).Div(of, g))
	if quotient.Sign() == 0 {
		return fraction
	}
	return fmt.Sprintf("%v %s", quotient, fraction)
}

// weigh is the sum that decides a request of cost permits.
func (b *bucket) weigh(key, now, cost uint64) verdict {
	debt, price := b.debt(key, now), new(big.Int).Mul(whole(cost), b.q)
	switch {
	case price.Cmp(b.l) > 0:
		return verdict{policy.TooCostly, nil, fmt.Sprintf("cost * q = %v > L = %v: it can never fit", price, b.l)}
	case cost == 0:
		return verdict{policy.Allow, new(big.Int), "a cost of 0 is always allowed and changes nothing"}
	}
	after := new(big.Int).Add(debt, price)
	over := new(big.Int).Sub(after, b.l)
	sum := fmt.Sprintf("debt + cost * q = %v + %v = %v", debt, price, after)
	if b.form == "tokenbucket" {
		sum = fmt.Sprintf("balance = L - debt = %v, cost * q = %v", new(big.Int).Sub(b.l, debt), price)
	}
	if over.Sign() <= 0 {
		if b.form == "tokenbucket" {
			return verdict{policy.Allow, new(big.Int), sum + ": enough"}
		}
		return verdict{policy.Allow, new(big.Int), fmt.Sprintf("%s <= L = %v: it fits", sum, b.l)}
	}
	wait := b.ceil(over)
	if b.form == "tokenbucket" {
		sum += fmt.Sprintf(": %v short", over)
	} else {
		sum = fmt.Sprintf("%s > L = %v: %v too much", sum, b.l, over)
	}
	return verdict{policy.Deny, wait, fmt.Sprintf("%s; at p = %v a tick that takes %v / %v ticks, rounded up %v", sum, b.p, over, b.p, wait)}
}

func (b *bucket) spend(key, now, cost uint64) {
	if cost == 0 {
		return
	}
	tat := new(big.Int).Add(b.at(now), b.debt(key, now))
	b.tats[key] = tat.Add(tat, new(big.Int).Mul(whole(cost), b.q))
}

func (b *bucket) refund(key, now, cost uint64) {
	debt := b.debt(key, now)
	if debt.Sign() == 0 {
		return
	}
	debt.Sub(debt, new(big.Int).Mul(whole(cost), b.q))
	if debt.Sign() < 0 {
		debt.SetInt64(0)
	}
	b.tats[key] = debt.Add(debt, b.at(now))
}

func (b *bucket) forget(key uint64) { delete(b.tats, key) }

func (b *bucket) idle(key, now uint64) bool { return b.debt(key, now).Sign() == 0 }

func (b *bucket) keys() (all []uint64) {
	for key := range b.tats {
		all = append(all, key)
	}
	return all
}

// relimit keeps what is owed, in permits, rounded up to the new unit and never more than the new burst.
func (b *bucket) relimit(now, permits, period, burst uint64) {
	next := unitsOf(permits, period, burst)
	for key := range b.tats {
		debt := b.debt(key, now)
		debt.Mul(debt, next.q).Add(debt, b.q).Sub(debt, big.NewInt(1)).Div(debt, b.q)
		if debt.Cmp(next.l) > 0 {
			debt.Set(next.l)
		}
		b.tats[key] = debt.Add(debt, new(big.Int).Mul(whole(now), next.p))
	}
	b.units = next
}

// horizon is the largest now with now * p below 2^62.
func (b *bucket) horizon() uint64 { return new(big.Int).Div(whole(1<<62-1), b.p).Uint64() }

// level is how full a bucket is, in parts of `of`.
func (b *bucket) level(key, now uint64, of int64) int64 {
	part := new(big.Int).Mul(b.debt(key, now), big.NewInt(of))
	part.Add(part, b.l).Sub(part, big.NewInt(1)).Div(part, b.l) // anything owed shows
	return min(part.Int64(), of)
}

// verdict is an outcome, the wait in ticks (nil for one that no wait helps), and the sum.
type verdict struct {
	outcome policy.Outcome
	wait    *big.Int
	sum     string
}

// matches says whether an answer is what the sum comes to. Full and past_horizon no sum decides.
func (v verdict) matches(w vectors.Want) bool {
	if w.Outcome == policy.Full.String() || w.Outcome == policy.PastHorizon.String() {
		return true
	}
	if w.Outcome != v.outcome.String() || w.RetryAfter == nil {
		return false
	}
	if v.wait == nil {
		return *w.RetryAfter == vectors.Never
	}
	return v.wait.Cmp(whole(uint64(*w.RetryAfter))) == 0
}
