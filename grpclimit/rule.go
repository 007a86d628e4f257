/*
Package grpclimit puts limits on gRPC calls: interceptors for servers, which deny with RESOURCE_EXHAUSTED and say in a
RetryInfo how long to wait, and for clients, which wait for a limiter and for what servers say.

	limits, err := grpclimit.New([]grpclimit.Rule{{Name: "calls", Limiter: limiter}})
	...
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(limits.Unary), grpc.ChainStreamInterceptor(limits.Stream))

	client := &grpclimit.Client{Retries: 2}
	conn, err := grpc.NewClient(target, grpc.WithUnaryInterceptor(client.Unary), grpc.WithStreamInterceptor(client.Stream), ...)
*/
package grpclimit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"weir"
)

// KeyFunc says whose call it is. method is the full name, /package.Service/Method. The empty key is one like any other.
type KeyFunc func(ctx context.Context, method string) string

// Rule is one limit on calls. A stream is one call, charged when it is opened.
type Rule struct {
	// Name is what clients read in a denial: 1 to 64 printable ASCII characters.
	Name string
	// Limiter decides.
	Limiter weir.Limiter
	// Plan says by which limiter a call is decided, instead of Limiter. nil means that the rule does not hold for the call;
	// a nil *weir.Local is not nil here, so look it up in a map of weir.Limiter.
	Plan func(ctx context.Context, method string) weir.Limiter
	// Key says whose call it is. nil means Peer.
	Key KeyFunc
	// Cost says what a call spends. nil means one permit.
	Cost func(ctx context.Context, method string) weir.Cost
	// DryRun decides and spends, but lets the call go on whatever the answer.
	DryRun bool
}

// The bounds of rules and keys.
const (
	mostRules   = 16
	longestName = 64
	longestKey  = 256
)

func (r *Rule) check(i int) error {
	at := fmt.Sprintf("rule %d (%.64q)", i+1, r.Name)
	if len(r.Name) < 1 || len(r.Name) > longestName {
		return fmt.Errorf("grpclimit.New: %s: Name has %d bytes, must have from 1 to %d", at, len(r.Name), longestName)
	}
	for _, c := range []byte(r.Name) {
		if c < ' ' || c > '~' {
			return fmt.Errorf("grpclimit.New: %s: Name holds the byte %#x, must be printable ASCII", at, c)
		}
	}
	if (r.Limiter == nil) == (r.Plan == nil) {
		return fmt.Errorf("grpclimit.New: %s: of Limiter and Plan one must be given and the other nil", at)
	}
	return nil
}

// ask is what a call asks of the rule; ok is false if the rule does not hold for it.
func (r *Rule) ask(ctx context.Context, method string) (a weir.Ask, ok bool) {
	a = weir.Ask{Limiter: r.Limiter, Cost: weir.N(1)}
	if r.Plan != nil {
		a.Limiter = r.Plan(ctx, method)
	}
	if a.Limiter == nil {
		return a, false
	}
	key := r.Key
	if key == nil {
		key = Peer
	}
	if a.Key = key(ctx, method); len(a.Key) > longestKey {
		sum := sha256.Sum256([]byte(a.Key))
		a.Key = "sha256 " + hex.EncodeToString(sum[:])
	}
	if r.Cost != nil {
		a.Cost = r.Cost(ctx, method)
	}
	return a, true
}

// Peer is the address of the connection's other end without its port, of IPv6 the first 64 bits; what is no IP address is
// taken as it is. Behind a proxy all callers have the proxy's: take Metadata that the proxy writes.
func Peer(ctx context.Context, _ string) string {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil {
		return ""
	}
	text := p.Addr.String()
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		return text
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return text
	}
	if addr = addr.WithZone("").Unmap(); addr.Is4() {
		return addr.String()
	}
	prefix, _ := addr.Prefix(64) // fits any IPv6 address without a zone
	return prefix.String()
}

// Metadata is the last value of that name in a call's metadata, empty without one: what a trusted proxy has added stands
// behind what the caller has sent.
func Metadata(name string) KeyFunc {
	return func(ctx context.Context, _ string) string {
		values := metadata.ValueFromIncomingContext(ctx, name)
		if len(values) == 0 {
			return ""
		}
		return values[len(values)-1]
	}
}
