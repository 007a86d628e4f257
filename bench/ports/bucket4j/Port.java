import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.EstimationProbe;
import io.github.bucket4j.TimeMeter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * bucket4j as a port of the weir vectors, in the plain-text protocol of vectors/README.md. One tick is one nanosecond. The
 * bucket refills greedily, which is bucket4j's word for one token at a time.
 */
public final class Port {
    /** As in pom.xml. */
    static final String VERSION = "8.14.0";

    /** The time of the step at hand. */
    static final class Clock implements TimeMeter {
        long now;

        @Override
        public long currentTimeNanos() {
            return now;
        }

        @Override
        public boolean isWallClockBased() {
            return false;
        }
    }

    final PrintStream out;
    Clock clock;
    Map<String, Bucket> buckets;
    String seq;
    long permits, period, burst;
    String refused; // why the limit of this case was
    String skipped; // why the whole case is: a step cannot be asked
    StringBuilder answers; // held back until its end for that reason

    Port(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] args) throws IOException {
        Port port = new Port(new PrintStream(System.out, false));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("bye"); line = in.readLine()) {
            port.line(line.split(" "));
            port.out.flush();
        }
    }

    void line(String[] w) {
        switch (w[0]) {
            case "hello" -> out.print("hello 1 bucket4j " + VERSION
                    + " java\npolicies tokenbucket\ncan int64 peek refund\nmax_keys *\n.\n");
            case "case" -> begin(w[1], number(w[4]), number(w[5]), number(w[6]));
            case "step" -> {
                if (refused == null && skipped == null) {
                    answers.append(step(w[1], w[2], w[3], w[4], w[5])).append('\n');
                }
            }
            case "end" -> {
                out.print(refused != null ? "x " + seq + " refused\n"
                        : skipped != null ? "s " + seq + " " + skipped + "\n" : answers);
                out.print("end " + seq + "\n");
            }
            default -> out.print("! - not understood\n");
        }
    }

    /** A new case; a limit that bucket4j does not take is refused at once. */
    void begin(String seq, long permits, long period, long burst) {
        this.seq = seq;
        this.permits = permits;
        this.period = period;
        this.burst = burst;
        clock = new Clock();
        buckets = new HashMap<>();
        refused = null;
        skipped = null;
        answers = new StringBuilder();
        try {
            open();
        } catch (IllegalArgumentException | ArithmeticException e) {
            refused = e.getMessage();
        }
    }

    Bucket open() {
        return Bucket.builder()
                .addLimit(limit -> limit.capacity(burst).refillGreedy(permits, Duration.ofNanos(period)))
                .withCustomTimePrecision(clock)
                .build();
    }

    String step(String i, String op, String now, String key, String cost) {
        if (!now.equals("-")) {
            clock.now = Long.parseLong(now);
        }
        if ((op.equals("take") || op.equals("peek")) && number(cost) == 0) {
            skipped = "a request for 0 is an IllegalArgumentException";
            return "";
        }
        String r = "r " + seq + " " + i + " ";
        switch (op) {
            case "take" -> {
                ConsumptionProbe p = bucket(key).tryConsumeAndReturnRemaining(number(cost));
                return r + decided(p.isConsumed(), p.getRemainingTokens(), p.getNanosToWaitForRefill())
                        + p.getNanosToWaitForReset() + " - -";
            }
            case "peek" -> {
                EstimationProbe p = bucket(key).estimateAbilityToConsume(number(cost));
                return r + decided(p.canBeConsumed(), p.getRemainingTokens(), p.getNanosToWaitForRefill()) + "- - -";
            }
            case "refund" -> {
                if (buckets.containsKey(key) && number(cost) > 0) {
                    buckets.get(key).addTokens(number(cost));
                }
                return r + "allow - - - - -";
            }
            case "forget" -> {
                buckets.remove(key);
                return r + "allow - - - - -";
            }
            default -> {
                skipped = "no such operation: " + op;
                return "";
            }
        }
    }

    /** A bucket is made at the first request of its key, as a program would do it. */
    Bucket bucket(String key) {
        return buckets.computeIfAbsent(key, k -> open());
    }

    /** outcome, remaining and retry_after; a wait of Long.MAX_VALUE is bucket4j's never. */
    static String decided(boolean ok, long remaining, long wait) {
        if (ok) {
            return "allow " + remaining + " 0 ";
        }
        if (wait == Long.MAX_VALUE) {
            return "too_costly " + remaining + " -1 ";
        }
        return "deny " + remaining + " " + wait + " ";
    }

    static long number(String word) {
        return word.equals("-") ? 0 : Long.parseLong(word);
    }
}
