package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/httplimit"
)

// proxies are trusted in the tables below.
var proxies = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("fe80::/10"),
}

func keyOf(t testing.TB, a httplimit.Address, remote, field string, lines ...string) string {
	t.Helper()
	key, err := a.Key()
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = remote
	for _, line := range lines {
		r.Header.Add(field, line)
	}
	return key(r)
}

// Whoever the connection comes from is the client, whatever it writes.
func TestNobodyIsTrusted(t *testing.T) {
	for _, row := range []struct{ why, remote, want string }{
		{"IPv4", "192.0.2.1:1234", "192.0.2.1"},
		{"IPv6", "[2001:db8:1:2:3:4:5:6]:1234", "2001:db8:1:2::/64"},
		{"a zone", "[fe80::1%eth0]:1234", "fe80::/64"},
		{"IPv4 as IPv6", "[::ffff:192.0.2.1]:1234", "192.0.2.1"},
		{"no port", "192.0.2.1", "192.0.2.1"},
		{"a Unix socket", "@", "@"},
		{"nothing", "", ""},
	} {
		for _, field := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"} {
			assert.Equal(t, row.want, keyOf(t, httplimit.Address{}, row.remote, field, "203.0.113.9", "for=203.0.113.9"), row.why)
		}
	}
	assert.Equal(t, "2001:db8:1:200::/56", keyOf(t, httplimit.Address{Bits6: 56}, "[2001:db8:1:2ff::1]:1", "A"))
	assert.Equal(t, "2001:db8::1/128", keyOf(t, httplimit.Address{Bits6: 128}, "[2001:db8::1]:1", "A"))
}

// What strangers can do with X-Forwarded-For, and whose request it is all the same. 10.x are proxies, 198.51.100.7 is the
// client, 203.0.113.9 is whom it pretends to be.
func TestXForwardedFor(t *testing.T) {
	many := strings.Repeat("203.0.113.9, ", 10_000)
	for _, row := range []struct {
		why, remote string
		lines       []string
		want        string
	}{
		{"by the book", "10.0.0.1:1", []string{"198.51.100.7"}, "198.51.100.7"},
		{"two proxies", "10.0.0.1:1", []string{"198.51.100.7, 10.0.0.2"}, "198.51.100.7"},
		{"spoofed", "10.0.0.1:1", []string{"203.0.113.9, 198.51.100.7"}, "198.51.100.7"},
		{"spoofed with a proxy's address", "10.0.0.1:1", []string{"203.0.113.9, 10.0.0.3, 198.51.100.7"}, "198.51.100.7"},
		{"spoofed by somebody who is no proxy", "198.51.100.7:1", []string{"203.0.113.9"}, "198.51.100.7"},
		{"spoofed, pretending to be a proxy", "198.51.100.7:1", []string{"10.0.0.1"}, "198.51.100.7"},
		{"duplicated: the client's line comes first", "10.0.0.1:1", []string{"203.0.113.9", "198.51.100.7"}, "198.51.100.7"},
		{"duplicated over proxies", "10.0.0.1:1", []string{"203.0.113.9, 198.51.100.7", "10.0.0.2", "10.0.0.3"}, "198.51.100.7"},
		{"the same twice", "10.0.0.1:1", []string{"198.51.100.7, 198.51.100.7"}, "198.51.100.7"},
		{"absent", "10.0.0.1:1", nil, "10.0.0.1"},
		{"empty", "10.0.0.1:1", []string{""}, "10.0.0.1"},
		{"empty entries", "10.0.0.1:1", []string{",, ,\t,198.51.100.7,, ,"}, "198.51.100.7"},
		{"empty lines", "10.0.0.1:1", []string{"203.0.113.9, 198.51.100.7", "", " , "}, "198.51.100.7"},
		{"nothing but commas", "10.0.0.1:1", []string{strings.Repeat(",", 100_000)}, "10.0.0.1"},
		{"all are proxies", "10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"rubbish by the client", "10.0.0.1:1", []string{"<script>, \x00, 198.51.100.7"}, "198.51.100.7"},
		{"rubbish by a proxy ends the way", "10.0.0.1:1", []string{"198.51.100.7, unknown, 10.0.0.2"}, "10.0.0.2"},
		{"IPv4 with a port", "10.0.0.1:1", []string{"198.51.100.7:4711"}, "198.51.100.7"},
		{"a port that is too long", "10.0.0.1:1", []string{"198.51.100.7:123456"}, "10.0.0.1"},
		{"a port that is none", "10.0.0.1:1", []string{"198.51.100.7:http"}, "10.0.0.1"},
		{"IPv6", "10.0.0.1:1", []string{"2001:db8:1:2:3::4"}, "2001:db8:1:2::/64"},
		{"IPv6 in brackets", "10.0.0.1:1", []string{"[2001:db8:1:2:3::4]"}, "2001:db8:1:2::/64"},
		{"IPv6 with a port", "10.0.0.1:1", []string{"[2001:db8:1:2:3::4]:443"}, "2001:db8:1:2::/64"},
		{"IPv6 with a zone", "10.0.0.1:1", []string{"2001:db8:1:2:3::4%eth0"}, "2001:db8:1:2::/64"},
		{"IPv6 with a zone and a port", "10.0.0.1:1", []string{"[2001:db8:1:2:3::4%25eth0]:443"}, "2001:db8:1:2::/64"},
		{"IPv6, the other end of the same network", "10.0.0.1:1", []string{"2001:db8:1:2:ffff:ffff:ffff:ffff"}, "2001:db8:1:2::/64"},
		{"IPv6, the next network", "10.0.0.1:1", []string{"2001:db8:1:3::"}, "2001:db8:1:3::/64"},
		{"a bracket left open", "10.0.0.1:1", []string{"[2001:db8::1"}, "10.0.0.1"},
		{"IPv4 in brackets", "10.0.0.1:1", []string{"[198.51.100.7]:1"}, "10.0.0.1"},
		{"IPv4 as IPv6", "10.0.0.1:1", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"a proxy as IPv6", "[::ffff:10.0.0.1]:1", []string{"198.51.100.7, ::ffff:10.9.9.9"}, "198.51.100.7"},
		{"a proxy with a zone", "[fe80::1%eth0]:1", []string{"198.51.100.7, fd00::9"}, "198.51.100.7"},
		{"leading zeros are no address", "10.0.0.1:1", []string{"198.051.100.007"}, "10.0.0.1"},
		{"10,000 entries", "10.0.0.1:1", []string{many + "198.51.100.7"}, "198.51.100.7"},
		{"10,000 lines", "10.0.0.1:1", append(strings.Split(many, ", "), "198.51.100.7"), "198.51.100.7"},
		{"10,000 proxies: after 64 it is enough", "10.0.0.1:1", []string{"198.51.100.7, 10.1.1.1, " + strings.Repeat("10.0.0.2, ", 10_000)}, "10.0.0.2"},
		{"64 proxies more are too many", "10.0.0.1:1", []string{"198.51.100.7, " + strings.Repeat("10.0.0.2, ", 64)}, "10.0.0.2"},
		{"63 proxies more are followed", "10.0.0.1:1", []string{"198.51.100.7, " + strings.Repeat("10.0.0.2, ", 63)}, "198.51.100.7"},
		{"an entry of a megabyte", "10.0.0.1:1", []string{strings.Repeat("1", 1<<20)}, "10.0.0.1"},
		{"the other field is not read", "10.0.0.1:1", []string{"for=198.51.100.7"}, "10.0.0.1"},
	} {
		a := httplimit.Address{Trusted: proxies, Header: httplimit.XForwardedFor}
		assert.Equal(t, row.want, keyOf(t, a, row.remote, "X-Forwarded-For", row.lines...), row.why)
	}
}

// Who is trusted is settled when the key is made.
func TestTrustedIsCopied(t *testing.T) {
	mine := []netip.Prefix{proxies[0]}
	key, err := httplimit.Address{Trusted: mine, Header: httplimit.XForwardedFor}.Key()
	require.NoError(t, err)
	mine[0] = netip.MustParsePrefix("0.0.0.0/0")
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "192.0.2.1:1"
	r.Header.Set("X-Forwarded-For", "198.51.100.7")
	assert.Equal(t, "192.0.2.1", key(r))
}

// The field that was not chosen is not read.
func TestOtherFieldIsNotRead(t *testing.T) {
	forwarded := httplimit.Address{Trusted: proxies, Header: httplimit.Forwarded}
	assert.Equal(t, "10.0.0.1", keyOf(t, forwarded, "10.0.0.1:1", "X-Forwarded-For", "198.51.100.7"))
	plain := httplimit.Address{Trusted: proxies, Header: httplimit.XForwardedFor}
	assert.Equal(t, "10.0.0.1", keyOf(t, plain, "10.0.0.1:1", "Forwarded", "for=198.51.100.7"))
}

// The same of Forwarded (RFC 7239).
func TestForwarded(t *testing.T) {
	for _, row := range []struct {
		why   string
		lines []string
		want  string
	}{
		{"by the book", []string{"for=198.51.100.7;proto=http;by=10.0.0.1"}, "198.51.100.7"},
		{"the name in any case, the parameter anywhere", []string{"proto=https; FoR=198.51.100.7"}, "198.51.100.7"},
		{"two proxies", []string{"for=198.51.100.7, for=10.0.0.2"}, "198.51.100.7"},
		{"spoofed", []string{"for=203.0.113.9, for=198.51.100.7"}, "198.51.100.7"},
		{"spoofed on a line of its own", []string{"for=203.0.113.9", "for=198.51.100.7;by=10.0.0.1"}, "198.51.100.7"},
		{"a quote left open by the client", []string{`for="203.0.113.9, for=198.51.100.7`}, "198.51.100.7"},
		{"the same with a backslash", []string{`for="203.0.113.9\", for="198.51.100.7"`}, "198.51.100.7"},
		{"a quote that swallows nothing", []string{`for="203.0.113.9, for="198.51.100.7"`}, "198.51.100.7"},
		{"quoted, with a port", []string{`for="198.51.100.7:4711"`}, "198.51.100.7"},
		{"quoted, with needless backslashes", []string{`for="198\.51.100\.7"`}, "198.51.100.7"},
		{"IPv6", []string{`for="[2001:db8:1:2:3::4]"`}, "2001:db8:1:2::/64"},
		{"IPv6 with a port", []string{`For="[2001:db8:1:2:3::4]:4711";proto=http`}, "2001:db8:1:2::/64"},
		{"a comma and a semicolon in quotes", []string{`for=198.51.100.7;ext="a,b;c", for=10.0.0.2;ext=",;"`}, "198.51.100.7"},
		{"an escaped quote in quotes", []string{`for=198.51.100.7;ext="a\"b,for=203.0.113.9", for=10.0.0.2`}, "198.51.100.7"},
		{"unknown ends the way", []string{"for=198.51.100.7, for=unknown, for=10.0.0.2"}, "10.0.0.2"},
		{"a hidden name ends the way", []string{"for=_hidden, for=10.0.0.2"}, "10.0.0.2"},
		{"no for", []string{"for=198.51.100.7, proto=http"}, "10.0.0.1"},
		{"for twice", []string{"for=198.51.100.7;for=203.0.113.9"}, "10.0.0.1"},
		{"not a pair", []string{"198.51.100.7"}, "10.0.0.1"},
		{"empty elements", []string{",, for=198.51.100.7 ,,"}, "198.51.100.7"},
		{"10,000 elements", []string{strings.Repeat("for=203.0.113.9, ", 10_000) + "for=198.51.100.7"}, "198.51.100.7"},
		{"a megabyte of quotes", []string{strings.Repeat(`"`, 1<<20+1) + ", for=198.51.100.7"}, "198.51.100.7"},
		{"a megabyte of backslashes", []string{`for="` + strings.Repeat(`\`, 1<<20) + `", for=10.0.0.2`}, "10.0.0.2"},
	} {
		a := httplimit.Address{Trusted: proxies, Header: httplimit.Forwarded}
		assert.Equal(t, row.want, keyOf(t, a, "10.0.0.1:1", "Forwarded", row.lines...), row.why)
	}
}

func TestAddressRefuses(t *testing.T) {
	for _, row := range []struct {
		address httplimit.Address
		want    string
	}{
		{httplimit.Address{Header: "X-Real-IP"}, `Header is "X-Real-IP", must be X-Forwarded-For or Forwarded`},
		{httplimit.Address{Trusted: proxies}, "Header is empty"},
		{httplimit.Address{Header: httplimit.Forwarded}, "must be empty where no proxy is trusted"},
		{httplimit.Address{Bits6: 129}, "Bits6 is 129"},
		{httplimit.Address{Bits6: -1}, "Bits6 is -1"},
		{httplimit.Address{Trusted: []netip.Prefix{{}}, Header: httplimit.Forwarded}, "Trusted[0] is invalid Prefix"},
		{httplimit.Address{Trusted: []netip.Prefix{netip.MustParsePrefix("::ffff:10.0.0.0/104")}, Header: httplimit.Forwarded}, "Trusted[0] is ::ffff:10.0.0.0/104"},
	} {
		_, err := row.address.Key()
		require.Error(t, err, row.want)
		assert.Contains(t, err.Error(), row.want)
	}
}

// Keys from requests, and how the first of several is told from the others.
func TestKeys(t *testing.T) {
	address, err := httplimit.Address{}.Key()
	require.NoError(t, err)
	first := httplimit.First(nil, httplimit.Header("X-Api-Key"), httplimit.BasicUser, address)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "192.0.2.1:1"
	assert.Equal(t, "3 192.0.2.1", first(r))
	r.SetBasicAuth("ann", "secret")
	assert.Equal(t, "2 ann", first(r))
	r.Header.Set("X-Api-Key", "192.0.2.1")
	assert.Equal(t, "1 192.0.2.1", first(r))
	assert.Empty(t, httplimit.First()(r))
	assert.Empty(t, httplimit.Header("X-None")(r))
}

// A long key is told to the limiter by a hash of all of it.
func TestLongKeys(t *testing.T) {
	l, _ := made(t, "gcra", "1/h")
	h, _ := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: l, Key: httplimit.Header("K")}})
	long := strings.Repeat("k", 257)
	for _, row := range []struct {
		key  string
		want int
	}{{long, 200}, {long, 429}, {long + "k", 200}, {long[:256], 200}, {long[:256], 429}} {
		assert.Equal(t, row.want, get(h, func(r *http.Request) { r.Header.Set("K", row.key) }).StatusCode, len(row.key))
	}
	assert.EqualValues(t, 0, l.Peek(ctx, long[:256], weir.N(0)).Remaining())
	assert.EqualValues(t, 1, l.Peek(ctx, long, weir.N(0)).Remaining(), "not under its own name")
}

// Whatever is in the fields, there is an answer, and only those whom the proxy names or the peer itself can be the client.
func FuzzAddress(f *testing.F) {
	f.Add("10.0.0.1:1", `for="[::1]:1", for=10.0.0.2`)
	f.Add("10.0.0.1:1", `1.2.3.4,, [::1%a]:1`)
	f.Fuzz(func(t *testing.T, remote, line string) {
		for _, field := range []string{httplimit.XForwardedFor, httplimit.Forwarded} {
			key, err := httplimit.Address{Trusted: proxies, Header: field}.Key()
			require.NoError(t, err)
			r := &http.Request{RemoteAddr: remote, Header: http.Header{field: {line}}}
			alone := key(r)
			r.Header[field] = []string{line, "198.51.100.7"}
			if field == httplimit.Forwarded {
				r.Header[field][1] = "for=198.51.100.7"
			}
			after := key(r)
			if after != alone {
				require.Equal(t, "198.51.100.7", after, "what the proxy says last goes before all that is there")
			}
		}
	})
}

// Host is no field of http.Request's Header, and is one all the same.
func TestHeaderHost(t *testing.T) {
	r := httptest.NewRequest("GET", "http://tenant.example/", nil)
	assert.Equal(t, "tenant.example", httplimit.Header("host")(r))
}
