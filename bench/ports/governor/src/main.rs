//! The Rust crate governor as a port of the weir vectors, in the plain-text protocol of vectors/README.md. One tick is one
//! nanosecond. governor keeps whole nanoseconds a permit, so period / permits is rounded down here, as its own per_second
//! does.

use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use std::cell::Cell;
use std::io::{self, BufRead, Write};
use std::num::NonZeroU32;
use std::rc::Rc;
use std::time::Duration;

/// As in Cargo.toml.
const VERSION: &str = "0.10.4";

/// The time of the step at hand.
#[derive(Clone, Debug, Default)]
struct FakeClock(Rc<Cell<u64>>);

impl Clock for FakeClock {
    type Instant = Nanos;
    fn now(&self) -> Nanos {
        Nanos::from(self.0.get())
    }
}

type Limiter = RateLimiter<u64, HashMapStateStore<u64>, FakeClock, StateInformationMiddleware>;

/// What became of making a limiter.
enum Made {
    Limiter(Limiter, FakeClock),
    Refused,
    Skipped(&'static str),
}

fn make(permits: u64, period: u64, burst: u64) -> Made {
    if burst > u32::MAX as u64 {
        return Made::Skipped("burst above 2^32-1");
    }
    let interval = period.checked_div(permits).unwrap_or(0);
    let quota = Quota::with_period(Duration::from_nanos(interval));
    match (quota, NonZeroU32::new(burst as u32)) {
        (Some(quota), Some(burst)) => {
            let clock = FakeClock::default();
            let limiter = RateLimiter::new(quota.allow_burst(burst), HashMapStateStore::default(), clock.clone());
            Made::Limiter(limiter, clock)
        }
        _ => Made::Refused,
    }
}

/// The answer to one step, without its "r <seq> <i>"; None if governor has no such operation.
fn answer(limiter: &Limiter, clock: &FakeClock, op: &str, key: u64, cost: u64) -> Option<String> {
    if op == "sweep" {
        limiter.retain_recent();
        return Some(format!("k {}", limiter.len()));
    }
    if op != "take" {
        return None;
    }
    let cost = NonZeroU32::new(u32::try_from(cost).ok()?)?;
    Some(match limiter.check_key_n(&key, cost) {
        Ok(Ok(state)) => format!("r allow {} 0 - - -", state.remaining_burst_capacity()),
        Ok(Err(until)) => format!("r deny - {} - - -", until.wait_time_from(clock.now()).as_nanos()),
        Err(_) => "r too_costly - -1 - - -".to_string(),
    })
}

fn number(word: Option<&&str>) -> u64 {
    word.and_then(|w| w.parse().ok()).unwrap_or(0)
}

/// The case at hand: its answers are held back until its end, since a step that cannot be asked skips all of it.
struct Case {
    seq: String,
    made: Made,
    lines: Vec<String>,
}

impl Case {
    fn begin(words: &[&str]) -> Case {
        let made = make(number(words.get(4)), number(words.get(5)), number(words.get(6)));
        Case { seq: words[1].to_string(), made, lines: Vec::new() }
    }

    fn step(&mut self, words: &[&str]) {
        let Made::Limiter(limiter, clock) = &self.made else { return };
        clock.0.set(number(words.get(3)));
        match answer(limiter, clock, words[2], number(words.get(4)), number(words.get(5))) {
            Some(a) => self.lines.push(format!("{} {} {} {}", &a[..1], self.seq, words[1], &a[2..])),
            None => self.made = Made::Skipped("an operation or a cost that cannot be asked"),
        }
    }

    fn end(&self, out: &mut impl Write) -> io::Result<()> {
        match &self.made {
            Made::Refused => writeln!(out, "x {} refused", self.seq)?,
            Made::Skipped(why) => writeln!(out, "s {} {why}", self.seq)?,
            Made::Limiter(..) => self.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?,
        }
        writeln!(out, "end {}", self.seq)
    }
}

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut case = Case { seq: String::new(), made: Made::Refused, lines: Vec::new() };
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "hello" => write!(
                out,
                "hello 1 governor {VERSION} rust\npolicies gcra\ncan int64 sweep\nmax_keys *\n.\n"
            )?,
            "case" => case = Case::begin(&words),
            "step" => case.step(&words),
            "end" => case.end(&mut out)?,
            "bye" => return out.flush(),
            _ => writeln!(out, "! - not understood")?,
        }
        out.flush()?;
    }
    Ok(())
}
