package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weir/internal/resp"
	"weir/policy"
	"weir/redislimit"
	"weir/vectors"
)

// onServer is the scripts of package redislimit on a server.
func (v *verification) onServer(a app, o vectors.Options) (candidate, error) {
	dialing, cancel := context.WithTimeout(a.ctx, 10*time.Second)
	defer cancel()
	conn, err := resp.Dial(dialing, v.addr)
	if err != nil {
		return candidate{}, fmt.Errorf("addr is %q: %w", v.addr, err)
	}
	if _, err := conn.Do("PING"); err != nil {
		return candidate{}, errors.Join(fmt.Errorf("addr is %q: %w", v.addr, err), conn.Close())
	}
	t := &tidied{makers: redislimit.Registry(conn)}
	var each policy.Registry
	for _, name := range t.makers.Names() {
		_ = each.Add(name, t.maker(name)) // names of a registry
	}
	d := vectors.NewRegistryDriver("weir redislimit", "lua", &each).Without(vectors.CanMaxKeys, vectors.CanInt64)
	d.Timeout = time.Minute
	o.Replay = v.replay("--impl", "redis", "--addr", v.addr)
	return candidate{driver: onServer{d, t, conn}, options: o}, nil
}

// tidied makes policies on a server, one at a time, and takes away the keys of the one before.
type tidied struct {
	makers *policy.Registry
	last   policy.Policy
}

func (t *tidied) maker(name string) policy.Maker {
	return func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		t.tidy()
		p, err := t.makers.New(name, l, o)
		t.last = p
		return p, err
	}
}

// tidy frees all keys: at the horizon each is idle.
func (t *tidied) tidy() {
	if t.last != nil {
		t.last.Sweep(t.last.Horizon(), 0)
		t.last = nil
	}
}

// onServer is the driver of policies on a server.
type onServer struct {
	*vectors.RegistryDriver
	tidied *tidied
	conn   *resp.Conn
}

// Close leaves the server as it was.
func (d onServer) Close() error {
	d.tidied.tidy()
	return d.conn.Close()
}
