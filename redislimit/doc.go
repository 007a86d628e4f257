/*
Package redislimit enforces one limit across many machines: the five policies of weir as scripts inside Redis or Valkey,
with the answers of package weir to the microsecond, in one round trip.

	store := goredis.Store(client) // weir/redislimit/goredis; or Store of weir/redislimit/rueidis
	limiter, err := redislimit.New(store, "gcra", weir.Per(100, time.Second).WithBurst(20))
	...
	if r := limiter.Allow(ctx, clientID); !r.OK() {
		// r.RetryAfter() is exact
	}

A Limiter is a weir.Limiter, so it takes the place of one of weir.New in one line. It needs Redis 6.2 or newer, or Valkey,
built for 64 bits; a Store talks to one server, by way of Sentinel, or to a Cluster.

# Exactness

Time is counted in microseconds since 1970, what a key owes in whole microseconds of leaking and a remainder in units, of
which a microsecond has as many as the permits and the period have in lowest terms. A script adds, carries and compares
numbers below 2^53, which a double holds exactly; products and quotients are computed in Go. That is exact until the year
2155 for every limit whose burst refills, or whose sliding log forgets, within 100 years, if the burst times the period in
microseconds, the period in lowest terms with the permits, is below 2^62: so for 10^9 a second in any period up to a
minute, and for 1000 a second in an hour with a burst of 10^9; any other limit is refused with ErrLimitTooLarge. The
vectors of package weir pass, but those that need a bound on keys or numbers beyond 2^53.

# Time

The time is the server's: it alone reads a clock, so the clocks of clients do not matter. A key that its clock finds
further ahead than the burst allows is read as just that far ahead, and is written so at once; entries of a sliding log
that lie ahead count as spent now. So a clock that steps back by hours, after a failover say, holds a key for at most the
time in which a burst refills (a period, for a sliding log). A step forward grants what would have come back in that time,
at most one burst a step; a step back of a key that was idle, and so is gone, grants at most one burst too. With WithClock
the time is passed in, everything is as package weir defines it for clocks that step, and no key expires.

# Keys

weir:POLICY:PREFIX:{KEY}, with the key as hash tag, or with the tag that the key brings along, such as {acme}/user-7.
Different policies, prefixes and keys never meet. A key longer than 200 bytes is stored under its SHA-256. A key expires,
in the same write, within three milliseconds after it is as good as new: idle keys cost nothing. What is denied, peeked at,
too costly or free writes nothing and replicates nothing, but for a key that has to be carried over from another limit or
that a clock has left ahead: it is put right once.

A key says in which limit it is counted. When the limit changes, by SetLimit or by a new process, what a key has spent is
carried over when it is next asked for, in permits, rounded up and at most the new burst: a second round trip, once a
key. Until then what it owes goes down at the old rate. While an old and a new process ask for the same key under
different limits, each heeds what the key owed when it last was counted in its own, so that no turn hands out a fresh burst;
what both admit together is at most what the two limits admit together. Each turn is two round trips more, and a hot key
that goes back and forth faster than it can be carried over, eight times in one request, is Unavailable for that request.
A sliding log is not carried over, it is one log for both limits. Under two periods each turn writes to it, denied and
peeked at too, and whatever is older than the shorter period may be gone for the longer one, which then admits anew what it
had counted in that: so change a period everywhere at once.

# Sizing

A script takes about 5 microseconds of a server's one thread, a dual bucket or sliding log about twice that; plan for 50,000
decisions a second for each primary and measure with the command redislimit/tests/speed. A key of a bucket takes some 120
to 200 bytes, its name included; a sliding log some 150 bytes for each entry, up to min(permits, microseconds of the period)
of them, and a denied request of it takes time in the logarithm of that, but dropping many expired entries at once takes
time for each, and so does a refund for each entry that it gives back, while the server does nothing else. A Cluster
spreads keys, not one hot key: for that there are

  - WithDenialCache: a key over its limit costs the server nothing until its retry time;
  - WithLease: permits taken many at once and spent in the process. A process holds at most n of a key that is asked for
    now and then, half as many again when it is asked for steadily, and 4n when requests come faster than the server answers
    and have to wait. With leases of n permits and p processes, in any window a key is admitted at most the limit and 4*p*n
    more;
  - AllowBatch, and the pipelining of the stores, which send together what comes at once: up to eight pipelines are under
    way, the more the longer a reply takes;
  - Together, one call for all limits of a request. weir.Together, and so httplimit and grpclimit, do that by themselves
    where all limiters have one store and clock and all keys one hash tag.

# Failure

A call has a deadline, WithTimeout. A server that does not answer by then, or answers with an error, makes the outcome
Unavailable, or what FailOpen or FailLocal say; Refund, Forget and Wait give an error that wraps ErrUnavailable. A call
that may have been run is not sent again, so a charge is lost now and then, and never made twice. A script that a node does
not know is sent to it, MOVED and ASK are followed, and a limiter goes on by itself when a server is back, a replica has
become the primary or a connection is new.

Under FailLocal(n) each process admits an n-th of the limit while the server is away, less what the server allowed it just
before. When the server is back it knows nothing of that: count what a key may have been admitted meanwhile on top. No part
is less than a permit at once: with more processes than a burst, or a sliding log, has permits, all of them together can
admit one permit each at once, which is more than the limit has. In the long run they still admit no more than its rate.

A key that holds what no limiter wrote, or is of another type, is Unavailable too, and says nothing of the server: it is
logged once a minute at most, and stays as it is.

# What is lost when a primary dies

Replication is asynchronous: a replica that becomes the primary lacks the last writes, usually some milliseconds of them. Each
lost charge is a permit that is granted again, for a key at most its burst for each failover. A primary that is cut off
and does not know that it is none any more goes on admitting until its clients leave it, at most a limit more; see
min-replicas-to-write. A server that starts empty, or from an old snapshot, grants at most a burst for each key.
Persistence is of little use: most keys are idle, and gone, before a server is back. No answer is ever worse than that
of a limiter that starts anew.

Eviction (maxmemory-policy) of a key is a restart of that key: give limiters a server, or memory, of which nothing is evicted.
*/
package redislimit
