import unittest

from weir import NEVER, ConfigError, Limit, Limiter, mix32, xxh64


class Weir(unittest.TestCase):
    def told(self, answer):
        return answer.outcome, answer.remaining, answer.retry_after, answer.reset_after

    def test_a_third_of_1000_ticks_is_due_at_334(self):
        for policy in "gcra", "tokenbucket", "leakybucket":
            limiter = Limiter(policy, Limit(permits=3, period=1000, burst=1))
            self.assertEqual(self.told(limiter.take(0, 7)), ("allow", 0, 0, 334))
            self.assertEqual(self.told(limiter.take(333, 7)), ("deny", 0, 1, 1))
            self.assertEqual(self.told(limiter.take(334, 7)), ("allow", 0, 0, 334))

    def test_100_a_second_in_nanoseconds(self):
        limiter = Limiter("gcra", Limit(permits=100, period=10**9, burst=10))
        now = 1_700_000_000 * 10**9
        for left in range(9, -1, -1):
            self.assertEqual(limiter.take(now, 7).remaining, left)
        self.assertEqual(self.told(limiter.take(now, 7)), ("deny", 0, 10**7, 10**8))
        self.assertEqual(limiter.take(now + 10**7 - 1, 7).outcome, "deny")
        self.assertEqual(limiter.take(now + 10**7, 7).outcome, "allow")

    def test_a_permit_counts_for_one_period(self):
        limiter = Limiter("slidinglog", Limit(permits=3, period=1000))
        limiter.take(0, 7)
        limiter.take(10, 7, 2)
        self.assertEqual(self.told(limiter.take(20, 7, 2)), ("deny", 0, 990, 990))
        self.assertEqual(self.told(limiter.take(1000, 7)), ("allow", 0, 0, 1000))

    def test_both_limits_or_neither(self):
        limiter = Limiter("dualbucket", Limit(1, 10, 5), Limit(1, 1000, 2))
        self.assertEqual(limiter.take(0, 7, 2).binding, "second")
        self.assertEqual(self.told(limiter.take(0, 7)), ("deny", 0, 1000, 2000))
        self.assertEqual(limiter.peek(0, 7, 3, 0).outcome, "allow")

    def test_a_full_table_evicts_nobody(self):
        limiter = Limiter("gcra", Limit(1, 1, 1), max_keys=1)
        limiter.take(0, 7)
        self.assertEqual(self.told(limiter.take(9, 8)), ("full", 0, NEVER, 0))
        self.assertEqual(limiter.sweep(9), 0)
        self.assertEqual(limiter.take(9, 8).outcome, "allow")

    def test_what_cannot_be_made(self):
        with self.assertRaisesRegex(ConfigError, "invalid_burst"):
            Limiter("gcra", Limit(1, 1, 0))
        with self.assertRaisesRegex(ConfigError, "limit_too_large"):
            Limiter("gcra", Limit(1, 2**31, 2**31))

    def test_hashes(self):
        self.assertEqual(xxh64(b"abc"), 4952883123889572249)
        self.assertEqual(mix32(1), 1364076727)


if __name__ == "__main__":
    unittest.main()
