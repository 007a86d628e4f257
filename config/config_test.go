package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/config"
	"weir/httplimit"
)

const whole = `
proxies:
  trusted: [10.0.0.0/8, "fd00::1"]
  header: X-Forwarded-For
ipv6_bits: 56
limits:
  api:
    limit: 100/s burst 20
    plans:
      pro: 1000/s burst 200
      free: 10/s
    max_keys: 1000
  exports:
    policy: slidinglog
    limit: 10/1h
    key: [header X-Api-Key, user, address]
    dry_run: true
  both: {policy: dualbucket, limit: 100/s & 5000/h}
`

const wholeJSON = `{
	"proxies": {"trusted": ["10.0.0.0/8", "fd00::1"], "header": "X-Forwarded-For"}, "ipv6_bits": 56,
	"limits": {
		"api": {"limit": "100/s burst 20", "plans": {"pro": "1000/s burst 200", "free": "10/s"}, "max_keys": 1000},
		"exports": {"policy": "slidinglog", "limit": "10/1h", "key": ["header X-Api-Key", "user", "address"], "dry_run": true},
		"both": {"policy": "dualbucket", "limit": "100/s & 5000/h"}
	}
}`

// A file says the same in YAML and in JSON.
func TestParse(t *testing.T) {
	for name, text := range map[string]string{"limits.yaml": whole, "limits.JSON": wholeJSON, "flow.yml": strings.ReplaceAll(wholeJSON, "\t", " ")} {
		f, err := config.Parse(name, []byte(text))
		require.NoError(t, err, name)
		assert.Equal(t, httplimit.XForwardedFor, f.Address.Header)
		assert.Equal(t, "[10.0.0.0/8 fd00::1/128]", fmt.Sprint(f.Address.Trusted))
		assert.Equal(t, 56, f.Address.Bits6)
		require.Len(t, f.Limits, 3)
		api, exports, both := f.Limits[0], f.Limits[1], f.Limits[2]
		assert.Equal(t, "api gcra [address] 1000 false", fmt.Sprint(api.Name, " ", api.Policy, " ", api.Keys, " ", api.MaxKeys, " ", api.DryRun))
		assert.Equal(t, weir.Per(100, time.Second).WithBurst(20), api.Limit)
		assert.Equal(t, map[string]weir.Limit{"pro": weir.Per(1000, time.Second).WithBurst(200), "free": weir.Per(10, time.Second)}, api.Plans)
		assert.Equal(t, "exports slidinglog [header X-Api-Key user address] true", fmt.Sprint(exports.Name, " ", exports.Policy, " ", exports.Keys, " ", exports.DryRun))
		assert.Equal(t, weir.Per(100, time.Second).And(weir.Per(5000, time.Hour)), both.Limit)
	}
}

// Each fault is told with its line.
func TestFaults(t *testing.T) {
	for _, row := range []struct{ why, text, want string }{
		{"an empty file", "", "1: is empty, must have limits"},
		{"a list", "- a", "1: is a list, must be a mapping"},
		{"not YAML", "limits:\n  a: [", "2: did not find"},
		{"a tab", "limits:\n\ta: 1", "2: found character that cannot start any token"},
		{"two documents", "limits: {a: {limit: 1/s}}\n---\nlimits: {}", "2: has a second document"},
		{"an alias", "limits:\n  a: &a {limit: 1/s}\n  b: *a", "3: has an alias"},
		{"too deep", strings.Repeat("[", 40) + strings.Repeat("]", 40), "1: is nested more than 32 deep"},
		{"no limits", "ipv6_bits: 64", "1: has no limits, must have at least one"},
		{"no limit in limits", "limits: {}", "1: has no limits"},
		{"limits of nothing", "limits:", "1: limits: is nothing, must be a mapping"},
		{"a field that is not known", "limits:\n  a:\n    limit: 1/s\n    burst: 5", "4: limits.a.burst: is not known, must be one of limit, policy, key, plans, max_keys, dry_run"},
		{"at the top", "limit: 5\nlimits: {a: {limit: 1/s}}", "1: limit: is not known, must be one of limits, proxies, ipv6_bits"},
		{"twice", "limits:\n  a: {limit: 1/s}\n  b: {limit: 1/s}\n  a: {limit: 2/s}", "4: limits.a: is there twice, first on line 2"},
		{"no limit", "limits:\n  a:\n    policy: gcra", "2: limits.a: has no limit, must have one"},
		{"a limit of nothing", "limits:\n  a:", "2: limits.a: is nothing, must be a mapping"},
		{"a limit that is none", "limits:\n  a:\n    limit: 5 per s", `3: limits.a.limit: limit text "5 per s": must be PERMITS/PERIOD`},
		{"a limit that cannot be counted", "limits:\n  a:\n    limit: 100000000000/s burst 1", "3: limits.a.limit: gcra: invalid_burst: burst is 1, must be at least"},
		{"a policy that is none", "limits:\n  a:\n    policy: window\n    limit: 1/s", "3: limits.a.policy: unknown_policy"},
		{"a second limit", "limits:\n  a:\n    limit: 1/s & 5/m", "3: limits.a.limit: gcra: invalid_second"},
		{"a burst of a log", "limits:\n  a:\n    policy: slidinglog\n    limit: 10/s burst 5", "4: limits.a.limit: a sliding log has no burst"},
		{"a plan", "limits:\n  a:\n    limit: 1/s\n    plans:\n      pro: 0/s", "5: limits.a.plans.pro: limit text"},
		{"a key that is none", "limits:\n  a:\n    limit: 1/s\n    key:\n    - address\n    - header a b", `6: limits.a.key: is "header a b", must be address, user or header NAME`},
		{"no keys", "limits:\n  a:\n    limit: 1/s\n    key: []", "4: limits.a.key: is an empty list"},
		{"a bound of none", "limits:\n  a:\n    limit: 1/s\n    max_keys: 0", "4: limits.a.max_keys: invalid_max_keys: max_keys is 0"},
		{"a bound that is no number", "limits:\n  a:\n    limit: 1/s\n    max_keys: 1e9", `4: limits.a.max_keys: is "1e9", must be a whole number`},
		{"neither true nor false", "limits:\n  a:\n    limit: 1/s\n    dry_run: yes", `4: limits.a.dry_run: is "yes", must be true or false`},
		{"a name that is too long", "limits:\n  " + strings.Repeat("a", 65) + ":\n    limit: 1/s", "must have from 1 to 64"},
		{"a name that is not ASCII", "limits:\n  ü:\n    limit: 1/s", "2: limits.ü: is a name with the byte 0xc3"},
		{"a name that is a list", "limits:\n  [a]: {limit: 1/s}", "2: limits: has a name that is a list"},
		{"a network that is none", "proxies:\n  trusted: [10.0.0.0/33]\n  header: Forwarded\nlimits: {a: {limit: 1/s}}", `2: proxies.trusted: is "10.0.0.0/33"`},
		{"a network with more bits", "proxies:\n  trusted: 10.0.0.1/8\n  header: Forwarded\nlimits: {a: {limit: 1/s}}", "2: proxies.trusted: is 10.0.0.1/8, must be 10.0.0.0/8"},
		{"no header", "limits: {a: {limit: 1/s}}\nproxies:\n  trusted: 10.0.0.1", "3: proxies: Address: Header is empty"},
		{"bits", "ipv6_bits: 129\nlimits: {a: {limit: 1/s}}", `1: ipv6_bits: is "129", must be a whole number up to 128`},
		{"no bits", "ipv6_bits: 0\nlimits: {a: {limit: 1/s}}", `1: ipv6_bits: is 0, must be from 1 to 128`},
		{"too long", strings.Repeat("#", 1<<20+1), "1: is longer than 1048576 bytes"},
	} {
		_, err := config.Parse("f.yaml", []byte(row.text))
		var faults config.Faults
		if assert.ErrorAs(t, err, &faults, row.why) && assert.Len(t, faults, 1, "%s: %v", row.why, err) {
			assert.Contains(t, faults[0].Error(), row.want, row.why)
			assert.True(t, strings.HasPrefix(faults[0].Error(), "f.yaml:"), row.why)
			assert.NotContains(t, err.Error(), "\n", row.why)
		}
	}
}

// The same of JSON, whose lines are counted here.
func TestFaultsOfJSON(t *testing.T) {
	for _, row := range []struct{ why, text, want string }{
		{"nothing", "", "1: ends too early"},
		{"half", "{\n\"limits\": {", "2: ends too early"},
		{"not JSON", "{\n\"limits\": }", "2: invalid character '}'"},
		{"more", "{\"limits\": {\"a\": {\"limit\": \"1/s\"}}}\n\n5", "3: has something after its end"},
		{"a fault inside", "{\n\"limits\": {\n\"a\": {\n\"limit\":\n\"5\"}}}", "5: limits.a.limit: limit text"},
		{"twice", "{\"limits\": {\n\"a\": {\"limit\": \"1/s\"},\n\"a\": {\"limit\": \"1/s\"}}}", "3: limits.a: is there twice, first on line 2"},
		{"null", "{\"limits\": null}", "1: limits: is nothing"},
		{"a number", "{\"limits\":\n7}", "2: limits: is a value, must be a mapping"},
		{"too deep", strings.Repeat("[", 40) + strings.Repeat("]", 40), "1: is nested more than 32 deep"},
	} {
		_, err := config.Parse("f.json", []byte(row.text))
		var faults config.Faults
		if assert.ErrorAs(t, err, &faults, row.why) && assert.Len(t, faults, 1, "%s: %v", row.why, err) {
			assert.Contains(t, faults[0].Error(), row.want, row.why)
		}
	}
}

// All faults of a file come at once, by line.
func TestAllFaultsAreTold(t *testing.T) {
	_, err := config.Parse("f.yaml", []byte("limits:\n  a:\n    limit: 0/s\n    plans: {x: 1/z}\n    key: nobody\nproxies: 5\nother: 1\n"))
	var faults config.Faults
	require.ErrorAs(t, err, &faults)
	var lines []int
	for _, f := range faults {
		lines = append(lines, f.Line)
	}
	assert.Equal(t, []int{3, 4, 5, 6, 7}, lines)
	assert.Contains(t, err.Error(), "(and 4 more faults)")
	var one config.Fault
	assert.True(t, errors.As(err, &one))
}

// No text breaks it, and whatever is wrong has a line of the file.
func FuzzParse(f *testing.F) {
	f.Add(whole, false)
	f.Add(wholeJSON, true)
	f.Add("limits: {a: {limit: 1/s, key: [header X, address]}}", false)
	f.Fuzz(func(t *testing.T, text string, isJSON bool) {
		name := "f.yaml"
		if isJSON {
			name = "f.json"
		}
		_, err := config.Parse(name, []byte(text))
		var faults config.Faults
		if err == nil {
			return
		}
		require.ErrorAs(t, err, &faults)
		for _, fault := range faults {
			require.NotContains(t, fault.Error(), "\n")
			require.GreaterOrEqual(t, fault.Line, 1)
			require.LessOrEqual(t, fault.Line, strings.Count(text, "\n")+strings.Count(text, "\r")+2)
		}
	})
}
