package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
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
	t := &tidied{makers: redislimit.Registry(bounded{conn})}
	var each policy.Registry
	for _, name := range t.makers.Names() {
		_ = each.Add(name, t.maker(name)) // names of a registry
	}
	d := vectors.NewRegistryDriver("weir redislimit", "lua", &each).Without(vectors.CanMaxKeys, vectors.CanInt64)
	d.Timeout = time.Minute
	o.Replay = v.replay("--impl", "redis", "--addr", v.addr)
	return candidate{driver: &onServer{d, t, conn, fmt.Sprintf("addr is %q", v.addr), a.err, nil}, options: o}, nil
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

// answerTime is how long a server may take to answer a call, which is one short script.
const answerTime = 5 * time.Second

// bounded gives a connection up at the first call that is not answered in time.
type bounded struct{ conn *resp.Conn }

// Run is redislimit.Store's.
func (b bounded) Run(ctx context.Context, calls []redislimit.Call) []redislimit.Reply {
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return b.conn.Run(limited, calls)
}

// onServer is the driver of policies on a server. What is left when the server has been lost is not run.
type onServer struct {
	*vectors.RegistryDriver
	tidied *tidied
	conn   *resp.Conn
	about  string // the server, in messages
	says   io.Writer
	lost   error
}

// Run is vectors.Driver's.
func (d *onServer) Run(ctx context.Context, q vectors.Request) (vectors.Reply, error) {
	return d.unlessLost(func() (vectors.Reply, error) { return d.RegistryDriver.Run(ctx, q) })
}

// Stream is vectors.Streamer's.
func (d *onServer) Stream(ctx context.Context, q vectors.Request, pieces iter.Seq2[[]vectors.Step, bool],
	got func([]vectors.Want) error) (vectors.Reply, error) {
	return d.unlessLost(func() (vectors.Reply, error) { return d.RegistryDriver.Stream(ctx, q, pieces, got) })
}

func (d *onServer) unlessLost(ask func() (vectors.Reply, error)) (vectors.Reply, error) {
	if d.lost != nil {
		return vectors.Reply{}, &vectors.DriverError{Verdict: vectors.NotRun, Text: "the server was lost"}
	}
	reply, err := ask()
	known := (*vectors.DriverError)(nil)
	if errors.As(err, &known) && known.Verdict == vectors.Timeout {
		d.lost = err
	} else if d.lost = d.conn.Broken(); d.lost == nil {
		return reply, err
	}
	fmt.Fprintf(d.says, "weir verify: %s: the server was lost, and keys weir:*: may be left there: %v\n", d.about, d.lost)
	return vectors.Reply{}, d.lost
}

// Close leaves the server as it was, unless it has been lost.
func (d *onServer) Close() error {
	if d.lost != nil {
		return d.conn.Close()
	}
	d.tidied.tidy()
	return d.conn.Close()
}
