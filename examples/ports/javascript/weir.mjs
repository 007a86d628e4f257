// weir's five rate-limiting policies, exact to the tick and to the permit.
//
//     const limiter = new Limiter("gcra", { permits: 3n, period: 1000n, burst: 1n });
//     limiter.take(0n, 7n);     // { outcome: "allow", remaining: 0n, retryAfter: 0n, resetAfter: 334n, ... }
//     limiter.take(333n, 7n);   // { outcome: "deny", remaining: 0n, retryAfter: 1n, resetAfter: 1n, ... }
//
// Every quantity is a BigInt, none is negative. The caller says what a tick is and what time it is: nothing here reads a
// clock.

export const NEVER = 2n ** 63n - 1n; // a wait without end
const BOUND = 2n ** 62n; // the burst in units, and now in units, stay below it

/** A limit or a table that cannot be made; `word` is the word of the contract. */
export class ConfigError extends Error {
  constructor(word) {
    super(word);
    this.name = "ConfigError";
    this.word = word;
  }
}

const min = (...values) => values.reduce((a, b) => (b < a ? b : a));
const max = (...values) => values.reduce((a, b) => (b > a ? b : a));
const ceilDiv = (a, b) => (a + b - 1n) / b; // a is not negative
const gcd = (a, b) => (b === 0n ? a : gcd(b, a % b));

// Meters. Each is one limit. What it knows of one key is a state that the limiter keeps; fresh() is that of a new key.

/** A debt in units: q more for every permit spent, p less for every tick that passes, never below 0. */
class Bucket {
  constructor({ permits = 0n, period = 0n, burst = 0n }) {
    if (permits === 0n) throw new ConfigError("invalid_permits");
    if (period === 0n) throw new ConfigError("invalid_period");
    if (burst === 0n) throw new ConfigError("invalid_burst");
    const g = gcd(permits, period);
    this.p = permits / g;
    this.q = period / g;
    this.burst = burst;
    this.tolerance = burst * this.q;
    if (this.tolerance >= BOUND || this.p >= BOUND) throw new ConfigError("limit_too_large");
    this.horizon = (BOUND - 1n) / this.p;
  }

  /** The ticks until a cost, at most the burst, is allowed. */
  wait(state, now, cost) {
    const excess = this.debt(state, now) - (this.tolerance - cost * this.q);
    return excess <= 0n ? 0n : ceilDiv(excess, this.p);
  }

  take(state, now, cost) {
    return this.owing(this.debt(state, now) + cost * this.q, now);
  }

  refund(state, now, cost) {
    const debt = this.debt(state, now);
    return debt === 0n ? state : this.owing(max(0n, debt - cost * this.q), now);
  }

  remaining(state, now) {
    return max(0n, this.tolerance - this.debt(state, now)) / this.q;
  }

  resetAfter(state, now) {
    return ceilDiv(this.debt(state, now), this.p);
  }

  delay() {
    return 0n;
  }

  relimit(state, now, next) {
    const debt = ceilDiv(this.debt(state, now) * next.q, this.q);
    return next.owing(min(next.tolerance, debt), now);
  }
}

/** The state is the moment, in units, at which the debt is paid: the theoretical arrival time. */
class Gcra extends Bucket {
  fresh() {
    return 0n;
  }

  debt(tat, now) {
    return max(tat, now * this.p) - now * this.p;
  }

  owing(debt, now) {
    return now * this.p + debt;
  }
}

/** The state is a balance in units and the tick at which it was right. */
class TokenBucket extends Bucket {
  fresh() {
    return { balance: this.tolerance, last: 0n };
  }

  debt({ balance, last }, now) {
    return this.tolerance - min(this.tolerance, balance + (now - last) * this.p);
  }

  owing(debt, now) {
    return { balance: this.tolerance - debt, last: now };
  }
}

/** The state is the water in units and the tick at which it was right. */
class LeakyBucket extends Bucket {
  fresh() {
    return { water: 0n, last: 0n };
  }

  debt({ water, last }, now) {
    return max(0n, water - (now - last) * this.p);
  }

  owing(debt, now) {
    return { water: debt, last: now };
  }

  delay(state, now) {
    return ceilDiv(this.debt(state, now), this.p);
  }
}

/** Admissions, oldest first: their ticks, and the permits admitted up to and with each, since the log began. */
class Log {
  ticks = [];
  totals = [];
  dropped = 0n;

  get length() {
    return this.ticks.length;
  }

  /** The permits admitted before entry i; before(length) is all that ever were. */
  before(i) {
    return i === 0 ? this.dropped : this.totals[i - 1];
  }
}

/** The first index at which an ascending array holds at least this much. */
function firstAtLeast(array, value) {
  let low = 0;
  let high = array.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (array[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** At most `permits` in any `period` ticks. The running totals let a binary search stand for a walk. */
class SlidingLog {
  constructor({ permits = 0n, period = 0n, burst = 0n }) {
    if (permits === 0n) throw new ConfigError("invalid_permits");
    if (period === 0n) throw new ConfigError("invalid_period");
    if (burst !== 0n && burst !== permits) throw new ConfigError("invalid_burst");
    if (permits >= BOUND || period >= BOUND) throw new ConfigError("limit_too_large");
    this.burst = permits;
    this.period = period;
    this.horizon = BOUND - 1n;
  }

  fresh() {
    return new Log();
  }

  /** The tick at which a log is judged: it does not run backwards. */
  clock(log, now) {
    return log.length === 0 ? now : max(now, log.ticks.at(-1));
  }

  /** The index of the oldest entry that counts. */
  live(log, now) {
    return firstAtLeast(log.ticks, this.clock(log, now) - this.period + 1n);
  }

  used(log, now) {
    return log.before(log.length) - log.before(this.live(log, now));
  }

  wait(log, now, cost) {
    if (this.used(log, now) + cost <= this.burst) return 0n;
    const enough = firstAtLeast(log.totals, log.before(log.length) + cost - this.burst);
    return log.ticks[enough] + this.period - now;
  }

  take(log, now, cost) {
    const at = this.clock(log, now);
    const live = this.live(log, now);
    log.dropped = log.before(live);
    log.ticks.splice(0, live);
    log.totals.splice(0, live);
    const total = log.before(log.length) + cost;
    if (log.ticks.at(-1) === at) {
      log.totals[log.length - 1] = total;
    } else {
      log.totals.push(total);
      log.ticks.push(at);
    }
    return log;
  }

  refund(log, now, cost) {
    const live = this.live(log, now);
    const total = max(log.before(live), log.before(log.length) - cost);
    while (log.length > live && log.before(log.length - 1) >= total) {
      log.ticks.pop();
      log.totals.pop();
    }
    if (log.length > live) log.totals[log.length - 1] = total;
    return log;
  }

  remaining(log, now) {
    return max(0n, this.burst - this.used(log, now));
  }

  resetAfter(log, now) {
    return this.live(log, now) === log.length ? 0n : log.ticks.at(-1) + this.period - now;
  }

  delay() {
    return 0n;
  }

  relimit(log) {
    return log;
  }
}

// A policy is one meter or two over one table of keys.

const MAKERS = new Map([
  ["gcra", [Gcra]],
  ["tokenbucket", [TokenBucket]],
  ["leakybucket", [LeakyBucket]],
  ["slidinglog", [SlidingLog]],
  ["dualbucket", [Gcra, Gcra]],
]);

export const POLICIES = [...MAKERS.keys()];

/** A policy and its keys. Without maxKeys the table has no bound. */
export class Limiter {
  #policy;
  #meters;
  #maxKeys;
  #keys = new Map(); // from key to one state for each meter

  constructor(policy, first, second = {}, maxKeys = undefined) {
    this.#policy = policy;
    this.#meters = this.#make(first, second);
    if (maxKeys === 0n) throw new ConfigError("invalid_max_keys");
    this.#maxKeys = maxKeys;
  }

  #make(first, second) {
    const makers = MAKERS.get(this.#policy);
    if (makers === undefined) throw new ConfigError("unknown_policy");
    const hasSecond = Object.values(second).some((value) => value !== 0n);
    if (hasSecond !== (makers.length === 2)) throw new ConfigError("invalid_second");
    return makers.map((Meter, i) => new Meter(i === 0 ? first : second));
  }

  /** The last now that is decided. */
  get horizon() {
    return min(...this.#meters.map((meter) => meter.horizon));
  }

  /** How many keys hold room. */
  get size() {
    return this.#keys.size;
  }

  /** Spends cost permits if they are there. cost2 is the second limit's cost, the same if not given. */
  take(now, key, cost = 1n, cost2 = cost) {
    return this.#decide(now, key, [cost, cost2], true);
  }

  /** What take would answer, with remaining and resetAfter as they stand. Changes nothing. */
  peek(now, key, cost = 1n, cost2 = cost) {
    return this.#decide(now, key, [cost, cost2], false);
  }

  #decide(now, key, costs, spend) {
    const nothing = { remaining: 0n, retryAfter: NEVER, resetAfter: 0n, delay: 0n, binding: "first" };
    if (now > this.horizon) return { outcome: "past_horizon", ...nothing };

    const meters = this.#meters;
    let states = this.#keys.get(key) ?? meters.map((meter) => meter.fresh());
    const waits = meters.map((meter, i) => {
      if (costs[i] === 0n) return 0n;
      return costs[i] > meter.burst ? NEVER : meter.wait(states[i], now, costs[i]);
    });
    const retryAfter = max(...waits);
    const isFree = meters.every((_, i) => costs[i] === 0n);
    let outcome = "allow";
    let delay = 0n;
    if (retryAfter === NEVER) {
      outcome = "too_costly";
    } else if (!isFree && !this.#keys.has(key) && BigInt(this.#keys.size) === this.#maxKeys) {
      return { outcome: "full", ...nothing };
    } else if (retryAfter > 0n) {
      outcome = "deny";
    } else {
      delay = max(...meters.map((meter, i) => meter.delay(states[i], now)));
      if (spend && !isFree) {
        states = meters.map((meter, i) => (costs[i] === 0n ? states[i] : meter.take(states[i], now, costs[i])));
        this.#keys.set(key, states);
      }
    }
    const remainings = meters.map((meter, i) => meter.remaining(states[i], now));
    const remaining = min(...remainings);
    const resetAfter = this.#resetAfter(states, now);
    const binding = outcome === "allow" ? remainings.indexOf(remaining) : waits.indexOf(retryAfter);
    return { outcome, remaining, retryAfter, resetAfter, delay, binding: ["first", "second"][binding] };
  }

  /** Gives permits back. Answers "allow" or "past_horizon". */
  refund(now, key, cost = 1n, cost2 = cost) {
    if (now > this.horizon) return "past_horizon";
    const costs = [cost, cost2];
    const states = this.#keys.get(key);
    if (states !== undefined) {
      this.#keys.set(key, this.#meters.map((meter, i) => meter.refund(states[i], now, costs[i])));
    }
    return "allow";
  }

  /** Another limit for all keys at once. Answers "allow" or "past_horizon", or throws a ConfigError. */
  relimit(now, first, second = {}) {
    const next = this.#make(first, second);
    if (now > this.horizon || next.some((meter) => now > meter.horizon)) return "past_horizon";
    for (const [key, states] of this.#keys) {
      this.#keys.set(key, this.#meters.map((meter, i) => meter.relimit(states[i], now, next[i])));
    }
    this.#meters = next;
    return "allow";
  }

  /** Frees the room of every key that is as good as new. Answers how many keys hold room afterwards. */
  sweep(now) {
    const at = min(now, this.horizon);
    for (const [key, states] of this.#keys) {
      if (this.#resetAfter(states, at) === 0n) this.#keys.delete(key);
    }
    return this.size;
  }

  /** Makes the key as if it had never been seen. */
  forget(key) {
    this.#keys.delete(key);
  }

  #resetAfter(states, now) {
    return max(...this.#meters.map((meter, i) => meter.resetAfter(states[i], now)));
  }
}

// Keys of strings and of small ids.

const P1 = 0x9e3779b185ebca87n;
const P2 = 0xc2b2ae3d27d4eb4fn;
const P3 = 0x165667b19e3779f9n;
const P4 = 0x85ebca77c2b2ae63n;
const P5 = 0x27d4eb2f165667c5n;

const wrap = (x) => BigInt.asUintN(64, x);
const rotl = (x, n) => wrap(x << n) | (wrap(x) >> (64n - n));
const round = (acc, word) => wrap(rotl(wrap(acc + word * P2), 31n) * P1);

/** The key of a string's bytes, a Uint8Array. */
export function xxh64(bytes, seed = 0n) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let i = 0;
  const left = () => bytes.length - i;
  const next8 = () => view.getBigUint64((i += 8) - 8, true);
  const next4 = () => BigInt(view.getUint32((i += 4) - 4, true));

  let h = wrap(seed + P5);
  if (bytes.length >= 32) {
    let lanes = [seed + P1 + P2, seed + P2, seed, seed - P1].map(wrap);
    while (left() >= 32) lanes = lanes.map((lane) => round(lane, next8()));
    const turns = [1n, 7n, 12n, 18n];
    h = wrap(lanes.map((lane, k) => rotl(lane, turns[k])).reduce((a, b) => a + b));
    for (const lane of lanes) h = wrap((h ^ round(0n, lane)) * P1 + P4);
  }
  h = wrap(h + BigInt(bytes.length));
  while (left() >= 8) h = wrap(rotl(h ^ round(0n, next8()), 27n) * P1 + P4);
  if (left() >= 4) h = wrap(rotl(h ^ wrap(next4() * P1), 23n) * P2 + P3);
  while (left() > 0) h = wrap(rotl(h ^ wrap(BigInt(bytes[i++]) * P5), 11n) * P1);
  h = wrap((h ^ (h >> 33n)) * P2);
  h = wrap((h ^ (h >> 29n)) * P3);
  return h ^ (h >> 32n);
}

/** The key of a 32-bit id, a Number. */
export function mix32(id) {
  let x = id;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return BigInt((x ^ (x >>> 16)) >>> 0);
}
