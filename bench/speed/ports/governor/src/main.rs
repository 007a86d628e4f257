//! The Rust crate governor, driven as a child of the speed benchmark. Each line of input is "NAME DECISIONS"; the answer is
//! "NANOSECONDS ALLOWED" for that many decisions, in processor time of the thread, as for the
//! benchmark's own rows. "version" answers the crate's.
//!
//! It is driven by check and check_key with its defaults: DashMap with std's hasher, the quanta clock. The frozen clock is
//! governor's own FakeRelativeClock, which costs one atomic load a reading. 100 permits a second with a burst of 10^9, half of
//! it spent at once, are never refused; a hot key has 1,000,000,000 a second.

use governor::clock::{Clock, DefaultClock, FakeRelativeClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::hash::Hash;
use std::io::{self, BufRead, Write};
use std::num::NonZeroU32;

/// As in Cargo.toml.
const VERSION: &str = "0.10.4";
/// How many keys there are; a power of two, as in keys.go.
const KEYS: usize = 1 << 20;

type Direct = RateLimiter<NotKeyed, InMemoryState, DefaultClock, NoOpMiddleware<<DefaultClock as Clock>::Instant>>;
type Keyed<K, C> = RateLimiter<K, DashMapStateStore<K>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// splitmix64's output function over multiples of its increment, as in keys.go.
fn key(i: u64) -> u64 {
    let mut x = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn number(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).expect("the numbers of this file are above 0")
}

fn many() -> Quota {
    Quota::per_second(number(100)).allow_burst(number(1_000_000_000))
}

/// Rows over a million keys, and where the next slice goes on.
struct Rows<K: Hash + Eq + Clone, C: Clock> {
    limiter: Keyed<K, C>,
    keys: Vec<K>,
    at: usize,
}

impl<K: Hash + Eq + Clone, C: Clock> Rows<K, C> {
    fn new(clock: C, keys: Vec<K>) -> Self {
        let limiter = RateLimiter::new(many(), DashMapStateStore::default(), clock);
        for k in &keys {
            let _ = limiter.check_key_n(k, number(500_000_000));
        }
        Rows { limiter, keys, at: 0 }
    }

    fn slice(&mut self, n: usize) -> usize {
        let mut allowed = 0;
        for i in self.at..self.at + n {
            allowed += self.limiter.check_key(&self.keys[i & (KEYS - 1)]).is_ok() as usize;
        }
        self.at += n;
        allowed
    }
}

/// What can be run, each made when it is first asked for.
#[derive(Default)]
struct All {
    direct: Option<Direct>,
    frozen: Option<Rows<u64, FakeRelativeClock>>,
    strings: Option<Rows<String, DefaultClock>>,
}

impl All {
    /// Makes what NAME needs, outside the time that is taken.
    fn make(&mut self, name: &str) {
        match name {
            "direct" => {
                self.direct.get_or_insert_with(|| RateLimiter::direct(Quota::per_second(number(1_000_000_000))));
            }
            "frozen" => {
                let keys = || (0..KEYS as u64).map(key).collect();
                self.frozen.get_or_insert_with(|| Rows::new(FakeRelativeClock::default(), keys()));
            }
            "strings" => {
                let keys = || (0..KEYS as u64).map(|i| format!("{:016x}", key(i))).collect();
                self.strings.get_or_insert_with(|| Rows::new(DefaultClock::default(), keys()));
            }
            _ => {}
        }
    }

    fn slice(&mut self, name: &str, n: usize) -> usize {
        match name {
            "direct" => self.direct.as_ref().map_or(0, |d| (0..n).filter(|_| d.check().is_ok()).count()),
            "frozen" => self.frozen.as_mut().map_or(0, |r| r.slice(n)),
            "strings" => self.strings.as_mut().map_or(0, |r| r.slice(n)),
            _ => 0,
        }
    }
}

/// What the thread has used of a processor, in ns.
fn thread_time() -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: t is a timespec that outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

fn main() -> io::Result<()> {
    let mut all = All::default();
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (name, n) = line.split_once(' ').unwrap_or((line.as_str(), "0"));
        if name == "version" {
            writeln!(out, "{VERSION}")?;
            out.flush()?;
            continue;
        }
        let n = n.parse().unwrap_or(0);
        all.make(name);
        let start = thread_time();
        let allowed = all.slice(name, n);
        writeln!(out, "{} {allowed}", thread_time() - start)?;
        out.flush()?;
    }
    Ok(())
}
