/*
Package goredis lets package redislimit talk to Redis or Valkey through github.com/redis/go-redis/v9: to one server, by way
of Sentinel, or to a Cluster.

	store := goredis.Store(redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"127.0.0.1:6379"}}))
	limiter, err := redislimit.New(store, "gcra", weir.Per(100, time.Second))

Calls that come while others are under way are sent together, in one pipeline. A client with ContextTimeoutEnabled serves
a lone call faster: it is sent from the caller's own goroutine, which otherwise could not leave it in time. No call is
sent twice, whatever MaxRetries the client has: one that failed may have been run. Of the client's options DialTimeout,
ReadTimeout, WriteTimeout and PoolTimeout bound how long a call that nobody waits for any more may keep its connection.
*/
package goredis

import (
	"context"
	"fmt"
	"reflect"

	"github.com/redis/go-redis/v9"

	"weir/redislimit"
)

// Store makes a client the store of limiters. Make one for each client: limiters with the same one share pipelines, and
// can be asked together. It is safe for concurrent use; its goroutines end when nothing is under way. The store of a nil
// client is nil, which redislimit.New refuses.
func Store(client redis.UniversalClient) redislimit.Store {
	if v := reflect.ValueOf(client); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	prompt := false
	switch c := client.(type) {
	case *redis.Client:
		prompt = c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		prompt = c.Options().ContextTimeoutEnabled
	}
	return redislimit.Pipelined(store{client}, prompt)
}

type store struct{ client redis.UniversalClient }

// Run is redislimit.Store's.
func (s store) Run(ctx context.Context, calls []redislimit.Call) []redislimit.Reply {
	cmds := make([]once, len(calls))
	for i := range calls {
		cmds[i] = command(ctx, &calls[i])
	}
	if len(cmds) == 1 {
		_ = s.client.Process(ctx, cmds[0]) // the command has the error
	} else {
		pipe := s.client.Pipeline()
		for _, c := range cmds {
			_ = pipe.Process(ctx, c) // only queues it
		}
		_, _ = pipe.Exec(ctx) // each command has its error
	}
	replies := make([]redislimit.Reply, len(calls))
	for i := range cmds {
		replies[i] = cmds[i].reply()
	}
	return replies
}

// once is a command that the client sends once and not again.
type once struct{ *redis.Cmd }

// NoRetry is redis.Cmder's.
func (once) NoRetry() bool { return true }

func command(ctx context.Context, c *redislimit.Call) once {
	args := make([]any, 0, 3+len(c.Keys)+len(c.Args)) // of pointers, which cost no memory
	if c.Source == "" {
		args = append(args, "evalsha", &c.Digest)
	} else {
		args = append(args, "eval", &c.Source)
	}
	args = append(args, len(c.Keys))
	for i := range c.Keys {
		args = append(args, &c.Keys[i])
	}
	for i := range c.Args {
		args = append(args, &c.Args[i])
	}
	cmd := redis.NewCmd(ctx, args...)
	cmd.SetFirstKeyPos(3)
	return once{cmd}
}

func (c once) reply() redislimit.Reply {
	v, err := c.Result()
	if err != nil {
		return redislimit.Reply{Err: err}
	}
	values, ok := v.([]any)
	if !ok {
		return redislimit.Reply{Err: fmt.Errorf("goredis: the reply is a %T, must be an array", v)}
	}
	return redislimit.Reply{Values: values}
}
