import io.github.bucket4j.Bucket;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The Java library bucket4j, driven as a child of the speed benchmark. Each line of input is "NAME DECISIONS"; the answer is
 * "NANOSECONDS ALLOWED" for that many decisions, measured here. "version" answers the library's. Time is the processor time
 * of the thread, as it is for the benchmark's own rows.
 *
 * <p>It is driven by tryConsume(1) of a Bucket a key in a ConcurrentHashMap, as its documentation shows for local buckets,
 * with its finest clock, TimeMeter.SYSTEM_NANOTIME; the answer is yes or no.
 */
final class Speed {
    /** As in pom.xml. */
    private static final String VERSION = "8.14.0";
    /** How many keys there are; a power of two, as in keys.go. */
    private static final int KEYS = 1 << 20;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final ConcurrentHashMap<String, Bucket> buckets = new ConcurrentHashMap<>();
    private final String[] keys = new String[KEYS];
    private final Bucket direct = make(1_000_000_000);
    private int at = 0;

    private Speed() {
        for (int i = 0; i < KEYS; i++) {
            keys[i] = String.format("%016x", key(i));
        }
    }

    private static Bucket make(long perSecond) {
        return Bucket.builder()
                .addLimit(limit -> limit.capacity(1_000_000_000).refillGreedy(perSecond, Duration.ofSeconds(1)))
                .withNanosecondPrecision()
                .build();
    }

    /** The output function of splitmix64 over multiples of its increment, as in keys.go. */
    private static long key(long i) {
        long x = (i + 1) * 0x9e3779b97f4a7c15L;
        x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
        x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
        return x ^ (x >>> 31);
    }

    private int strings(int n) {
        int allowed = 0;
        for (int i = 0; i < n; i++) {
            Bucket bucket = buckets.computeIfAbsent(keys[at++ & (KEYS - 1)], k -> make(100));
            if (bucket.tryConsume(1)) {
                allowed++;
            }
        }
        return allowed;
    }

    private int direct(int n) {
        int allowed = 0;
        for (int i = 0; i < n; i++) {
            if (direct.tryConsume(1)) {
                allowed++;
            }
        }
        return allowed;
    }

    private int slice(String name, int n) {
        return switch (name) {
            case "strings" -> strings(n);
            case "direct" -> direct(n);
            default -> 0;
        };
    }

    public static void main(String[] args) throws IOException {
        Speed speed = new Speed();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("version")) {
                System.out.println(VERSION);
                continue;
            }
            int n = Integer.parseInt(words[1]);
            if (words[0].equals("strings") && speed.buckets.isEmpty()) {
                speed.strings(KEYS);
            }
            long start = THREADS.getCurrentThreadCpuTime();
            int allowed = speed.slice(words[0], n);
            System.out.println(THREADS.getCurrentThreadCpuTime() - start + " " + allowed);
        }
    }
}
