import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * weir's five rate-limiting policies, exact to the tick and to the permit.
 *
 * <pre>
 *     var limiter = Weir.gcra(new Limit(3, 1000, 1), Weir.UNBOUNDED);
 *     limiter.take(0, 7, 1);      // allow
 *     limiter.take(333, 7, 1);    // deny, retryAfter 1
 * </pre>
 *
 * Times, costs and limits are not negative; a key is any 64 bits. The caller says what a tick is and what time it is:
 * nothing here reads a clock, and nothing here locks.
 */
public final class Weir {
    private Weir() {}

    /** A wait without end. */
    public static final long NEVER = Long.MAX_VALUE;

    /** A table without bound. */
    public static final long UNBOUNDED = -1;

    /** The burst in units, and now in units, stay below it. */
    private static final long BOUND = 1L << 62;

    public record Limit(long permits, long period, long burst) {
        /** The second limit of the policies that have one. */
        public static final Limit NONE = new Limit(0, 0, 0);
    }

    public enum Outcome { ALLOW, DENY, TOO_COSTLY, FULL, PAST_HORIZON }

    public enum Binding { FIRST, SECOND }

    public record Answer(
            Outcome outcome, long remaining, long retryAfter, long resetAfter, long delay, Binding binding) {
        /** The answer that tells nothing of the key. */
        static Answer of(Outcome outcome) {
            return new Answer(outcome, 0, NEVER, 0, 0, Binding.FIRST);
        }
    }

    /** A limit or a table that cannot be made; its message is the word of the contract. */
    public static final class Refused extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        Refused(String word) {
            super(word);
        }
    }

    public static Limiter gcra(Limit limit, long maxKeys) {
        return limiter("gcra", limit, Limit.NONE, maxKeys);
    }

    public static Limiter tokenBucket(Limit limit, long maxKeys) {
        return limiter("tokenbucket", limit, Limit.NONE, maxKeys);
    }

    public static Limiter leakyBucket(Limit limit, long maxKeys) {
        return limiter("leakybucket", limit, Limit.NONE, maxKeys);
    }

    public static Limiter slidingLog(Limit limit, long maxKeys) {
        return limiter("slidinglog", limit, Limit.NONE, maxKeys);
    }

    public static Limiter dualBucket(Limit first, Limit second, long maxKeys) {
        return limiter("dualbucket", first, second, maxKeys);
    }

    /** A policy by its name. */
    public static Limiter limiter(String policy, Limit first, Limit second, long maxKeys) {
        return switch (policy) {
            case "gcra" -> new Table<>(Gcra::new, 1, first, second, maxKeys);
            case "tokenbucket" -> new Table<>(TokenBucket::new, 1, first, second, maxKeys);
            case "leakybucket" -> new Table<>(LeakyBucket::new, 1, first, second, maxKeys);
            case "slidinglog" -> new Table<>(Window::new, 1, first, second, maxKeys);
            case "dualbucket" -> new Table<>(Gcra::new, 2, first, second, maxKeys);
            default -> throw new Refused("unknown_policy");
        };
    }

    /** A policy and its keys. */
    public interface Limiter {
        /** Spends permits if they are there. The second cost is for the second limit of a dual bucket. */
        Answer take(long now, long key, long cost, long cost2);

        default Answer take(long now, long key, long cost) {
            return take(now, key, cost, cost);
        }

        /** What take would answer, with remaining and resetAfter as they stand. Changes nothing. */
        Answer peek(long now, long key, long cost, long cost2);

        default Answer peek(long now, long key, long cost) {
            return peek(now, key, cost, cost);
        }

        /** Gives permits back. Answers ALLOW or PAST_HORIZON. */
        Outcome refund(long now, long key, long cost, long cost2);

        default Outcome refund(long now, long key, long cost) {
            return refund(now, key, cost, cost);
        }

        /** Another limit for all keys at once. Answers ALLOW or PAST_HORIZON. */
        Outcome relimit(long now, Limit first, Limit second);

        default Outcome relimit(long now, Limit limit) {
            return relimit(now, limit, Limit.NONE);
        }

        /** Frees the room of every key that is as good as new. */
        void sweep(long now);

        /** Makes the key as if it had never been seen. */
        void forget(long key);

        /** How many keys hold room. */
        int keys();

        /** The last now that is decided. */
        long horizon();
    }

    /** One limit. What it knows of one key is a state that the table keeps. */
    private interface Meter<S> {
        /** The highest cost that is ever allowed. */
        long burst();

        long horizon();

        /** The state of a new key. */
        S fresh();

        /** The ticks until a cost, at most the burst, is allowed. */
        long wait(S state, long now, long cost);

        /** The state after a cost was spent. */
        S take(S state, long now, long cost);

        S refund(S state, long now, long cost);

        long remaining(S state, long now);

        long resetAfter(S state, long now);

        long delay(S state, long now);

        /** The state under another meter of the same kind. */
        S relimit(S state, long now, Meter<S> next);
    }

    /** A debt in units: q more for every permit spent, p less for every tick that passes, never below 0. */
    private abstract static class Bucket<S> implements Meter<S> {
        final long p;
        final long q;
        final long tolerance;
        private final long burst;

        Bucket(Limit limit) {
            if (limit.permits == 0) throw new Refused("invalid_permits");
            if (limit.period == 0) throw new Refused("invalid_period");
            if (limit.burst == 0) throw new Refused("invalid_burst");
            long g = gcd(limit.permits, limit.period);
            p = limit.permits / g;
            q = limit.period / g;
            burst = limit.burst;
            if (burst > (BOUND - 1) / q || p >= BOUND) throw new Refused("limit_too_large");
            tolerance = burst * q;
        }

        abstract long debt(S state, long now);

        /** The state that owes this debt at now. */
        abstract S owing(long debt, long now);

        @Override
        public long burst() {
            return burst;
        }

        @Override
        public long horizon() {
            return (BOUND - 1) / p;
        }

        @Override
        public long wait(S state, long now, long cost) {
            return Math.max(0, ceilDiv(debt(state, now) - (tolerance - cost * q), p));
        }

        @Override
        public S take(S state, long now, long cost) {
            return owing(debt(state, now) + cost * q, now);
        }

        @Override
        public S refund(S state, long now, long cost) {
            long debt = debt(state, now);
            if (debt == 0) return state;
            return owing(cost > debt / q ? 0 : debt - cost * q, now);
        }

        @Override
        public long remaining(S state, long now) {
            return Math.max(0, tolerance - debt(state, now)) / q;
        }

        @Override
        public long resetAfter(S state, long now) {
            return ceilDiv(debt(state, now), p);
        }

        @Override
        public long delay(S state, long now) {
            return 0;
        }

        @Override
        public S relimit(S state, long now, Meter<S> meter) {
            Bucket<S> next = (Bucket<S>) meter;
            BigInteger[] debt = BigInteger.valueOf(debt(state, now))
                    .multiply(BigInteger.valueOf(next.q))
                    .divideAndRemainder(BigInteger.valueOf(q));
            BigInteger up = debt[0].add(BigInteger.valueOf(debt[1].signum()));
            return next.owing(up.min(BigInteger.valueOf(next.tolerance)).longValueExact(), now);
        }
    }

    /** The state is the moment, in units, at which the debt is paid: the theoretical arrival time. */
    private static final class Gcra extends Bucket<Long> {
        Gcra(Limit limit) {
            super(limit);
        }

        @Override
        public Long fresh() {
            return 0L;
        }

        @Override
        long debt(Long tat, long now) {
            return Math.max(tat, now * p) - now * p;
        }

        @Override
        Long owing(long debt, long now) {
            return now * p + debt;
        }
    }

    /** A level in units and the tick at which it was right. */
    private record Level(long units, long last) {}

    /** The level is the balance; below 0 if now steps back. */
    private static final class TokenBucket extends Bucket<Level> {
        TokenBucket(Limit limit) {
            super(limit);
        }

        @Override
        public Level fresh() {
            return new Level(tolerance, 0);
        }

        @Override
        long debt(Level balance, long now) {
            return tolerance - Math.min(tolerance, balance.units + (now - balance.last) * p);
        }

        @Override
        Level owing(long debt, long now) {
            return new Level(tolerance - debt, now);
        }
    }

    /** The level is the water. */
    private static final class LeakyBucket extends Bucket<Level> {
        LeakyBucket(Limit limit) {
            super(limit);
        }

        @Override
        public Level fresh() {
            return new Level(0, 0);
        }

        @Override
        long debt(Level water, long now) {
            return Math.max(0, water.units - (now - water.last) * p);
        }

        @Override
        Level owing(long debt, long now) {
            return new Level(debt, now);
        }

        @Override
        public long delay(Level water, long now) {
            return ceilDiv(debt(water, now), p);
        }
    }

    /**
     * Admissions, oldest first: their ticks, and the permits admitted up to and with each since the log began. The totals
     * may wrap: only their differences mean anything, and those of entries that are held stay below 2^62.
     */
    private static final class Log {
        private long[] ticks = new long[4];
        private long[] totals = new long[4];
        private int start;
        private int end;
        private long dropped;

        int size() {
            return end - start;
        }

        long tick(int i) {
            return ticks[start + i];
        }

        /** The permits admitted before entry i, as a running total; before(size()) is all that ever were. */
        long before(int i) {
            return i == 0 ? dropped : totals[start + i - 1];
        }

        long newest() {
            return ticks[end - 1];
        }

        void setTotal(long total) {
            totals[end - 1] = total;
        }

        void add(long tick, long total) {
            if (end == ticks.length) {
                int room = start > end / 2 ? end : 2 * end;
                ticks = Arrays.copyOfRange(ticks, start, start + room);
                totals = Arrays.copyOfRange(totals, start, start + room);
                end -= start;
                start = 0;
            }
            ticks[end] = tick;
            totals[end] = total;
            end++;
        }

        void dropOldest(int n) {
            dropped = before(n);
            start += n;
        }

        void dropNewest() {
            end--;
        }
    }

    /** At most `permits` in any `period` ticks. The running totals let a binary search stand for a walk. */
    private static final class Window implements Meter<Log> {
        private final long permits;
        private final long period;

        Window(Limit limit) {
            if (limit.permits == 0) throw new Refused("invalid_permits");
            if (limit.period == 0) throw new Refused("invalid_period");
            if (limit.burst != 0 && limit.burst != limit.permits) throw new Refused("invalid_burst");
            if (limit.permits >= BOUND || limit.period >= BOUND) throw new Refused("limit_too_large");
            permits = limit.permits;
            period = limit.period;
        }

        @Override
        public long burst() {
            return permits;
        }

        @Override
        public long horizon() {
            return BOUND - 1;
        }

        @Override
        public Log fresh() {
            return new Log();
        }

        /** The tick at which a log is judged: it does not run backwards. */
        private long clock(Log log, long now) {
            return log.size() == 0 ? now : Math.max(now, log.newest());
        }

        /** The index of the oldest entry that counts. */
        private int live(Log log, long now) {
            long at = clock(log, now);
            int low = 0;
            int high = log.size();
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (log.tick(middle) + period <= at) low = middle + 1;
                else high = middle;
            }
            return low;
        }

        private long used(Log log, long now) {
            return log.before(log.size()) - log.before(live(log, now));
        }

        @Override
        public long wait(Log log, long now, long cost) {
            int low = live(log, now);
            long counted = log.before(low);
            long excess = log.before(log.size()) - counted + cost - permits;
            if (excess <= 0) return 0;
            int high = log.size() - 1;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (log.before(middle + 1) - counted < excess) low = middle + 1;
                else high = middle;
            }
            return log.tick(low) + period - now;
        }

        @Override
        public Log take(Log log, long now, long cost) {
            long at = clock(log, now);
            log.dropOldest(live(log, now));
            long total = log.before(log.size()) + cost;
            if (log.size() > 0 && log.newest() == at) log.setTotal(total);
            else log.add(at, total);
            return log;
        }

        @Override
        public Log refund(Log log, long now, long cost) {
            int live = live(log, now);
            long left = cost;
            while (left > 0 && log.size() > live) {
                long newest = log.before(log.size()) - log.before(log.size() - 1);
                if (newest > left) log.setTotal(log.before(log.size()) - left);
                else log.dropNewest();
                left -= Math.min(left, newest);
            }
            return log;
        }

        @Override
        public long remaining(Log log, long now) {
            return Math.max(0, permits - used(log, now));
        }

        @Override
        public long resetAfter(Log log, long now) {
            return live(log, now) == log.size() ? 0 : log.newest() + period - now;
        }

        @Override
        public long delay(Log log, long now) {
            return 0;
        }

        @Override
        public Log relimit(Log log, long now, Meter<Log> next) {
            return log;
        }
    }

    /** One meter or two over one table of keys. */
    private static final class Table<S> implements Limiter {
        private final Function<Limit, Meter<S>> maker;
        private final int count;
        private final long maxKeys;
        private List<Meter<S>> meters;
        private final Map<Long, List<S>> keys = new HashMap<>();

        Table(Function<Limit, Meter<S>> maker, int count, Limit first, Limit second, long maxKeys) {
            this.maker = maker;
            this.count = count;
            this.maxKeys = maxKeys;
            meters = make(first, second);
            if (maxKeys == 0) throw new Refused("invalid_max_keys");
        }

        private List<Meter<S>> make(Limit first, Limit second) {
            if (second.equals(Limit.NONE) != (count == 1)) throw new Refused("invalid_second");
            return count == 1 ? List.of(maker.apply(first)) : List.of(maker.apply(first), maker.apply(second));
        }

        @Override
        public Answer take(long now, long key, long cost, long cost2) {
            return decide(now, key, new long[] {cost, cost2}, true);
        }

        @Override
        public Answer peek(long now, long key, long cost, long cost2) {
            return decide(now, key, new long[] {cost, cost2}, false);
        }

        private Answer decide(long now, long key, long[] costs, boolean spend) {
            if (now > horizon()) return Answer.of(Outcome.PAST_HORIZON);
            boolean isNew = !keys.containsKey(key);
            boolean isFree = costs[0] == 0 && costs[count - 1] == 0;
            List<S> states = isNew ? meters.stream().map(Meter::fresh).toList() : keys.get(key);

            long[] waits = new long[count];
            long delay = 0;
            for (int i = 0; i < count; i++) {
                waits[i] = wait(meters.get(i), states.get(i), now, costs[i]);
                delay = Math.max(delay, meters.get(i).delay(states.get(i), now));
            }
            long retryAfter = Math.max(waits[0], waits[count - 1]);
            Outcome outcome = Outcome.ALLOW;
            if (retryAfter == NEVER) outcome = Outcome.TOO_COSTLY;
            else if (!isFree && isNew && keys.size() == maxKeys) return Answer.of(Outcome.FULL);
            else if (retryAfter > 0) outcome = Outcome.DENY;

            boolean isAllowed = outcome == Outcome.ALLOW;
            if (isAllowed && spend && !isFree) {
                List<S> after = new ArrayList<>(states);
                for (int i = 0; i < count; i++) {
                    if (costs[i] > 0) after.set(i, meters.get(i).take(states.get(i), now, costs[i]));
                }
                keys.put(key, after);
                states = after;
            }
            long first = meters.get(0).remaining(states.get(0), now);
            long last = meters.get(count - 1).remaining(states.get(count - 1), now);
            boolean secondBinds = isAllowed ? last < first : waits[count - 1] > waits[0];
            return new Answer(
                    outcome,
                    Math.min(first, last),
                    retryAfter,
                    resetAfter(states, now),
                    isAllowed ? delay : 0,
                    secondBinds ? Binding.SECOND : Binding.FIRST);
        }

        private long wait(Meter<S> meter, S state, long now, long cost) {
            if (cost == 0) return 0;
            return cost > meter.burst() ? NEVER : meter.wait(state, now, cost);
        }

        private long resetAfter(List<S> states, long now) {
            long first = meters.get(0).resetAfter(states.get(0), now);
            return Math.max(first, meters.get(count - 1).resetAfter(states.get(count - 1), now));
        }

        @Override
        public Outcome refund(long now, long key, long cost, long cost2) {
            if (now > horizon()) return Outcome.PAST_HORIZON;
            long[] costs = {cost, cost2};
            keys.computeIfPresent(key, (k, states) -> {
                List<S> after = new ArrayList<>(states);
                for (int i = 0; i < count; i++) {
                    after.set(i, meters.get(i).refund(states.get(i), now, costs[i]));
                }
                return after;
            });
            return Outcome.ALLOW;
        }

        @Override
        public Outcome relimit(long now, Limit first, Limit second) {
            List<Meter<S>> next = make(first, second);
            if (now > horizon() || now > horizon(next)) return Outcome.PAST_HORIZON;
            keys.replaceAll((key, states) -> {
                List<S> after = new ArrayList<>(states);
                for (int i = 0; i < count; i++) {
                    after.set(i, meters.get(i).relimit(states.get(i), now, next.get(i)));
                }
                return after;
            });
            meters = next;
            return Outcome.ALLOW;
        }

        @Override
        public void sweep(long now) {
            long at = Math.min(now, horizon());
            keys.values().removeIf(states -> resetAfter(states, at) == 0);
        }

        @Override
        public void forget(long key) {
            keys.remove(key);
        }

        @Override
        public int keys() {
            return keys.size();
        }

        @Override
        public long horizon() {
            return horizon(meters);
        }

        private static <S> long horizon(List<Meter<S>> meters) {
            return Math.min(meters.get(0).horizon(), meters.get(meters.size() - 1).horizon());
        }
    }

    /** a / b rounded up, for a positive b. */
    private static long ceilDiv(long a, long b) {
        return -Math.floorDiv(-a, b);
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    // Keys of strings and of small ids.

    private static final long P1 = 0x9E3779B185EBCA87L;
    private static final long P2 = 0xC2B2AE3D27D4EB4FL;
    private static final long P3 = 0x165667B19E3779F9L;
    private static final long P4 = 0x85EBCA77C2B2AE63L;
    private static final long P5 = 0x27D4EB2F165667C5L;

    private static long round(long acc, long word) {
        return Long.rotateLeft(acc + word * P2, 31) * P1;
    }

    private static long word(byte[] bytes, int from, int size) {
        long word = 0;
        for (int i = size - 1; i >= 0; i--) {
            word = word << 8 | bytes[from + i] & 0xFF;
        }
        return word;
    }

    /** The key of a string's bytes. */
    public static long xxh64(byte[] bytes, long seed) {
        int at = 0;
        long h = seed + P5;
        if (bytes.length >= 32) {
            long[] lanes = {seed + P1 + P2, seed + P2, seed, seed - P1};
            while (bytes.length - at >= 32) {
                for (int i = 0; i < 4; i++, at += 8) {
                    lanes[i] = round(lanes[i], word(bytes, at, 8));
                }
            }
            h = Long.rotateLeft(lanes[0], 1)
                    + Long.rotateLeft(lanes[1], 7)
                    + Long.rotateLeft(lanes[2], 12)
                    + Long.rotateLeft(lanes[3], 18);
            for (long lane : lanes) {
                h = (h ^ round(0, lane)) * P1 + P4;
            }
        }
        h += bytes.length;
        for (; bytes.length - at >= 8; at += 8) {
            h = Long.rotateLeft(h ^ round(0, word(bytes, at, 8)), 27) * P1 + P4;
        }
        if (bytes.length - at >= 4) {
            h = Long.rotateLeft(h ^ word(bytes, at, 4) * P1, 23) * P2 + P3;
            at += 4;
        }
        for (; at < bytes.length; at++) {
            h = Long.rotateLeft(h ^ (bytes[at] & 0xFF) * P5, 11) * P1;
        }
        h = (h ^ h >>> 33) * P2;
        h = (h ^ h >>> 29) * P3;
        return h ^ h >>> 32;
    }

    /** The key of a 32-bit id. */
    public static long mix32(int id) {
        int x = id;
        x = (x ^ x >>> 16) * 0x85EBCA6B;
        x = (x ^ x >>> 13) * 0xC2B2AE35;
        return Integer.toUnsignedLong(x ^ x >>> 16);
    }
}
