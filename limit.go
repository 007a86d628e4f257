package weir

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Limit is what a limiter enforces: Permits per Period, and at most Burst at once. The second three are a dual bucket's
// second limit. Per and ParseLimit make one.
//
// As text it is "100/s burst 20", "1000/h" or, for a dual bucket, "100/s burst 20 & 5000/h"; flags (flag.TextVar), JSON
// and YAML can hold it.
type Limit struct {
	// Permits is at least 1.
	Permits uint64
	// Period is at least 1 ns.
	Period time.Duration
	// Burst is the most permits that can be spent at once. 0 means Permits. A sliding log has no burst but its permits:
	// any other is dropped, and the limiter says so in its log.
	Burst uint64

	// Permits2, Period2 and Burst2 are the same of the second limit; all 0 if there is none.
	Permits2 uint64
	Period2  time.Duration
	Burst2   uint64
}

// Per is a limit of permits per period, with a burst of as many.
func Per(permits uint64, period time.Duration) Limit { return Limit{Permits: permits, Period: period} }

// WithBurst is l with another burst of its (first) limit.
func (l Limit) WithBurst(burst uint64) Limit {
	l.Burst = burst
	return l
}

// And is l with m's (first) limit as the second, for a dual bucket.
func (l Limit) And(m Limit) Limit {
	l.Permits2, l.Period2, l.Burst2 = m.Permits, m.Period, m.Burst
	return l
}

// filled is l with the bursts that are left out.
func (l Limit) filled() Limit {
	if l.Burst == 0 {
		l.Burst = l.Permits
	}
	if l.Burst2 == 0 {
		l.Burst2 = l.Permits2
	}
	return l
}

// ErrLimitText is what errors about the text of a limit wrap.
var ErrLimitText = errors.New("limit text")

// ParseLimit reads a limit: PERMITS/PERIOD, then perhaps "burst" and a number; two of them for a dual bucket, with "&"
// between. PERIOD is a unit (ns, us, ms, s, m, h, d, or sec, min, hour, day) with perhaps whole numbers before it: s,
// 10s, 1h30m, 7d. The error is one line that names what is wrong, and wraps ErrLimitText.
func ParseLimit(text string) (Limit, error) {
	parts := strings.Split(text, "&")
	if len(parts) > 2 {
		return Limit{}, limitText(text, fmt.Sprintf("has %d limits, must be at most 2", len(parts)))
	}
	l, err := parseRate(parts[0])
	if err != nil {
		return Limit{}, limitText(text, err.Error())
	}
	if len(parts) == 2 {
		second, err := parseRate(parts[1])
		if err != nil {
			return Limit{}, limitText(text, "second limit: "+err.Error())
		}
		l = l.And(second)
	}
	return l, nil
}

func limitText(text, fault string) error {
	return fmt.Errorf("%w %q: %s", ErrLimitText, short(text), fault)
}

// short keeps a long text from filling somebody's screen.
func short(text string) string {
	const most = 80
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

func parseRate(text string) (Limit, error) {
	permits, rest, found := strings.Cut(text, "/")
	words := strings.Fields(rest)
	if !found || len(words) == 0 {
		return Limit{}, errors.New("must be PERMITS/PERIOD, such as 100/s burst 20")
	}
	var l Limit
	var err error
	if l.Permits, err = parseCount("permits", strings.TrimSpace(permits)); err != nil {
		return Limit{}, err
	}
	if l.Period, err = parsePeriod(words[0]); err != nil {
		return Limit{}, err
	}
	switch {
	case len(words) == 1:
		return l, nil
	case len(words) == 3 && words[1] == "burst":
		l.Burst, err = parseCount("burst", words[2])
		return l, err
	}
	return Limit{}, fmt.Errorf("after the period comes nothing or \"burst\" and a number, not %q", short(strings.Join(words[1:], " ")))
}

func parseCount(field, text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s is %q, must be a whole number from 1 to %d", field, short(text), uint64(math.MaxUint64))
	}
	return n, nil
}

var units = []struct {
	name string
	size time.Duration
}{
	// For writing: the largest first, and each by the name that comes first.
	{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
	{"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", time.Nanosecond},
	{"day", 24 * time.Hour}, {"hour", time.Hour}, {"min", time.Minute}, {"sec", time.Second},
	{"minute", time.Minute}, {"second", time.Second}, {"µs", time.Microsecond}, {"μs", time.Microsecond},
}

// parsePeriod reads whole numbers with units; a unit alone is one of it. It never goes through a float.
func parsePeriod(text string) (time.Duration, error) {
	bad := fmt.Errorf("period is %q, must be from 1ns to 292 years in whole numbers of ns, us, ms, s, m, h or d, such as s, 10s or 1h30m", short(text))
	total, rest := uint64(0), text
	if unitSize(text) > 0 {
		rest = "1" + text // a unit alone is one of it
	}
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		count, err := strconv.ParseUint(rest[:digits], 10, 63)
		name := rest[digits:]
		if next := strings.IndexAny(name, "0123456789"); next >= 0 {
			name = name[:next]
		}
		size := unitSize(name)
		if err != nil || size == 0 || count > (math.MaxInt64-total)/size {
			return 0, bad
		}
		total += count * size
		rest = rest[digits+len(name):]
	}
	if total == 0 {
		return 0, bad
	}
	return time.Duration(total), nil
}

func unitSize(name string) uint64 {
	for _, u := range units {
		if u.name == name {
			return uint64(u.size)
		}
	}
	return 0
}

// String is the text of the limit: ParseLimit reads it back. It is empty for the zero Limit.
func (l Limit) String() string {
	if l == (Limit{}) {
		return ""
	}
	text := rateText(l.Permits, l.Period, l.Burst)
	if l.Permits2 != 0 || l.Period2 != 0 || l.Burst2 != 0 {
		text += " & " + rateText(l.Permits2, l.Period2, l.Burst2)
	}
	return text
}

func rateText(permits uint64, period time.Duration, burst uint64) string {
	text := strconv.FormatUint(permits, 10) + "/" + periodText(period)
	if burst != 0 {
		text += " burst " + strconv.FormatUint(burst, 10)
	}
	return text
}

// periodText writes a period in its largest units: "s", "10s", "1h30m".
func periodText(d time.Duration) string {
	if d <= 0 {
		return d.String()
	}
	var b strings.Builder
	rest := d
	for _, u := range units {
		if n := rest / u.size; n > 0 {
			if n > 1 || d != u.size {
				b.WriteString(strconv.FormatInt(int64(n), 10))
			}
			b.WriteString(u.name)
			rest -= n * u.size
		}
	}
	return b.String()
}

// MarshalText is String, which is empty for the zero Limit. The error, of a limit that has no such text, wraps ErrLimitText.
func (l Limit) MarshalText() ([]byte, error) {
	text := l.String()
	if text == "" {
		return nil, nil
	}
	_, err := ParseLimit(text)
	return []byte(text), err
}

// UnmarshalText is ParseLimit, and reads the zero Limit back from an empty text.
func (l *Limit) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*l = Limit{}
		return nil
	}
	parsed, err := ParseLimit(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}
