import assert from "node:assert/strict";
import test from "node:test";
import { ConfigError, Limiter, NEVER, mix32, xxh64 } from "./weir.mjs";

const told = (answer) => [answer.outcome, answer.remaining, answer.retryAfter, answer.resetAfter];

test("a third of 1000 ticks is due at 334", () => {
  for (const policy of ["gcra", "tokenbucket", "leakybucket"]) {
    const limiter = new Limiter(policy, { permits: 3n, period: 1000n, burst: 1n });
    assert.deepEqual(told(limiter.take(0n, 7n)), ["allow", 0n, 0n, 334n]);
    assert.deepEqual(told(limiter.take(333n, 7n)), ["deny", 0n, 1n, 1n]);
    assert.deepEqual(told(limiter.take(334n, 7n)), ["allow", 0n, 0n, 334n]);
  }
});

test("100 a second in nanoseconds", () => {
  const limiter = new Limiter("gcra", { permits: 100n, period: 10n ** 9n, burst: 10n });
  const now = 1_700_000_000n * 10n ** 9n;
  for (let left = 9n; left >= 0n; left--) assert.equal(limiter.take(now, 7n).remaining, left);
  assert.deepEqual(told(limiter.take(now, 7n)), ["deny", 0n, 10n ** 7n, 10n ** 8n]);
  assert.equal(limiter.take(now + 10n ** 7n - 1n, 7n).outcome, "deny");
  assert.equal(limiter.take(now + 10n ** 7n, 7n).outcome, "allow");
});

test("a permit counts for one period", () => {
  const limiter = new Limiter("slidinglog", { permits: 3n, period: 1000n });
  limiter.take(0n, 7n);
  limiter.take(10n, 7n, 2n);
  assert.deepEqual(told(limiter.take(20n, 7n, 2n)), ["deny", 0n, 990n, 990n]);
  assert.deepEqual(told(limiter.take(1000n, 7n)), ["allow", 0n, 0n, 1000n]);
});

test("both limits or neither", () => {
  const first = { permits: 1n, period: 10n, burst: 5n };
  const second = { permits: 1n, period: 1000n, burst: 2n };
  const limiter = new Limiter("dualbucket", first, second);
  assert.equal(limiter.take(0n, 7n, 2n).binding, "second");
  assert.deepEqual(told(limiter.take(0n, 7n)), ["deny", 0n, 1000n, 2000n]);
  assert.equal(limiter.peek(0n, 7n, 3n, 0n).outcome, "allow");
});

test("a full table evicts nobody", () => {
  const limiter = new Limiter("gcra", { permits: 1n, period: 1n, burst: 1n }, {}, 1n);
  limiter.take(0n, 7n);
  assert.deepEqual(told(limiter.take(9n, 8n)), ["full", 0n, NEVER, 0n]);
  assert.equal(limiter.sweep(9n), 0);
  assert.equal(limiter.take(9n, 8n).outcome, "allow");
});

test("what cannot be made", () => {
  const word = (limit) => {
    try {
      return new Limiter("gcra", limit);
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.word;
    }
  };
  assert.equal(word({ permits: 1n, period: 1n }), "invalid_burst");
  assert.equal(word({ permits: 1n, period: 2n ** 31n, burst: 2n ** 31n }), "limit_too_large");
});

test("hashes", () => {
  assert.equal(xxh64(new TextEncoder().encode("abc")), 4952883123889572249n);
  assert.equal(mix32(1), 1364076727n);
});
