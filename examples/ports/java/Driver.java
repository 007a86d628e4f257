import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;

/** Speaks weir's protocol 1, as plain text, for Weir: requests on standard input, answers on standard output. */
final class Driver {
    private static final String HELLO = """
            hello 1 weir-java 1.0.0 java
            policies gcra tokenbucket leakybucket slidinglog dualbucket
            can max_keys peek refund sweep relimit cost2 long_log int64 xxh64 mix32
            max_keys *
            .
            """;

    /** A line that is not understood. */
    private static final class Misread extends Exception {
        private static final long serialVersionUID = 1;

        Misread(String message) {
            super(message);
        }
    }

    private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);

    /** The case that is open, or null. */
    private String open;

    /** Its policy; null once it was refused or a line was not understood: the answer to the case is given then. */
    private Weir.Limiter limiter;

    private long steps;

    public static void main(String[] arguments) throws IOException {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.ISO_8859_1));
        var driver = new Driver();
        for (String line = in.readLine(); line != null && !line.equals("bye"); line = in.readLine()) {
            driver.handle(line.split(" ", -1));
        }
        driver.out.flush();
    }

    private void handle(String[] words) {
        switch (words[0]) {
            case "step" -> step(words);
            case "hello" -> hello(words);
            case "case" -> open(words);
            case "end" -> end(words);
            case "hash" -> hash(words);
            default -> say("! - unknown command");
        }
        // The answers to a case are sent at its end at the latest.
        if (!words[0].equals("case") && !words[0].equals("step")) out.flush();
    }

    private void say(Object... words) {
        for (int i = 0; i < words.length; i++) {
            if (i > 0) out.print(' ');
            out.print(words[i]);
        }
        out.print('\n');
    }

    private void hello(String[] words) {
        if (words.length == 3 && words[1].equals("1")) out.print(HELLO);
        else say("! - only protocol 1 is spoken here");
    }

    private void open(String[] words) {
        if (words.length < 2 || !isNumber(words[1])) {
            say("! - a case has a number");
            return;
        }
        open = words[1];
        limiter = null;
        steps = 0;
        try {
            if (words.length != 10) throw new Misread("a case has nine fields");
            long maxKeys = words[3].equals("*") ? Weir.UNBOUNDED : number(words[3]);
            limiter = Weir.limiter(words[2], limit(words, 4), limit(words, 7), maxKeys);
        } catch (Weir.Refused refused) {
            say("x", open, refused.getMessage());
        } catch (Misread misread) {
            say("!", open, misread.getMessage());
        }
    }

    private void step(String[] words) {
        if (open == null) {
            say("! - no case is open");
        } else if (limiter != null) {
            try {
                run(words);
                steps++;
            } catch (Misread misread) {
                say("!", open, misread.getMessage());
                limiter = null;
            }
        }
    }

    private void run(String[] words) throws Misread {
        boolean isRelimit = words.length > 2 && words[2].equals("relimit");
        if (words.length != (isRelimit ? 13 : 7)) throw new Misread("a step has six fields or, to relimit, twelve");
        if (number(words[1]) != steps) throw new Misread("steps come in order");
        switch (words[2]) {
            case "take" -> result(limiter.take(now(words), key(words), cost(words), cost2(words)));
            case "peek" -> result(limiter.peek(now(words), key(words), cost(words), cost2(words)));
            case "refund" -> result(word(limiter.refund(now(words), key(words), cost(words), cost2(words))));
            case "relimit" -> {
                long now = now(words);
                Weir.Limit first = limit(words, 7);
                Weir.Limit second = limit(words, 10);
                try {
                    result(word(limiter.relimit(now, first, second)));
                } catch (Weir.Refused refused) {
                    result(refused.getMessage());
                }
            }
            case "forget" -> {
                limiter.forget(key(words));
                result(word(Weir.Outcome.ALLOW));
            }
            case "sweep" -> {
                limiter.sweep(now(words));
                say("k", open, steps, limiter.keys());
            }
            case "keys" -> say("k", open, steps, limiter.keys());
            default -> throw new Misread("unknown op");
        }
    }

    private void result(Weir.Answer answer) {
        say("r", open, steps, word(answer.outcome()), answer.remaining(),
                answer.retryAfter() == Weir.NEVER ? -1 : answer.retryAfter(),
                answer.resetAfter(), answer.delay(), word(answer.binding()));
    }

    private void result(String outcome) {
        say("r", open, steps, outcome, "- - - - -");
    }

    private void end(String[] words) {
        if (words.length == 2 && words[1].equals(open)) {
            say("end", open);
            open = null;
        } else {
            say("! - no such case is open");
        }
    }

    private void hash(String[] words) {
        if (words.length < 2 || !isNumber(words[1])) {
            say("! - a hash has a number");
            return;
        }
        try {
            say("h", words[1], Long.toUnsignedString(hashOf(words)));
        } catch (Misread misread) {
            say("!", words[1], misread.getMessage());
        }
        say("end", words[1]);
    }

    private static long hashOf(String[] words) throws Misread {
        String name = words.length > 2 ? words[2] : "";
        if (name.equals("xxh64") && words.length == 5) {
            String hex = words[3].equals("-") ? "" : words[3];
            if (!hex.matches("([0-9a-f]{2})*")) throw new Misread("not lower-case hex");
            return Weir.xxh64(HexFormat.of().parseHex(hex), number(words[4], 64));
        }
        if (name.equals("mix32") && words.length == 4) return Weir.mix32((int) number(words[3], 32));
        throw new Misread("no such hash");
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private static long now(String[] words) throws Misread {
        return number(words[3]);
    }

    private static long key(String[] words) throws Misread {
        return number(words[4], 64);
    }

    private static long cost(String[] words) throws Misread {
        return number(words[5]);
    }

    private static long cost2(String[] words) throws Misread {
        return number(words[words[6].equals("-") ? 5 : 6]);
    }

    private static Weir.Limit limit(String[] words, int from) throws Misread {
        long[] numbers = new long[3];
        for (int i = 0; i < 3; i++) {
            if (!words[from + i].equals("-")) numbers[i] = number(words[from + i]);
        }
        return new Weir.Limit(numbers[0], numbers[1], numbers[2]);
    }

    private static boolean isNumber(String text) {
        return text.matches("0|[1-9][0-9]{0,19}");
    }

    private static long number(String text) throws Misread {
        return number(text, 63);
    }

    /** A canonical decimal below 2^bits; one of 64 bits may come out negative. */
    private static long number(String text, int bits) throws Misread {
        try {
            if (isNumber(text)) {
                long value = Long.parseUnsignedLong(text);
                if (bits == 64 || value >>> bits == 0) return value;
            }
        } catch (NumberFormatException beyond64Bits) {
            // as any other number that is too large
        }
        throw new Misread("not a number, or one that is too large");
    }
}
