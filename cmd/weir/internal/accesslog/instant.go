package accesslog

import (
	"math"
	"strings"
	"time"
)

// instant is sec seconds plus nano nanoseconds, either of any sign, since 1970 or since whenever a CSV counts from.
// |sec| is below 10^18, |nano| below 10^9.
type instant struct{ sec, nano int64 }

const nanos = int64(time.Second)

// maxSpan is 140 years in seconds: twice as many nanoseconds, the most by which two records can differ, still fit a
// time.Duration, which ends after 292 years.
const maxSpan = 140 * 365.25 * 24 * 60 * 60

// since is i - base, if the seconds are within maxSpan. Nothing overflows, by the bounds of instant.
func (i instant) since(base instant) (time.Duration, bool) {
	sec := i.sec - base.sec
	if sec > maxSpan || sec < -maxSpan {
		return 0, false
	}
	return time.Duration(sec*nanos + i.nano - base.nano), true
}

// civil is a time of the proleptic Gregorian calendar. A field that was no number is -1.
type civil struct {
	year, month, day, hour, minute, second int
	nano                                   int64
	west                                   bool // of Greenwich
	offHour, offMinute                     int
}

// instant is c if every field is in range. Second 60 is that of a leap second and counts, as Unix counts it, as the
// first of the next minute.
func (c civil) instant() (instant, bool) {
	if c.year < 0 || c.month < 1 || c.month > 12 || c.day < 1 || c.day > daysIn(c.year, c.month) {
		return instant{}, false
	}
	if c.hour < 0 || c.hour > 23 || c.minute < 0 || c.minute > 59 || c.second < 0 || c.second > 60 {
		return instant{}, false
	}
	if c.offHour < 0 || c.offHour > 23 || c.offMinute < 0 || c.offMinute > 59 {
		return instant{}, false
	}
	offset := c.offHour*60 + c.offMinute
	if c.west {
		offset = -offset
	}
	minutes := (daysSince1970(c.year, c.month, c.day)*24+int64(c.hour))*60 + int64(c.minute-offset)
	return instant{minutes*60 + int64(c.second), c.nano}, true
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysSince1970 counts in years that begin in March, so that the leap day is the last of one: Howard Hinnant,
// "chrono-Compatible Low-Level Date Algorithms", days_from_civil. Years from 0 on. time.Date takes ten times as long.
func daysSince1970(year, month, day int) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	year += 400 // 1 January of year 0 is in year -1; a whole cycle of the calendar keeps the divisions positive
	const upToMarch0, cycle = 719468, 146097
	return int64(365*year+year/4-year/100+year/400) + int64((153*(month-3)+2)/5+day-1) - upToMarch0 - cycle
}

// stampLayout is how common and combined logs write a time.
const stampLayout = "02/Jan/2006:15:04:05 -0700"

func parseStamp(s string) (instant, bool) {
	if len(s) != len(stampLayout) || s[2] != '/' || s[6] != '/' || s[11] != ':' || s[14] != ':' || s[17] != ':' ||
		s[20] != ' ' || (s[21] != '+' && s[21] != '-') {
		return instant{}, false
	}
	return civil{
		year: digits(s[7:11]), month: month(s[3:6]), day: digits(s[:2]),
		hour: digits(s[12:14]), minute: digits(s[15:17]), second: digits(s[18:20]),
		west: s[21] == '-', offHour: digits(s[22:24]), offMinute: digits(s[24:]),
	}.instant()
}

// month is 0 if there is none of that name.
func month(s string) int {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for i := 0; i < len(names); i += 3 {
		if names[i:i+3] == s {
			return i/3 + 1
		}
	}
	return 0
}

// parseTime reads decimal seconds or RFC 3339.
func parseTime(s string) (instant, bool) {
	if len(s) > 4 && s[4] == '-' {
		return parseRFC3339(s)
	}
	return parseSeconds(s)
}

// parseAny reads a time as any of the formats here writes it: that of a common log too.
func parseAny(s string) (instant, bool) {
	if len(s) == len(stampLayout) && s[2] == '/' {
		return parseStamp(s)
	}
	return parseTime(s)
}

// parseParts reads a whole number of thousandths or millionths of a second: parts is how many make one.
func parseParts(s string, parts uint64) (instant, bool) {
	n, ok := parseWhole(s)
	if !ok || n/parts >= 1e18 {
		return instant{}, false
	}
	return instant{int64(n / parts), int64(n % parts * (uint64(nanos) / parts))}, true
}

// parseSeconds reads [-]digits[.digits], at most 18 before the point.
func parseSeconds(s string) (instant, bool) {
	s, negative := strings.CutPrefix(s, "-")
	before, after, point := strings.Cut(s, ".")
	sec, ok := parseWhole(before)
	if !ok || sec >= 1e18 {
		return instant{}, false
	}
	i := instant{sec: int64(sec)}
	if point {
		if i.nano, ok = parseFraction(after); !ok {
			return instant{}, false
		}
	}
	if negative {
		i.sec, i.nano = -i.sec, -i.nano
	}
	return i, true
}

// parseFraction reads the digits after a point as nanoseconds and drops those after the ninth.
func parseFraction(s string) (int64, bool) {
	if !isWhole(s) {
		return 0, false
	}
	n := int64(0)
	for i := range len("123456789") {
		n *= 10
		if i < len(s) {
			n += int64(s[i] - '0')
		}
	}
	return n, true
}

// parseRFC3339 reads 2006-01-02T15:04:05[.digits](Z|±07:00); as the RFC allows, T may be a space, and T and Z small.
func parseRFC3339(s string) (instant, bool) {
	const layout = "2006-01-02T15:04:05"
	if len(s) <= len(layout) || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':' ||
		(s[10] != 'T' && s[10] != 't' && s[10] != ' ') {
		return instant{}, false
	}
	c := civil{
		year: digits(s[:4]), month: digits(s[5:7]), day: digits(s[8:10]),
		hour: digits(s[11:13]), minute: digits(s[14:16]), second: digits(s[17:19]),
	}
	zone := s[len(layout):]
	if zone[0] == '.' {
		end := strings.IndexAny(zone, "Zz+-")
		if end < 0 {
			return instant{}, false
		}
		var ok bool
		if c.nano, ok = parseFraction(zone[1:end]); !ok {
			return instant{}, false
		}
		zone = zone[end:]
	}
	switch {
	case zone == "Z" || zone == "z":
	case len(zone) == len("+07:00") && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':':
		c.west, c.offHour, c.offMinute = zone[0] == '-', digits(zone[1:3]), digits(zone[4:])
	default:
		return instant{}, false
	}
	return c.instant()
}

// digits is the number that s, a few digits, writes; -1 if it is not all digits.
func digits(s string) int {
	n := 0
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 {
			return -1
		}
		n = n*10 + int(d)
	}
	return n
}

// parseWhole reads a decimal number below 2^64: digits alone, no sign.
func parseWhole(s string) (uint64, bool) {
	n := uint64(0)
	for i := range len(s) {
		d := uint64(s[i] - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, len(s) > 0
}

// isWhole says whether s is digits alone, at least one.
func isWhole(s string) bool {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return false
		}
	}
	return len(s) > 0
}
