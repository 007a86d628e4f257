/*
Package rueidis lets package redislimit talk to Redis or Valkey through github.com/redis/rueidis: to one server, by way of
Sentinel, or to a Cluster.

	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	...
	limiter, err := redislimit.New(weirrueidis.Store(client), "gcra", weir.Per(100, time.Second))

Calls that come while others are under way are sent together. No call is sent twice: the client retries only what is marked
to be retried, and nothing here is.
*/
package rueidis

import (
	"context"

	"github.com/redis/rueidis"

	"weir/redislimit"
)

// Store makes a client the store of limiters. Make one for each client: limiters with the same one share pipelines, and
// can be asked together. It is safe for concurrent use; its goroutines end when nothing is under way. The store of a nil
// client is nil, which redislimit.New refuses.
func Store(client rueidis.Client) redislimit.Store {
	if client == nil {
		return nil
	}
	return redislimit.Pipelined(store{client}, true)
}

type store struct{ client rueidis.Client }

// Run is redislimit.Store's.
func (s store) Run(ctx context.Context, calls []redislimit.Call) []redislimit.Reply {
	if len(calls) == 1 {
		return []redislimit.Reply{reply(s.client.Do(ctx, s.command(calls[0])))}
	}
	commands := make([]rueidis.Completed, len(calls))
	for i, c := range calls {
		commands[i] = s.command(c)
	}
	replies := make([]redislimit.Reply, len(calls))
	for i, r := range s.client.DoMulti(ctx, commands...) {
		replies[i] = reply(r)
	}
	return replies
}

func (s store) command(c redislimit.Call) rueidis.Completed {
	n := int64(len(c.Keys))
	if c.Source != "" {
		return s.client.B().Eval().Script(c.Source).Numkeys(n).Key(c.Keys...).Arg(c.Args...).Build()
	}
	return s.client.B().Evalsha().Sha1(c.Digest).Numkeys(n).Key(c.Keys...).Arg(c.Args...).Build()
}

func reply(r rueidis.RedisResult) redislimit.Reply {
	messages, err := r.ToArray()
	if err != nil {
		return redislimit.Reply{Err: err}
	}
	values := make([]any, len(messages))
	for i := range messages {
		if n, err := messages[i].AsInt64(); err == nil && messages[i].IsInt64() {
			values[i] = n
		} else if values[i], err = messages[i].ToString(); err != nil {
			return redislimit.Reply{Err: err}
		}
	}
	return redislimit.Reply{Values: values}
}
