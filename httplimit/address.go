package httplimit

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// The header fields that Address can read.
const (
	XForwardedFor = "X-Forwarded-For"
	Forwarded     = "Forwarded" // RFC 7239
)

// Address is how to find the client's address. The zero Address trusts nobody: the client is whoever the connection comes from.
type Address struct {
	// Trusted are the proxies whose word is taken for whom they had a request from: your own, and no more.
	Trusted []netip.Prefix
	// Header is the field that they write, XForwardedFor or Forwarded. The other one is not read, for a proxy that does not
	// write it passes on what a client has written. It must be given if and only if anybody is trusted.
	Header string
	// Bits6 is how many leading bits of an IPv6 address make the key, 1 to 128; 0 means 64, which is what a customer has
	// at least. An IPv4 address is a key with all its bits, also where it comes as an IPv6 one (::ffff:192.0.2.1).
	Bits6 int
}

// mostHops bounds how far back a chain of proxies is followed.
const mostHops = 64

// Key is the KeyFunc of an Address. It goes from the connection backwards through the field, from right to left and over
// all its lines, as long as who it has come to is trusted: the first who is not is the client. What a client writes itself
// stands to the left of that and is never looked at. An entry that is no address (unknown, _hidden, rubbish) ends the way:
// then the client is the last trusted proxy, as it is where the field has no more entries, or after 64 of them. Empty
// entries are passed over; ports and zones are not part of the key. The key of a connection without an IP address, such as
// a Unix socket's, is what http.Request.RemoteAddr says.
//
// The error is one line.
func (a Address) Key() (KeyFunc, error) {
	switch {
	case a.Header != "" && a.Header != XForwardedFor && a.Header != Forwarded:
		return nil, fmt.Errorf("Address: Header is %q, must be %s or %s", a.Header, XForwardedFor, Forwarded)
	case a.Header == "" && len(a.Trusted) > 0:
		return nil, fmt.Errorf("Address: Header is empty, must be %s or %s where proxies are trusted", XForwardedFor, Forwarded)
	case a.Header != "" && len(a.Trusted) == 0:
		return nil, fmt.Errorf("Address: Header is %s, must be empty where no proxy is trusted", a.Header)
	case a.Bits6 < 0 || a.Bits6 > 128:
		return nil, fmt.Errorf("Address: Bits6 is %d, must be from 0 to 128", a.Bits6)
	}
	for i, p := range a.Trusted {
		if !p.IsValid() || p.Addr().Is4In6() {
			return nil, fmt.Errorf("Address: Trusted[%d] is %v, must be a prefix of IPv4 or IPv6", i, p)
		}
	}
	if a.Bits6 == 0 {
		a.Bits6 = 64
	}
	a.Trusted = append([]netip.Prefix(nil), a.Trusted...)
	return a.key, nil
}

// peerKey is the key of the zero Address.
func peerKey(r *http.Request) string { return Address{Bits6: 64}.key(r) }

func (a Address) key(r *http.Request) string {
	at, ok := parseNode(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	if a.Header != "" {
		at = a.follow(at, r.Header[a.Header])
	}
	var text [64]byte
	if at.Is4() {
		return string(at.AppendTo(text[:0]))
	}
	prefix, _ := at.Prefix(a.Bits6) // the bits are in range, and there is no zone
	return string(prefix.AppendTo(text[:0]))
}

// follow goes back through a field as long as who it has come to is trusted.
func (a Address) follow(at netip.Addr, lines []string) netip.Addr {
	left := chain{lines: lines, quotes: a.Header == Forwarded}
	for range mostHops {
		if !a.trusts(at) {
			break
		}
		entry, ok := left.pop()
		if ok && a.Header == Forwarded {
			entry, ok = forwardedFor(entry)
		}
		if !ok {
			break
		}
		before, ok := parseNode(entry)
		if !ok {
			break
		}
		at = before
	}
	return at
}

func (a Address) trusts(at netip.Addr) bool {
	for _, p := range a.Trusted {
		if p.Contains(at) {
			return true
		}
	}
	return false
}

// parseNode reads an address with perhaps a port: 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1] or [2001:db8::1]:80.
// A zone is dropped, and an IPv4 address is one however it is written.
func parseNode(text string) (netip.Addr, bool) {
	const longest = 128 // an address with a zone and a port is shorter
	host, port, ported := text, "", false
	switch {
	case len(text) > longest:
		return netip.Addr{}, false
	case strings.HasPrefix(text, "["):
		inside, rest, closed := strings.Cut(text[1:], "]")
		if !closed || rest != "" && rest[0] != ':' || !strings.Contains(inside, ":") {
			return netip.Addr{}, false
		}
		host, port, ported = inside, strings.TrimPrefix(rest, ":"), rest != ""
	case strings.Count(text, ":") == 1:
		host, port, ported = strings.Cut(text, ":")
	}
	if ported && (len(port) == 0 || len(port) > 5 || strings.Trim(port, "0123456789") != "") {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(host)
	return addr.WithZone("").Unmap(), err == nil
}
