/*
Package docs is the guide to weir. It has no code; its examples are compiled and run.

# Choose a policy

Take gcra if nothing below speaks against it: it keeps one integer a key, and decides as tokenbucket and leakybucket do,
field by field.

  - People have to read a balance: tokenbucket.
  - The output has to be smooth, one every so often and no bursts: leakybucket. An allowed request's Delay is how long to hold it.
  - "Never more than N in any hour" is meant to the letter: slidinglog. The bucket policies allow a burst and then the rate,
    so up to burst + rate * window in a window. The log pays with memory, an entry for each permit spent.
  - Two limits at once, such as 100 a second and 5000 an hour, or calls and bytes: dualbucket.
  - Several limits with keys of their own, such as a user's and a tenant's: any of them, and weir.Together.

The burst is what may come at once. Without one it is the permits: 100/s lets 100 come in one instant. A limit for machines that
retry wants a burst of a few; one for people who open a page, as many as a page has requests.

weir.Describe and "weir describe NAME" give each policy's page; "weir simulate" shows what each would have done to a log of yours.

# Read a decision

A weir.Result is all there is to know of one request. Look at the outcome first:

	allow         go on; the cost is spent
	deny          not now: after RetryAfter the same request is allowed, if nobody else comes; a nanosecond earlier it is not
	too_costly    never: the cost is more than the burst
	full          the table has its max_keys and the key is new; known keys are served
	past_horizon  the clock is further than the limit can count: only with clocks and policies of your own
	unavailable   whoever keeps the state could not be asked: only where that is not this process

Remaining is rounded down and waits are rounded up, so that what they promise is true. Next is when Remaining grows, ResetAfter when
the key is as good as new. Nothing is spent by a request that is not allowed.

# In a service

Package httplimit puts limits on an http.Handler and tells clients how they stand; its Transport is the other side. Package
grpclimit, a module of its own, does the same for gRPC. Package config keeps limits in a file that can change. Package observe
counts and logs, and its modules prom and telemetry show the counts to Prometheus and OpenTelemetry.

# Run it on many machines

A weir.Local counts in its process: behind a load balancer with four processes everybody has four times the limit. Then

  - put redislimit in its place: the same policies and the same answers, with the state on a Redis or Valkey server. It is a
    weir.Limiter, so nothing else changes. Say what is to happen when the server is away: FailOpen, FailLocal, or neither. A very
    hot key can be leased, WithLease(n): then each process may admit up to 4n more than the limit in any window, and never more;
  - or divide the limit by the number of processes, if the balancer spreads evenly and an unfair share does no harm.

Keys of a process are hashed with its own secret; where processes or languages must agree on a key, policy.SipKey with a shared secret.

# Port it

A port is finished when it passes the vectors: each case is a limit, requests at given ticks, and the exact answers. The
contract is vectors/README.md, and is enough to write one from; examples/ports has five languages. "weir verify --port" drives a
program over its standard input and output. A policy in Go can be put through them in the process: see the example.

# Embed the C library

The directory cport has it: C11, the caller's memory, no allocation, no clock, no globals. Compile src/*.c with -I include, or
the one file that amalgamate.sh makes. docs/embed/embed.c is a whole program; a test compiles and runs it.
*/
package docs
