package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestExplain: at 3 a second and a burst of 1 a permit is due every 333 1/3 ms. Worked out by hand: 1 tick is 3 units, a permit
// 1000.
func TestExplain(t *testing.T) {
	status, out, errs := weirWith(t, "", "explain", "--policy", "gcra", "--limit", "3/s burst 1", "--at", "0,100,333,334")
	assert.Equal(t, 0, status)
	assert.Empty(t, errs)
	for _, want := range []string{
		"gcra: 3 permits per 1000 ticks, burst 1",
		"1 tick = p = 3 units, 1 permit = q = 1000, burst = L = 1000",
		"0   take at 0 key 0 cost 1: allow, remaining 0, reset after 334",
		"after   TAT 1000 units, tick 333 1/3",
		"1   take at 100 key 0 cost 1: deny, remaining 0, retry after 234, reset after 234",
		"debt + cost * q = 700 + 1000 = 1700 > L = 1000: 700 too much; at p = 3 a tick that takes 700 / 3 ticks, rounded up 234",
		"2   take at 333 key 0 cost 1: deny, remaining 0, retry after 1, reset after 1",
		"3   take at 334 key 0 cost 1: allow",
		"after   TAT 2002 units, tick 667 1/3",
		"0 A.................x...........................................xA 334",
		"100 x [##############      ]",
	} {
		assert.Contains(t, out, want)
	}
}

// TestExplainOthers has a word of each policy's own.
func TestExplainOthers(t *testing.T) {
	for _, row := range []struct{ policy, limit, at, want string }{
		{"tokenbucket", "3/s burst 2", "0x2,100", "balance 3/10 permits: 300 of 2000 units"},
		{"leakybucket", "3/s burst 2", "0,0,100x2", "take at 0 key 0 cost 1: allow, remaining 0, reset after 667, delay 334"},
		{"leakybucket", "3/s burst 2", "0,0,100x2", "water 1 7/10 permits: 1700 of 2000 units"},
		{"slidinglog", "3/s burst 1", "0x2,100,333", "enough when that of tick 0 is 1000 old: 0 + 1000 - 333 = 667 ticks"},
		{"dualbucket", "3/s burst 2 & 1000/m", "0x1:1000,0x1:1", "second: debt + cost * q = 60000 + 60 = 60060 > L = 60000: 60 too much"},
		{"gcra", "3/s burst 1", "0x2", "cost * q = 2000 > L = 1000: it can never fit"},
		{"gcra", "3/s burst 1", "0x0", "a cost of 0 is always allowed and changes nothing"},
		{"gcra", "3/s burst 1", "18446744073709551615", "past what this limit counts exactly"},
	} {
		status, out, errs := weirWith(t, "", "explain", "--policy", row.policy, "--limit", row.limit, "--at", row.at)
		assert.Equal(t, 0, status, errs)
		assert.Contains(t, out, row.want, row.policy)
	}
}

func TestExplainCase(t *testing.T) {
	status, out, _ := weirWith(t, "", "explain", "--case", "gcra/relimit/larger-burst")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "relimit at 0 to 1 per 10 burst 5: allow\n      1 tick = p = 1 units, 1 permit = q = 10, burst = L = 50")
	assert.Contains(t, out, "4   take at 0 key 7 cost 1: deny, remaining 0, retry after 10, reset after 50")
	assert.NotContains(t, out, "wanted")
}

func TestExplainRefuses(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{}, "limit is missing"},
		{[]string{"--limit", "1/s"}, "at is missing"},
		{[]string{"--limit", "1/s", "--at", "-1"}, `at has "-1", must be a whole number of ticks below 2^64`},
		{[]string{"--limit", "1/s", "--at", "1,,2"}, `at has "", must be a whole number`},
		{[]string{"--limit", "1/s", "--at", "1x2:3"}, `only a dual bucket takes 333x2:5`},
		{[]string{"--limit", "1/s", "--at", strings.Repeat("0,", 10000) + "0"}, "at has 10001 requests, must have at most 10000"},
		{[]string{"--limit", "1/500us", "--at", "0"}, "tick is 1ms, must divide the period of 1/500us"},
		{[]string{"--limit", "1/s", "--at", "0", "--tick", "0s"}, `tick is "0s", must be a period`},
		{[]string{"--limit", "1/s", "--at", "0", "--policy", "gcr"}, `unknown_policy: "gcr"`},
		{[]string{"--limit", "1/s", "--at", "0", "--policy", "dualbucket"}, "dualbucket: invalid_second"},
		{[]string{"--case", "gcra/basic/none"}, `case is "gcra/basic/none", must be the id of a case`},
		{[]string{"--case", "gcra/basic/first-request", "--at", "1"}, "leave --limit and --at out"},
	} {
		status, out, errs := weirWith(t, "", append([]string{"explain"}, row.args...)...)
		assert.Equal(t, 2, status, row.want)
		assert.Empty(t, out, row.want)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
		assert.Contains(t, errs, row.want)
	}
}
