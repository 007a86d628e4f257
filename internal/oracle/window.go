package oracle

// window is the rule of the sliding log: at most permits in any period ticks. Both are below 2^62, and so is
// every now that is decided; waits are searched for up to 2^63, so now+wait fits a uint64.
type window struct{ permits, period uint64 }

// horizon is the largest now below 2^62, whatever the limit.
func (w *window) horizon() uint64 { return 1<<62 - 1 }

func (w *window) fresh() share { return &list{window: w} }

// carried keeps the entries that are still held, expired ones too: a longer period may make those count again.
func (w *window) carried(old share, _ uint64) share {
	return &list{window: w, entries: old.(*list).entries}
}

// list is what one key has spent in a window: every admission that no later one has dropped, oldest first.
type list struct {
	*window
	entries []entry
}

// entry is one tick's admissions. All entries of a list together are never more than the permits of a limit.
type entry struct{ tick, permits uint64 }

func (l *list) size() uint64 { return l.permits }

// clock is now as the log sees it: never before the newest admission.
func (l *list) clock(now uint64) uint64 {
	if n := len(l.entries); n > 0 {
		return max(now, l.entries[n-1].tick)
	}
	return now
}

// counts says whether e, not newer than at, is still in the window that ends at at.
func (l *list) counts(e entry, at uint64) bool { return at-e.tick < l.period }

// used walks all entries and adds up those that count.
func (l *list) used(now uint64) (sum uint64) {
	at := l.clock(now)
	for _, e := range l.entries {
		if l.counts(e, at) {
			sum += e.permits
		}
	}
	return sum
}

// fits compares without a sum that could overflow. After a change of limit more may be used than is permitted.
func (l *list) fits(now, cost uint64) bool {
	return cost <= l.permits && l.used(now) <= l.permits-cost
}

func (l *list) untilFits(now, cost uint64) uint64 {
	return least(l.empty(now), func(wait uint64) bool { return l.fits(now+wait, cost) })
}

func (l *list) untilNew(now uint64) uint64 {
	return least(l.empty(now), func(wait uint64) bool { return l.used(now+wait) == 0 })
}

// empty is a wait after which nothing counts any more, for the search to begin with.
func (l *list) empty(now uint64) uint64 { return l.clock(now) - now + l.period }

// spend drops what has expired and enters cost at the log's clock.
func (l *list) spend(now, cost uint64) {
	at := l.clock(now)
	kept := l.entries[:0]
	for _, e := range l.entries {
		if l.counts(e, at) {
			kept = append(kept, e)
		}
	}
	if n := len(kept); n > 0 && kept[n-1].tick == at {
		kept[n-1].permits += cost
	} else {
		kept = append(kept, entry{tick: at, permits: cost})
	}
	l.entries = kept
}

// refund takes the newest permits out, of those that count. An entry that has lost all its permits is gone, so
// that the newest one left is the log's clock.
func (l *list) refund(now, cost uint64) {
	at := l.clock(now)
	for n := len(l.entries); n > 0 && cost > 0; n-- {
		e := &l.entries[n-1]
		if !l.counts(*e, at) {
			return // and all older ones have expired as well
		}
		back := min(e.permits, cost)
		e.permits -= back
		cost -= back
		if e.permits == 0 {
			l.entries = l.entries[:n-1]
		}
	}
}
