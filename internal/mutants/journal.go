package mutants

import (
	"slices"

	"weir/policy"
)

// window is the limit of a sliding log: at most so many permits in any period ticks.
type window struct {
	fault
	permits, period int64
}

func newWindow(f fault, n numbers) *window {
	w := &window{fault: f, permits: int64(n.permits), period: int64(n.period)}
	w.permits = or(f, "burst-plus-one", w.permits, w.permits+1)
	w.permits = or(f, "burst-minus-one", w.permits, w.permits-1)
	return w
}

func (w *window) size() uint64      { return uint64(w.permits) }
func (w *window) horizon() uint64   { return unitBound - 1 }
func (w *window) fresh(int64) share { return &journal{window: w} }

// carried is a log under this window: its entries keep their ticks.
func (w *window) carried(old share, now int64) share {
	j := &journal{w, old.(*journal).entries}
	if w.is("relimit-mints-a-burst") {
		j.entries = nil
	}
	if w.is("relimit-drops-what-has-expired") {
		j.entries = j.entries[j.live(now):]
	}
	if w.is("relimit-trims-to-the-new-permits") {
		j.trim()
	}
	return j
}

// trim drops the oldest entries until the rest is within the permits.
func (j *journal) trim() {
	for len(j.entries) > 0 && sum(j.entries) > j.permits {
		j.entries = j.entries[1:]
	}
}

// entry is the permits spent at one tick.
type entry struct{ tick, permits int64 }

// journal is a key's log, oldest first.
type journal struct {
	*window
	entries []entry
}

func (j *journal) copied() share { return &journal{j.window, slices.Clone(j.entries)} }

func (j *journal) newest() int64 { return j.entries[len(j.entries)-1].tick }

// clock is the tick at which a request at now is judged: the log does not run backwards.
func (j *journal) clock(now int64) int64 {
	if len(j.entries) == 0 {
		return now
	}
	return or(j.fault, "log-runs-backwards", max(now, j.newest()), now)
}

// counts says whether an entry is within the window that ends at a tick.
func (j *journal) counts(e entry, at int64) bool {
	in := e.tick+j.period > at
	in = or(j.fault, "window-end-inclusive", in, e.tick+j.period >= at)
	return or(j.fault, "fixed-window", in, e.tick/j.period == at/j.period)
}

// live is the first entry that counts; all after it do.
func (j *journal) live(now int64) int {
	first := 0
	for first < len(j.entries) && !j.counts(j.entries[first], j.clock(now)) {
		first++
	}
	return or(j.fault, "one-expired-entry-dropped", first, min(first, 1))
}

func (j *journal) used(now int64) int64 { return sum(j.entries[j.live(now):]) }

func sum(entries []entry) (permits int64) {
	for _, e := range entries {
		permits += e.permits
	}
	return permits
}

func (j *journal) judge(now int64, cost uint64) (policy.Outcome, uint64) {
	tooCostly := cost > uint64(j.permits)
	tooCostly = or(j.fault, "cost-above-burst-not-checked", tooCostly, false)
	tooCostly = or(j.fault, "cost-of-burst-refused", tooCostly, cost >= uint64(j.permits))
	if tooCostly {
		return policy.TooCostly, policy.Never
	}
	spare := j.permits - j.used(now)
	fits := int64(cost) <= spare
	fits = or(j.fault, "less-for-at-most", fits, int64(cost) < spare)
	free := cost == 0
	free = or(j.fault, "zero-cost-denied-in-debt", free, false)
	if fits || free {
		return policy.Allow, 0
	}
	return policy.Deny, j.retry(now, int64(cost)-spare)
}

// retry is the ticks until the oldest entry has expired with which enough permits are free.
func (j *journal) retry(now, enough int64) uint64 {
	oldest := j.live(now)
	i, last := oldest, len(j.entries)-1
	for freed := j.entries[i].permits; freed < enough && i < last; {
		i++
		freed += j.entries[i].permits
	}
	i = or(j.fault, "retry-from-the-oldest-entry", i, oldest)
	i = or(j.fault, "retry-from-the-newest-entry", i, last)
	from := now
	from = or(j.fault, "retry-from-the-logs-clock", from, j.clock(now))
	wait := uint64(j.entries[i].tick + j.period - from)
	return or(j.fault, "retry-one-tick-late", wait, wait+1)
}

func (j *journal) left(now int64) uint64 {
	spare := j.permits - j.used(now)
	return uint64(or(j.fault, "remaining-below-zero", max(0, spare), spare))
}

func (j *journal) reset(now int64) uint64 {
	oldest := j.live(now)
	if oldest == len(j.entries) {
		return 0
	}
	tick := j.newest()
	tick = or(j.fault, "reset-of-the-oldest-entry", tick, j.entries[oldest].tick)
	from := now
	from = or(j.fault, "reset-from-the-logs-clock", from, j.clock(now))
	return uint64(tick + j.period - from)
}

func (j *journal) spend(now int64, cost uint64) {
	at := j.clock(now)
	at = or(j.fault, "logged-at-an-earlier-now", at, now)
	permits := int64(cost)
	permits = or(j.fault, "cost-logged-as-1", permits, 1)
	expired := j.live(now)
	expired = or(j.fault, "expired-entries-never-dropped", expired, 0)
	j.entries = j.entries[expired:]
	merges := len(j.entries) > 0 && j.newest() == at
	merges = or(j.fault, "equal-ticks-not-merged", merges, false)
	if !merges {
		j.entries = append(j.entries, entry{at, permits})
		return
	}
	permits = or(j.fault, "equal-ticks-deduplicated", permits, 0)
	j.entries[len(j.entries)-1].permits += permits
}

// denied is told of a denial, and does nothing.
func (j *journal) denied(now int64, cost uint64) {
	if j.is("denied-requests-logged") {
		j.spend(now, cost)
	}
	if j.is("denied-request-drops-expired") {
		j.entries = j.entries[j.live(now):]
	}
}

func (j *journal) looked(int64) {}

func (j *journal) delay(int64, uint64) uint64 { return 0 }

// refund takes permits out of the entries that count, the newest first.
func (j *journal) refund(now int64, cost uint64) {
	from := j.live(now)
	from = or(j.fault, "refund-of-an-idle-key", from, 0)
	counting := slices.Clone(j.entries[from:])
	give := int64(cost)
	for n := range counting {
		i := len(counting) - 1 - n
		i = or(j.fault, "refund-takes-the-oldest", i, n)
		part := min(give, counting[i].permits)
		part = or(j.fault, "refund-not-clamped", part, give)
		if give > 0 && j.is("refund-empties-more-than-it-may") {
			part = counting[i].permits
		}
		counting[i].permits -= part
		give = max(0, give-part)
	}
	empty := func(e entry) bool { return e.permits == 0 }
	if j.is("refund-keeps-the-logs-clock") {
		empty = func(entry) bool { return false }
	}
	j.entries = append(slices.Clone(j.entries[:from]), slices.DeleteFunc(counting, empty)...)
}
