import java.util.List;
import java.util.Objects;

/** Run with: java WeirTest. Ends with status 1 at the first check that fails. */
final class WeirTest {
    private static int checks;

    private static void equal(Object got, Object want) {
        checks++;
        if (!Objects.equals(got, want)) throw new AssertionError("got " + got + ", want " + want);
    }

    private static String told(Weir.Answer answer) {
        return answer.outcome() + " " + answer.remaining() + " " + answer.retryAfter() + " " + answer.resetAfter();
    }

    private static String refusal(Weir.Limit limit) {
        try {
            Weir.gcra(limit, Weir.UNBOUNDED);
            return "made";
        } catch (Weir.Refused refused) {
            return refused.getMessage();
        }
    }

    public static void main(String[] arguments) {
        aThirdOf1000TicksIsDueAt334();
        aHundredASecondInNanoseconds();
        aPermitCountsForOnePeriod();
        bothLimitsOrNeither();
        aFullTableEvictsNobody();
        equal(refusal(new Weir.Limit(1, 1, 0)), "invalid_burst");
        equal(refusal(new Weir.Limit(1, 1L << 31, 1L << 31)), "limit_too_large");
        equal(Weir.xxh64("abc".getBytes(), 0), 4952883123889572249L);
        equal(Weir.mix32(1), 1364076727L);
        System.out.println(checks + " checks passed");
    }

    private static void aThirdOf1000TicksIsDueAt334() {
        for (String policy : List.of("gcra", "tokenbucket", "leakybucket")) {
            var limiter = Weir.limiter(policy, new Weir.Limit(3, 1000, 1), Weir.Limit.NONE, Weir.UNBOUNDED);
            equal(told(limiter.take(0, 7, 1)), "ALLOW 0 0 334");
            equal(told(limiter.take(333, 7, 1)), "DENY 0 1 1");
            equal(told(limiter.take(334, 7, 1)), "ALLOW 0 0 334");
        }
    }

    private static void aHundredASecondInNanoseconds() {
        var limiter = Weir.gcra(new Weir.Limit(100, 1_000_000_000, 10), Weir.UNBOUNDED);
        long now = 1_700_000_000L * 1_000_000_000;
        for (long left = 9; left >= 0; left--) {
            equal(limiter.take(now, 7, 1).remaining(), left);
        }
        equal(told(limiter.take(now, 7, 1)), "DENY 0 10000000 100000000");
        equal(limiter.take(now + 9_999_999, 7, 1).outcome(), Weir.Outcome.DENY);
        equal(limiter.take(now + 10_000_000, 7, 1).outcome(), Weir.Outcome.ALLOW);
    }

    private static void aPermitCountsForOnePeriod() {
        var limiter = Weir.slidingLog(new Weir.Limit(3, 1000, 0), Weir.UNBOUNDED);
        limiter.take(0, 7, 1);
        limiter.take(10, 7, 2);
        equal(told(limiter.take(20, 7, 2)), "DENY 0 990 990");
        equal(told(limiter.take(1000, 7, 1)), "ALLOW 0 0 1000");
    }

    private static void bothLimitsOrNeither() {
        var limiter = Weir.dualBucket(new Weir.Limit(1, 10, 5), new Weir.Limit(1, 1000, 2), Weir.UNBOUNDED);
        equal(limiter.take(0, 7, 2).binding(), Weir.Binding.SECOND);
        equal(told(limiter.take(0, 7, 1)), "DENY 0 1000 2000");
        equal(limiter.peek(0, 7, 3, 0).outcome(), Weir.Outcome.ALLOW);
    }

    private static void aFullTableEvictsNobody() {
        var limiter = Weir.gcra(new Weir.Limit(1, 1, 1), 1);
        limiter.take(0, 7, 1);
        equal(told(limiter.take(9, 8, 1)), "FULL 0 " + Weir.NEVER + " 0");
        limiter.sweep(9);
        equal(limiter.keys(), 0);
        equal(limiter.take(9, 8, 1).outcome(), Weir.Outcome.ALLOW);
    }
}
