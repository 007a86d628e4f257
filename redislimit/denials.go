package redislimit

import (
	"sync"
	"time"

	"weir"
	"weir/policy"
)

// denials remembers the last denial of a bounded number of keys. A nil one remembers nothing.
type denials struct {
	mu   sync.Mutex
	most int
	held map[string]denial
	lost uint64 // how often keys were forgotten: a denial that was under way then may be of before
}

// denial is what the server said of a key, and when it was asked on the limiter's own clock: the server answered after
// that, so what is counted from then ends no later than it should.
type denial struct {
	rules       *rules
	cost        costs
	now         uint64
	numbers     []any
	sent, until time.Duration
	next        time.Duration // after sent: when a log has a permit more
}

func newDenials(most int) *denials { return &denials{most: most, held: make(map[string]denial)} }

// remember keeps a denial. Where there is no room it drops what it meets first of eight, an expired one if there is any.
func (d *denials) remember(q question, r reply) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost != q.lost {
		return
	}
	if _, known := d.held[q.name]; !known && len(d.held) >= d.most {
		victim, looked := "", 0
		for name, old := range d.held {
			if victim == "" || old.until <= r.sent {
				victim = name
			}
			if looked++; looked == 8 || old.until <= r.sent {
				break
			}
		}
		delete(d.held, victim)
	}
	d.held[q.name] = denial{q.force.rules, q.cost, r.now, r.numbers, r.sent, r.sent + r.result.RetryAfter(), r.result.Next()}
}

func (d *denials) forget(name string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.held, name)
}

// change forgets a key that is given something back, and what is answered meanwhile with it.
func (d *denials) change(name string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lost++
	delete(d.held, name)
}

func (d *denials) changes() uint64 {
	if d == nil {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

// answer denies a request that the last denial of its key covers: under the same limit, at least as costly, and before
// its retry time.
func (d *denials) answer(l *Limiter, q question) (weir.Result, bool) {
	if d == nil {
		return weir.Result{}, false
	}
	now := l.elapsed()
	d.mu.Lock()
	old, known := d.held[q.name]
	d.mu.Unlock()
	switch {
	case !known || old.rules != q.force.rules || now >= old.until || now < old.sent:
		return weir.Result{}, false
	case q.cost[0] < old.cost[0] || l.name == dualBucket && q.cost[1] < old.cost[1] || q.force.rules.tooCostly(q.cost):
		return weir.Result{}, false
	case l.name == slidingLog && now-old.sent >= old.next: // what has expired since only the server knows
		return weir.Result{}, false
	case l.name == slidingLog && q.cost[0] != old.cost[0]: // which entry it waits for only the server knows
		return weir.Result{}, false
	}
	ticks, into := uint64((now-old.sent)/tick), (now-old.sent)%tick
	if l.clock != nil {
		ticks, into = uint64(now/tick)-old.now, now%tick
	}
	r, err := old.rules.decide(old.now+ticks, old.rules.later(old.numbers, ticks), q.cost, false)
	if err != nil || r.Outcome() != policy.Deny {
		return weir.Result{}, false
	}
	return weir.NewResult(r, tick, into), true
}

// later is what a script would say so many ticks later if nobody came.
func (r *rules) later(numbers []any, ticks uint64) []any {
	if r.name == slidingLog {
		return numbers
	}
	later := make([]any, len(numbers))
	for i := 0; i+1 < len(numbers); i += 2 {
		w, _ := whole(numbers[i])
		later[i], later[i+1] = int64(0), int64(0)
		if w >= ticks {
			later[i], later[i+1] = int64(w-ticks), numbers[i+1]
		}
	}
	return later
}
