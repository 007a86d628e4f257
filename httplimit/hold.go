package httplimit

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The bounds of what servers can make a Transport remember.
const (
	mostHolds   = 1024
	longestHold = 24 * time.Hour
)

// holds are until when nothing is to be sent, for each key that was told to wait.
type holds struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// wait is how long nothing is to be sent for a key.
func (h *holds) wait(key string, now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until[key].Sub(now)
}

// hold keeps a key waiting, if it is not already for longer. Where too many keys wait, those that have done are dropped, or
// else the one that has the least to wait.
func (h *holds) hold(key string, now time.Time, wait time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	until := now.Add(min(wait, longestHold))
	if !until.After(h.until[key]) {
		return
	}
	if h.until == nil {
		h.until = make(map[string]time.Time)
	}
	h.until[key] = until
	if len(h.until) <= mostHolds {
		return
	}
	first := key
	for k, u := range h.until {
		if !u.After(now) {
			delete(h.until, k)
		} else if u.Before(h.until[first]) {
			first = k
		}
	}
	if len(h.until) > mostHolds {
		delete(h.until, first)
	}
}

// told is how long an answer asks to wait, 0 if it does not. Retry-After goes before RateLimit, as the draft says (section
// 7), and counts in any answer that is not a success: 429, 503 and redirections have it.
func told(r *http.Response, now time.Time) (wait time.Duration) {
	if after := r.Header.Get(fieldNames[retryField]); after != "" && r.StatusCode >= 300 {
		if wait, ok := retryWait(after, r.Header.Get("Date"), now); ok {
			return wait
		}
	}
	standings(r.Header.Values(fieldNames[limitField]), func(left, t uint64) {
		if left == 0 {
			wait = max(wait, inSeconds(t))
		}
	})
	return wait
}

// retryWait reads a Retry-After (RFC 9110, section 10.2.3): seconds, or a moment, which may have passed already. A moment
// is one on the server's clock, which Date tells.
func retryWait(after, date string, now time.Time) (time.Duration, bool) {
	after = strings.TrimSpace(after)
	if after != "" && strings.Trim(after, digits) == "" {
		n, err := strconv.ParseUint(after, 10, 64)
		if err != nil {
			return longestHold, true // more than can be counted
		}
		return inSeconds(n), true
	}
	at, err := http.ParseTime(after)
	if err != nil {
		return 0, false
	}
	if sent, err := http.ParseTime(date); err == nil {
		now = sent
	}
	return at.Sub(now), true
}

// inSeconds is n seconds, or the longest hold where that is less.
func inSeconds(n uint64) time.Duration {
	return time.Duration(min(n, uint64(longestHold/time.Second))) * time.Second
}
