package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Files of limits: good, faulty, both, none, and one that is not there.
func TestCheck(t *testing.T) {
	good := "testdata/limits.yaml: is as it should be, limits 2, plans 1\n"
	faulty := "testdata/faulty.json:3: limits.api.limit: limit text \"100 a second\": must be PERMITS/PERIOD, such as 100/s burst 20\n" +
		"testdata/faulty.json:4: limits.exports.policy: unknown_policy: \"window\"; known are gcra, tokenbucket, leakybucket, slidinglog, dualbucket\n"
	for _, row := range []struct {
		args   []string
		status int
		out    string
		err    string
	}{
		{[]string{"testdata/limits.yaml"}, 0, good, ""},
		{[]string{"testdata/faulty.json"}, 1, faulty, ""},
		{[]string{"testdata/faulty.json", "testdata/limits.yaml"}, 1, faulty + good, ""},
		{nil, 2, "", "weir check: FILE... is missing; \"weir check -h\" shows how\n"},
		{[]string{"testdata/none"}, 2, "", "weir check: open testdata/none: "},
	} {
		status, out, errs := weirWith(t, "", append([]string{"check"}, row.args...)...)
		assert.Equal(t, row.status, status, row.args)
		assert.Equal(t, row.out, out, row.args)
		assert.True(t, strings.HasPrefix(errs, row.err) && (errs == "") == (row.err == ""), "%q: %q", row.args, errs)
	}
}
