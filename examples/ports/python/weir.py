"""weir's five rate-limiting policies, exact to the tick and to the permit.

    limiter = Limiter("gcra", Limit(permits=3, period=1000, burst=1))
    limiter.take(now=0, key=7)      # Answer(outcome='allow', remaining=0, retry_after=0, reset_after=334, ...)
    limiter.take(now=333, key=7)    # Answer(outcome='deny', remaining=0, retry_after=1, reset_after=1, ...)

Every quantity is a whole number, none is negative. The caller says what a tick is and what time it is: nothing here reads
a clock, and nothing here locks.
"""

from bisect import bisect_left, bisect_right
from math import gcd
from typing import NamedTuple

NEVER = 2**63 - 1  # a wait without end
BOUND = 2**62      # the burst in units, and now in units, stay below it


class Limit(NamedTuple):
    permits: int = 0
    period: int = 0
    burst: int = 0


class Answer(NamedTuple):
    outcome: str
    remaining: int = 0
    retry_after: int = NEVER
    reset_after: int = 0
    delay: int = 0
    binding: str = "first"


class ConfigError(ValueError):
    """A limit or a table that cannot be made; its text is the word of the contract."""


def ceil_div(a, b):
    return -(-a // b)


# Meters. Each is one limit. What it knows of one key is a state that the limiter keeps; fresh() is that of a new key.


class Bucket:
    """A debt in units: q more for every permit spent, p less for every tick that passes, never below 0."""

    def __init__(self, limit):
        for name, value in limit._asdict().items():
            if value == 0:
                raise ConfigError("invalid_" + name)
        g = gcd(limit.permits, limit.period)
        self.p = limit.permits // g
        self.q = limit.period // g
        self.burst = limit.burst
        self.tolerance = limit.burst * self.q
        if self.tolerance >= BOUND or self.p >= BOUND:
            raise ConfigError("limit_too_large")
        self.horizon = (BOUND - 1) // self.p

    def wait(self, state, now, cost):
        """The ticks until a cost, at most the burst, is allowed."""
        excess = self.debt(state, now) - (self.tolerance - cost * self.q)
        return max(0, ceil_div(excess, self.p))

    def take(self, state, now, cost):
        return self.owing(self.debt(state, now) + cost * self.q, now)

    def refund(self, state, now, cost):
        debt = self.debt(state, now)
        return self.owing(max(0, debt - cost * self.q), now) if debt else state

    def level(self, state, now):
        """remaining and reset_after."""
        debt = self.debt(state, now)
        return max(0, (self.tolerance - debt) // self.q), ceil_div(debt, self.p)

    def delay(self, state, now):
        return 0

    def relimit(self, state, now, new):
        debt = ceil_div(self.debt(state, now) * new.q, self.q)
        return new.owing(min(new.tolerance, debt), now)


class Gcra(Bucket):
    """The state is the moment, in units, at which the debt is paid: the theoretical arrival time."""

    def fresh(self):
        return 0

    def debt(self, tat, now):
        return max(tat, now * self.p) - now * self.p

    def owing(self, debt, now):
        return now * self.p + debt


class TokenBucket(Bucket):
    """The state is a balance in units and the tick at which it was right."""

    def fresh(self):
        return self.tolerance, 0

    def debt(self, state, now):
        balance, last = state
        return self.tolerance - min(self.tolerance, balance + (now - last) * self.p)

    def owing(self, debt, now):
        return self.tolerance - debt, now


class LeakyBucket(Bucket):
    """The state is the water in units and the tick at which it was right."""

    def fresh(self):
        return 0, 0

    def debt(self, state, now):
        water, last = state
        return max(0, water - (now - last) * self.p)

    def owing(self, debt, now):
        return debt, now

    def delay(self, state, now):
        return ceil_div(self.debt(state, now), self.p)


class Log:
    """Admissions, oldest first: their ticks, and the permits admitted up to and with each, since the log began."""

    __slots__ = ("ticks", "totals", "dropped")

    def __init__(self):
        self.ticks, self.totals, self.dropped = [], [], 0

    def before(self, i):
        """The permits admitted before entry i."""
        return self.totals[i - 1] if i else self.dropped

    def end(self):
        """The permits ever admitted."""
        return self.before(len(self.totals))


class SlidingLog:
    """At most `permits` in any `period` ticks. The running totals let a binary search stand for a walk."""

    def __init__(self, limit):
        if limit.permits == 0:
            raise ConfigError("invalid_permits")
        if limit.period == 0:
            raise ConfigError("invalid_period")
        if limit.burst not in (0, limit.permits):
            raise ConfigError("invalid_burst")
        if limit.permits >= BOUND or limit.period >= BOUND:
            raise ConfigError("limit_too_large")
        self.burst = limit.permits
        self.period = limit.period
        self.horizon = BOUND - 1

    def fresh(self):
        return Log()

    def clock(self, log, now):
        """The tick at which a log is judged: it does not run backwards."""
        return max(now, log.ticks[-1]) if log.ticks else now

    def live(self, log, now):
        """The index of the oldest entry that counts."""
        return bisect_right(log.ticks, self.clock(log, now) - self.period)

    def used(self, log, now):
        return log.end() - log.before(self.live(log, now))

    def wait(self, log, now, cost):
        if self.used(log, now) + cost <= self.burst:
            return 0
        enough = bisect_left(log.totals, log.end() + cost - self.burst)
        return log.ticks[enough] + self.period - now

    def take(self, log, now, cost):
        at, live = self.clock(log, now), self.live(log, now)
        log.dropped = log.before(live)
        del log.ticks[:live], log.totals[:live]
        total = log.end() + cost
        if log.ticks and log.ticks[-1] == at:
            log.totals[-1] = total
        else:
            log.ticks.append(at)
            log.totals.append(total)
        return log

    def refund(self, log, now, cost):
        live = self.live(log, now)
        total = max(log.before(live), log.end() - cost)
        while len(log.ticks) > live and log.before(len(log.ticks) - 1) >= total:
            log.ticks.pop()
            log.totals.pop()
        if len(log.ticks) > live:
            log.totals[-1] = total
        return log

    def level(self, log, now):
        remaining = max(0, self.burst - self.used(log, now))
        if self.live(log, now) == len(log.ticks):
            return remaining, 0
        return remaining, log.ticks[-1] + self.period - now

    def delay(self, log, now):
        return 0

    def relimit(self, log, now, new):
        return log


# A policy is one meter or two over one table of keys.

POLICIES = {
    "gcra": (Gcra,),
    "tokenbucket": (TokenBucket,),
    "leakybucket": (LeakyBucket,),
    "slidinglog": (SlidingLog,),
    "dualbucket": (Gcra, Gcra),
}


class Limiter:
    """A policy and its keys. max_keys None is a table without bound."""

    def __init__(self, policy, first, second=Limit(), max_keys=None):
        self.policy = policy
        self._meters = self._make(first, second)
        if max_keys == 0:
            raise ConfigError("invalid_max_keys")
        self._max_keys = max_keys
        self._keys = {}  # key: one state for each meter

    def _make(self, first, second):
        if self.policy not in POLICIES:
            raise ConfigError("unknown_policy")
        kinds = POLICIES[self.policy]
        if any(second) != (len(kinds) == 2):
            raise ConfigError("invalid_second")
        return [kind(limit) for kind, limit in zip(kinds, (first, second))]

    @property
    def horizon(self):
        """The last now that is decided."""
        return min(meter.horizon for meter in self._meters)

    def take(self, now, key, cost=1, cost2=None):
        """Spends cost permits if they are there. cost2 is the second limit's cost, the same if not given."""
        return self._decide(now, key, cost, cost2, spend=True)

    def peek(self, now, key, cost=1, cost2=None):
        """What take would answer, with remaining and reset_after as they stand. Changes nothing."""
        return self._decide(now, key, cost, cost2, spend=False)

    def _decide(self, now, key, cost, cost2, spend):
        if now > self.horizon:
            return Answer("past_horizon")
        costs = self._costs(cost, cost2)
        states = self._keys.get(key) or [meter.fresh() for meter in self._meters]
        waits = [
            0 if c == 0 else NEVER if c > meter.burst else meter.wait(state, now, c)
            for meter, state, c in zip(self._meters, states, costs)
        ]
        retry_after = max(waits)
        delay = 0
        if retry_after == NEVER:
            outcome = "too_costly"
        elif any(costs) and key not in self._keys and len(self._keys) == self._max_keys:
            return Answer("full")
        elif retry_after > 0:
            outcome = "deny"
        else:
            outcome = "allow"
            delay = max(meter.delay(state, now) for meter, state in zip(self._meters, states))
            if spend and any(costs):
                states = self._keys[key] = [
                    meter.take(state, now, c) if c else state
                    for meter, state, c in zip(self._meters, states, costs)
                ]
        remaining, reset_after = zip(*self._levels(states, now))
        if outcome == "allow":
            binding = remaining.index(min(remaining))
        else:
            binding = waits.index(retry_after)
        return Answer(outcome, min(remaining), retry_after, max(reset_after), delay, ("first", "second")[binding])

    def refund(self, now, key, cost=1, cost2=None):
        """Gives permits back. Answers "allow" or "past_horizon"."""
        if now > self.horizon:
            return "past_horizon"
        if key in self._keys:
            self._keys[key] = [
                meter.refund(state, now, c)
                for meter, state, c in zip(self._meters, self._keys[key], self._costs(cost, cost2))
            ]
        return "allow"

    def relimit(self, now, first, second=Limit()):
        """Another limit for all keys at once. Answers "allow" or "past_horizon", or raises ConfigError."""
        meters = self._make(first, second)
        if now > self.horizon or now > min(meter.horizon for meter in meters):
            return "past_horizon"
        for key, states in self._keys.items():
            self._keys[key] = [
                old.relimit(state, now, new) for old, new, state in zip(self._meters, meters, states)
            ]
        self._meters = meters
        return "allow"

    def sweep(self, now):
        """Frees the room of every key that is as good as new. Answers how many keys hold room afterwards."""
        now = min(now, self.horizon)
        self._keys = {
            key: states
            for key, states in self._keys.items()
            if any(reset_after for _, reset_after in self._levels(states, now))
        }
        return len(self._keys)

    def forget(self, key):
        """Makes the key as if it had never been seen."""
        self._keys.pop(key, None)

    def __len__(self):
        """How many keys hold room."""
        return len(self._keys)

    def _levels(self, states, now):
        return [meter.level(state, now) for meter, state in zip(self._meters, states)]

    def _costs(self, cost, cost2):
        return (cost, cost if cost2 is None else cost2)[: len(self._meters)]


# Keys of strings and of small ids.

MASK = 2**64 - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def _rotl(x, n):
    return (x << n | x >> (64 - n)) & MASK


def _round(acc, word):
    return _rotl((acc + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed=0):
    """The key of a string's bytes."""
    words = memoryview(data)

    def next_word(size):
        nonlocal words
        word, words = int.from_bytes(words[:size], "little"), words[size:]
        return word

    if len(data) >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while len(words) >= 32:
            lanes = [_round(lane, next_word(8)) for lane in lanes]
        h = sum(_rotl(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ _round(0, lane)) * P1 + P4) & MASK
    else:
        h = (seed + P5) & MASK
    h = (h + len(data)) & MASK
    while len(words) >= 8:
        h = (_rotl(h ^ _round(0, next_word(8)), 27) * P1 + P4) & MASK
    if len(words) >= 4:
        h = (_rotl(h ^ (next_word(4) * P1 & MASK), 23) * P2 + P3) & MASK
    while words:
        h = _rotl(h ^ (next_word(1) * P5 & MASK), 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def mix32(x):
    """The key of a 32-bit id."""
    x = (x ^ x >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    x = (x ^ x >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return x ^ x >> 16
