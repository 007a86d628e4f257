//! Speaks weir's protocol 1, as plain text, for the library: requests on standard input, answers on standard output.

use std::io::{self, BufRead, Write};

use weir::{
    mix32, xxh64, Answer, Binding, DualBucket, Gcra, LeakyBucket, Limit, Policy, Refusal,
    SlidingLog, TokenBucket, NEVER,
};

const HELLO: &str = "\
hello 1 weir-rust 1.0.0 rust
policies gcra tokenbucket leakybucket slidinglog dualbucket
can max_keys peek refund sweep relimit cost2 long_log int64 xxh64 mix32
max_keys *
.
";

/// Why a line was not understood.
struct Misread(&'static str);

/// The case that is open.
struct Case {
    seq: String,
    /// None once the policy was refused or a line was not understood: the answer to the case is given then.
    policy: Option<Box<dyn Policy>>,
    steps: u64,
}

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut case = None;
    for line in io::stdin().lock().split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        let words: Vec<&str> = line.split(' ').collect();
        if words == ["bye"] {
            break;
        }
        out.write_all(answer(&words, &mut case).as_bytes())?;
        // The answers to a case are sent at its end at the latest.
        if !matches!(words[0], "case" | "step") {
            out.flush()?;
        }
    }
    out.flush()
}

fn answer(words: &[&str], case: &mut Option<Case>) -> String {
    match words {
        ["hello", "1", _] => HELLO.to_string(),
        ["case", seq, rest @ ..] if number(seq, 63).is_ok() => open(seq, rest, case),
        ["step", rest @ ..] => match case {
            Some(case) => case.step(rest),
            None => "! - no case is open\n".to_string(),
        },
        ["end", seq] => match case.take_if(|case| case.seq == *seq) {
            Some(_) => format!("end {seq}\n"),
            None => "! - no such case is open\n".to_string(),
        },
        ["hash", seq, rest @ ..] if number(seq, 63).is_ok() => match hash(rest) {
            Ok(key) => format!("h {seq} {key}\nend {seq}\n"),
            Err(Misread(why)) => format!("! {seq} {why}\nend {seq}\n"),
        },
        _ => "! - unknown command\n".to_string(),
    }
}

fn open(seq: &str, words: &[&str], case: &mut Option<Case>) -> String {
    let (policy, text) = match make(words) {
        Ok(Ok(policy)) => (Some(policy), String::new()),
        Ok(Err(word)) => (None, format!("x {seq} {word}\n")),
        Err(Misread(why)) => (None, format!("! {seq} {why}\n")),
    };
    *case = Some(Case {
        seq: seq.to_string(),
        policy,
        steps: 0,
    });
    text
}

/// The policy, or the word with which it is refused.
fn make(words: &[&str]) -> Result<Result<Box<dyn Policy>, String>, Misread> {
    let [policy, max_keys, rest @ ..] = words else {
        return Err(Misread("a case has nine fields"));
    };
    let max_keys = if *max_keys == "*" {
        None
    } else {
        Some(number(max_keys, 63)?)
    };
    let limits = limits(rest)?;
    fn boxed<P: Policy + 'static>(made: Result<P, Refusal>) -> Result<Box<dyn Policy>, Refusal> {
        Ok(Box::new(made?))
    }
    let made = match *policy {
        "gcra" => boxed(Gcra::new(&limits, max_keys)),
        "tokenbucket" => boxed(TokenBucket::new(&limits, max_keys)),
        "leakybucket" => boxed(LeakyBucket::new(&limits, max_keys)),
        "slidinglog" => boxed(SlidingLog::new(&limits, max_keys)),
        "dualbucket" => boxed(DualBucket::new(&limits, max_keys)),
        _ => return Ok(Err("unknown_policy".to_string())),
    };
    Ok(made.map_err(|refusal| refusal.to_string()))
}

impl Case {
    fn step(&mut self, words: &[&str]) -> String {
        let Some(policy) = &mut self.policy else {
            return String::new();
        };
        let (seq, i) = (&self.seq, self.steps);
        self.steps += 1;
        match run(policy.as_mut(), words, i) {
            Ok(Told::Answer(text)) => format!("r {seq} {i} {text}\n"),
            Ok(Told::Keys(keys)) => format!("k {seq} {i} {keys}\n"),
            Err(Misread(why)) => {
                let text = format!("! {seq} {why}\n");
                self.policy = None;
                text
            }
        }
    }
}

enum Told {
    Answer(String),
    Keys(usize),
}

fn run(policy: &mut dyn Policy, words: &[&str], i: u64) -> Result<Told, Misread> {
    let [index, op, now, key, cost, cost2, params @ ..] = words else {
        return Err(Misread("a step has six fields or, to relimit, twelve"));
    };
    if params.len() != if *op == "relimit" { 6 } else { 0 } {
        return Err(Misread("a step has six fields or, to relimit, twelve"));
    }
    if number(index, 63)? != i {
        return Err(Misread("steps come in order"));
    }
    let now = || number(now, 63);
    let key = || number(key, 64);
    let costs = || -> Result<[u64; 2], Misread> {
        let first = number(cost, 63)?;
        Ok([
            first,
            if *cost2 == "-" {
                first
            } else {
                number(cost2, 63)?
            },
        ])
    };
    let alone = |outcome: String| Told::Answer(outcome + " - - - - -");
    Ok(match *op {
        "take" => Told::Answer(describe(policy.take(now()?, key()?, costs()?))),
        "peek" => Told::Answer(describe(policy.peek(now()?, key()?, costs()?))),
        "refund" => alone(policy.refund(now()?, key()?, costs()?).to_string()),
        "relimit" => match policy.relimit(now()?, &limits(params)?) {
            Ok(outcome) => alone(outcome.to_string()),
            Err(refusal) => alone(refusal.to_string()),
        },
        "forget" => {
            policy.forget(key()?);
            alone("allow".to_string())
        }
        "sweep" => {
            policy.sweep(now()?);
            Told::Keys(policy.keys())
        }
        "keys" => Told::Keys(policy.keys()),
        _ => return Err(Misread("unknown op")),
    })
}

fn describe(answer: Answer) -> String {
    let Answer {
        outcome,
        remaining,
        retry_after,
        reset_after,
        delay,
        binding,
    } = answer;
    let retry_after = if retry_after == NEVER {
        "-1".to_string()
    } else {
        retry_after.to_string()
    };
    let binding = match binding {
        Binding::First => "first",
        Binding::Second => "second",
    };
    format!("{outcome} {remaining} {retry_after} {reset_after} {delay} {binding}")
}

/// One limit, or two if the second is there.
fn limits(words: &[&str]) -> Result<Vec<Limit>, Misread> {
    let numbers = words
        .iter()
        .map(|word| {
            if *word == "-" {
                Ok(0)
            } else {
                number(word, 63)
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    let [permits, period, burst, permits2, period2, burst2] = numbers[..] else {
        return Err(Misread("limits are six numbers"));
    };
    let first = Limit {
        permits,
        period,
        burst,
    };
    let second = Limit {
        permits: permits2,
        period: period2,
        burst: burst2,
    };
    Ok(if second == Limit::default() {
        vec![first]
    } else {
        vec![first, second]
    })
}

fn hash(words: &[&str]) -> Result<u64, Misread> {
    match words {
        ["xxh64", hex, seed] => Ok(xxh64(&bytes(hex)?, number(seed, 64)?)),
        ["mix32", id] => Ok(mix32(number(id, 32)? as u32)),
        _ => Err(Misread("no such hash")),
    }
}

fn bytes(hex: &str) -> Result<Vec<u8>, Misread> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(Misread("not lower-case hex")),
    };
    match hex {
        "-" => Ok(Vec::new()),
        _ if hex.len() % 2 == 1 => Err(Misread("half a byte")),
        _ => hex
            .as_bytes()
            .chunks(2)
            .map(|pair| Ok(digit(pair[0])? << 4 | digit(pair[1])?))
            .collect(),
    }
}

/// A canonical decimal below 2^bits.
fn number(text: &str, bits: u32) -> Result<u64, Misread> {
    let is_canonical = text == "0" || !text.starts_with(['0', '+']);
    match text.parse::<u64>() {
        Ok(value) if is_canonical && value <= u64::MAX >> (64 - bits) => Ok(value),
        _ => Err(Misread("not a number, or one that is too large")),
    }
}
