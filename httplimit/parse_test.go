package httplimit_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/httplimit"
)

// waits is how long a Transport waits after a RateLimit field.
func waits(t testing.TB, field string) (wait time.Duration) {
	d := newDirect(&answers{answer(200, "RateLimit", field)})
	rt := &httplimit.Transport{Base: d, MaxWait: 25 * time.Hour}
	for range 2 {
		_, err := send(t, rt, "GET", "http://a/", nil)
		require.NoError(t, err)
	}
	return d.came[1]
}

// byLibrary is the same as an independent parser reads the field; ok is false for what our own need not read: inner lists,
// dates, texts of other scripts.
func byLibrary(field string) (wait time.Duration, ok bool) {
	list, err := httpsfv.UnmarshalList([]string{field})
	if err != nil {
		// The library insists on the padding of Byte Sequences; RFC 9651, section 4.2.7, would have it lenient.
		return 0, !strings.Contains(field, ":")
	}
	for _, member := range list {
		item, isItem := member.(httpsfv.Item)
		if !isItem || !simple(item.Value) {
			return 0, false
		}
		for _, name := range item.Params.Names() {
			if v, _ := item.Params.Get(name); !simple(v) {
				return 0, false
			}
		}
		r, _ := item.Params.Get("r")
		s, _ := item.Params.Get("t")
		if left, isNumber := r.(int64); isNumber && left == 0 {
			if n, isNumber := s.(int64); isNumber && n > 0 {
				wait = max(wait, time.Duration(min(n, 86400))*time.Second)
			}
		}
	}
	return wait, true
}

func simple(value any) bool {
	switch value.(type) {
	case time.Time, httpsfv.DisplayString:
		return false
	}
	return true
}

var rateLimits = []string{
	`"a";r=0;t=5`, `"a";r=0;t=5, "b";r=0;t=7`, `a;r=0;t=5`, `"a" ;r=0`, `"a"; r=0;t=3`, `"a";r=0 ;t=3`, `"a";r=0;t=3,`,
	`"a";t=3;r=0`, `"a";r=1;r=0;t=3`, `"a";r=0;t=-3`, `"a";r=-0;t=3`, `"a";r=0.0;t=3`, `"a";r=0;t=3.5`, `"a";r=0;t=999999999999999`,
	`"a";r=0;t=1234567890123456`, `"a\"\\";r=0;t=4`, `"a\x";r=0;t=4`, `"a;r=0;t=4`, `"a";pk=:YQ==:;r=0;t=4`, `"a";pk=:Y`, `?1;r=0;t=4`,
	`"a";r;t=4`, `"a";R=0;t=4`, `"ä";r=0;t=4`, `(a b);r=0;t=4`, `@5;r=0;t=4`, `%"a";r=0;t=4`, ``, ` `, `,`, `"a";r=0;t=4 	, 	b`, `-`, `1.`, `*a;r=0;t=2`,
	`"a";*x=1;r=0;t=2`, `"a";r=00;t=007`, `1234567890123.1;r=0;t=2`, `5;r=0;t=2`, `"a";;r=0`, "\t\"a\";r=0;t=1", `"a";r=0;t=4 "b"`, `"a" "b";r=0;t=4`,
}

// Every form of a field is read as an independent parser reads it.
func TestRateLimitIsReadAsByALibrary(t *testing.T) {
	compared := 0
	for _, field := range rateLimits {
		synctest.Test(t, func(t *testing.T) {
			want, ok := byLibrary(field)
			if ok {
				compared++
				assert.Equal(t, want, waits(t, field), "%q", field)
			}
		})
	}
	assert.Greater(t, compared, len(rateLimits)*3/4)
}

func FuzzRateLimit(f *testing.F) {
	for _, field := range rateLimits {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) {
		if want, ok := byLibrary(field); ok {
			synctest.Test(t, func(t *testing.T) { require.Equal(t, want, waits(t, field), "%q", field) })
		}
	})
}

// No Retry-After breaks anything, and none makes a Transport hold a host for more than a day.
func FuzzRetryAfter(f *testing.F) {
	f.Add("5", "")
	f.Add("Sat, 01 Jan 2000 00:00:05 GMT", "Sat, 01 Jan 2000 00:00:00 GMT")
	f.Add("99999999999999999999", "x")
	f.Add("Sat, 01 Jan 2050 00:00:05 GMT", "")
	f.Fuzz(func(t *testing.T, after, date string) {
		synctest.Test(t, func(t *testing.T) {
			d := newDirect(&answers{answer(http.StatusTooManyRequests, "Retry-After", after, "Date", date)})
			rt := &httplimit.Transport{Base: d, MaxWait: 24 * time.Hour}
			for range 2 {
				_, err := send(t, rt, "GET", "http://a/", nil)
				require.NoError(t, err)
			}
		})
	})
}
