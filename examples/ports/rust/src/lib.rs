//! weir's five rate-limiting policies, exact to the tick and to the permit.
//!
//! ```
//! use weir::{Gcra, Limit, Outcome, Policy};
//!
//! let mut limiter = Gcra::new(&[Limit { permits: 3, period: 1000, burst: 1 }], None).unwrap();
//! assert_eq!(limiter.take(0, 7, [1, 1]).outcome, Outcome::Allow);
//! assert_eq!(limiter.take(333, 7, [1, 1]).retry_after, 1);
//! ```
//!
//! The caller says what a tick is and what time it is: nothing here reads a clock. A cost is given for the first limit and
//! for the second, which only a dual bucket has. Costs and times stay below 2^63.

use std::array;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::marker::PhantomData;

mod hash;
pub use hash::{mix32, xxh64};

/// A wait without end.
pub const NEVER: u64 = u64::MAX;

/// The burst in units, and now in units, stay below it.
const BOUND: u64 = 1 << 62;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    pub permits: u64,
    pub period: u64,
    pub burst: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Allow,
    Deny,
    TooCostly,
    Full,
    PastHorizon,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Outcome::Allow => "allow",
            Outcome::Deny => "deny",
            Outcome::TooCostly => "too_costly",
            Outcome::Full => "full",
            Outcome::PastHorizon => "past_horizon",
        })
    }
}

/// Which limit decided. Always the first, but in a dual bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    First,
    Second,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub outcome: Outcome,
    pub remaining: u64,
    pub retry_after: u64,
    pub reset_after: u64,
    pub delay: u64,
    pub binding: Binding,
}

/// Why a policy cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    InvalidSecond,
    InvalidPermits,
    InvalidPeriod,
    InvalidBurst,
    LimitTooLarge,
    InvalidMaxKeys,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Refusal::InvalidSecond => "invalid_second",
            Refusal::InvalidPermits => "invalid_permits",
            Refusal::InvalidPeriod => "invalid_period",
            Refusal::InvalidBurst => "invalid_burst",
            Refusal::LimitTooLarge => "limit_too_large",
            Refusal::InvalidMaxKeys => "invalid_max_keys",
        })
    }
}

impl std::error::Error for Refusal {}

/// One limit. What it knows of one key is a state that the limiter keeps.
pub trait Meter: Sized {
    type State;

    fn new(limit: Limit) -> Result<Self, Refusal>;
    /// The highest cost that is ever allowed.
    fn burst(&self) -> u64;
    /// The last now that is decided.
    fn horizon(&self) -> u64;
    /// The state of a new key.
    fn fresh(&self) -> Self::State;
    /// The ticks until a cost, at most the burst, is allowed.
    fn wait(&self, state: &Self::State, now: u64, cost: u64) -> u64;
    fn take(&self, state: &mut Self::State, now: u64, cost: u64);
    fn refund(&self, state: &mut Self::State, now: u64, cost: u64);
    fn remaining(&self, state: &Self::State, now: u64) -> u64;
    fn reset_after(&self, state: &Self::State, now: u64) -> u64;
    fn delay(&self, _state: &Self::State, _now: u64) -> u64 {
        0
    }
    /// Puts a state of this meter under another.
    fn relimit(&self, state: &mut Self::State, now: u64, next: &Self);
}

/// A rate and a burst in units: p units in one tick, q units in one permit, the tolerance is the units in a burst.
pub struct Units {
    p: u64,
    q: u64,
    burst: u64,
    tolerance: u64,
}

/// What a bucket knows of one key: a debt in units, q more for every permit spent, p less for every tick that passes, never
/// below 0.
pub trait Account {
    fn fresh(units: &Units) -> Self;
    fn debt(&self, units: &Units, now: u64) -> u64;
    /// The account that owes this debt at now.
    fn owing(units: &Units, now: u64, debt: u64) -> Self;
    fn delay(&self, _units: &Units, _now: u64) -> u64 {
        0
    }
}

/// The moment, in units, at which the debt is paid: the theoretical arrival time.
pub struct Tat(u64);

impl Account for Tat {
    fn fresh(_: &Units) -> Self {
        Tat(0)
    }

    fn debt(&self, units: &Units, now: u64) -> u64 {
        self.0.saturating_sub(now * units.p)
    }

    fn owing(units: &Units, now: u64, debt: u64) -> Self {
        Tat(now * units.p + debt)
    }
}

/// The units that can be spent, and the tick at which that was right. Below 0 if now steps back.
pub struct Balance {
    units: i64,
    last: u64,
}

impl Account for Balance {
    fn fresh(units: &Units) -> Self {
        Balance {
            units: units.tolerance as i64,
            last: 0,
        }
    }

    fn debt(&self, units: &Units, now: u64) -> u64 {
        let tolerance = units.tolerance as i64;
        let balance = self.units + (now as i64 - self.last as i64) * units.p as i64;
        (tolerance - balance.min(tolerance)) as u64
    }

    fn owing(units: &Units, now: u64, debt: u64) -> Self {
        Balance {
            units: units.tolerance as i64 - debt as i64,
            last: now,
        }
    }
}

/// The units of water, and the tick at which that was right.
pub struct Water {
    units: u64,
    last: u64,
}

impl Account for Water {
    fn fresh(_: &Units) -> Self {
        Water { units: 0, last: 0 }
    }

    fn debt(&self, units: &Units, now: u64) -> u64 {
        let leaked = (now as i64 - self.last as i64) * units.p as i64;
        (self.units as i64 - leaked).max(0) as u64
    }

    fn owing(_: &Units, now: u64, debt: u64) -> Self {
        Water {
            units: debt,
            last: now,
        }
    }

    fn delay(&self, units: &Units, now: u64) -> u64 {
        self.debt(units, now).div_ceil(units.p)
    }
}

/// The meter of the three bucket policies, which differ in the account.
pub struct Bucket<A> {
    units: Units,
    account: PhantomData<A>,
}

impl<A: Account> Meter for Bucket<A> {
    type State = A;

    fn new(limit: Limit) -> Result<Self, Refusal> {
        let Limit {
            permits,
            period,
            burst,
        } = limit;
        if permits == 0 {
            return Err(Refusal::InvalidPermits);
        }
        if period == 0 {
            return Err(Refusal::InvalidPeriod);
        }
        if burst == 0 {
            return Err(Refusal::InvalidBurst);
        }
        let g = gcd(permits, period);
        let (p, q) = (permits / g, period / g);
        match burst.checked_mul(q) {
            Some(tolerance) if tolerance < BOUND && p < BOUND => Ok(Bucket {
                units: Units {
                    p,
                    q,
                    burst,
                    tolerance,
                },
                account: PhantomData,
            }),
            _ => Err(Refusal::LimitTooLarge),
        }
    }

    fn burst(&self) -> u64 {
        self.units.burst
    }

    fn horizon(&self) -> u64 {
        (BOUND - 1) / self.units.p
    }

    fn fresh(&self) -> A {
        A::fresh(&self.units)
    }

    fn wait(&self, account: &A, now: u64, cost: u64) -> u64 {
        let room = self.units.tolerance - cost * self.units.q;
        account
            .debt(&self.units, now)
            .saturating_sub(room)
            .div_ceil(self.units.p)
    }

    fn take(&self, account: &mut A, now: u64, cost: u64) {
        let debt = account.debt(&self.units, now) + cost * self.units.q;
        *account = A::owing(&self.units, now, debt);
    }

    fn refund(&self, account: &mut A, now: u64, cost: u64) {
        let debt = account.debt(&self.units, now);
        if debt > 0 {
            // A product too large for the type is larger than any debt.
            let left = debt.saturating_sub(cost.saturating_mul(self.units.q));
            *account = A::owing(&self.units, now, left);
        }
    }

    fn remaining(&self, account: &A, now: u64) -> u64 {
        self.units
            .tolerance
            .saturating_sub(account.debt(&self.units, now))
            / self.units.q
    }

    fn reset_after(&self, account: &A, now: u64) -> u64 {
        account.debt(&self.units, now).div_ceil(self.units.p)
    }

    fn delay(&self, account: &A, now: u64) -> u64 {
        account.delay(&self.units, now)
    }

    fn relimit(&self, account: &mut A, now: u64, next: &Self) {
        let debt = account.debt(&self.units, now) as u128;
        let debt = (debt * next.units.q as u128).div_ceil(self.units.q as u128);
        *account = A::owing(
            &next.units,
            now,
            debt.min(next.units.tolerance as u128) as u64,
        );
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

struct Admission {
    tick: u64,
    /// The permits of this admission and of all before it since the log began. It wraps: only differences mean anything,
    /// and those of entries that are held stay below 2^62.
    total: u64,
}

/// Admissions, oldest first.
#[derive(Default)]
pub struct Log {
    entries: VecDeque<Admission>,
    dropped: u64,
}

impl Log {
    /// The permits admitted before entry i, as a running total.
    fn before(&self, i: usize) -> u64 {
        if i == 0 {
            self.dropped
        } else {
            self.entries[i - 1].total
        }
    }

    /// All that was admitted, as a running total.
    fn end(&self) -> u64 {
        self.before(self.entries.len())
    }

    /// The tick at which the log is judged: it does not run backwards.
    fn clock(&self, now: u64) -> u64 {
        self.entries
            .back()
            .map_or(now, |newest| newest.tick.max(now))
    }
}

/// At most `permits` in any `period` ticks. The running totals let a binary search stand for a walk.
pub struct Window {
    permits: u64,
    period: u64,
}

impl Window {
    /// The index of the oldest entry that counts.
    fn live(&self, log: &Log, now: u64) -> usize {
        let at = log.clock(now);
        log.entries
            .partition_point(|entry| entry.tick + self.period <= at)
    }

    fn used(&self, log: &Log, now: u64) -> u64 {
        log.end().wrapping_sub(log.before(self.live(log, now)))
    }
}

impl Meter for Window {
    type State = Log;

    fn new(limit: Limit) -> Result<Self, Refusal> {
        let Limit {
            permits,
            period,
            burst,
        } = limit;
        if permits == 0 {
            return Err(Refusal::InvalidPermits);
        }
        if period == 0 {
            return Err(Refusal::InvalidPeriod);
        }
        if burst != 0 && burst != permits {
            return Err(Refusal::InvalidBurst);
        }
        if permits >= BOUND || period >= BOUND {
            return Err(Refusal::LimitTooLarge);
        }
        Ok(Window { permits, period })
    }

    fn burst(&self) -> u64 {
        self.permits
    }

    fn horizon(&self) -> u64 {
        BOUND - 1
    }

    fn fresh(&self) -> Log {
        Log::default()
    }

    fn wait(&self, log: &Log, now: u64, cost: u64) -> u64 {
        if self.used(log, now) + cost <= self.permits {
            return 0;
        }
        let held = |total: u64| total.wrapping_sub(log.dropped);
        let needed = held(log.end()) + cost - self.permits;
        let enough = log
            .entries
            .partition_point(|entry| held(entry.total) < needed);
        log.entries[enough].tick + self.period - now
    }

    fn take(&self, log: &mut Log, now: u64, cost: u64) {
        let (at, live) = (log.clock(now), self.live(log, now));
        log.dropped = log.before(live);
        log.entries.drain(..live);
        let total = log.end().wrapping_add(cost);
        match log.entries.back_mut() {
            Some(newest) if newest.tick == at => newest.total = total,
            _ => log.entries.push_back(Admission { tick: at, total }),
        }
    }

    fn refund(&self, log: &mut Log, now: u64, cost: u64) {
        let live = self.live(log, now);
        let mut left = cost;
        while left > 0 && log.entries.len() > live {
            let newest = log.entries.len() - 1;
            let permits = log.end().wrapping_sub(log.before(newest));
            if permits > left {
                log.entries[newest].total = log.end().wrapping_sub(left);
                return;
            }
            log.entries.pop_back();
            left -= permits;
        }
    }

    fn remaining(&self, log: &Log, now: u64) -> u64 {
        self.permits.saturating_sub(self.used(log, now))
    }

    fn reset_after(&self, log: &Log, now: u64) -> u64 {
        match log.entries.back() {
            Some(newest) if newest.tick + self.period > now => newest.tick + self.period - now,
            _ => 0,
        }
    }

    /// The entries stay as they are, and count under the new limit.
    fn relimit(&self, _: &mut Log, _: u64, _: &Self) {}
}

/// N meters over one table of keys: a policy.
pub struct Limiter<M: Meter, const N: usize> {
    meters: [M; N],
    max_keys: Option<u64>,
    keys: HashMap<u64, [M::State; N]>,
}

pub type Gcra = Limiter<Bucket<Tat>, 1>;
pub type TokenBucket = Limiter<Bucket<Balance>, 1>;
pub type LeakyBucket = Limiter<Bucket<Water>, 1>;
pub type SlidingLog = Limiter<Window, 1>;
pub type DualBucket = Limiter<Bucket<Tat>, 2>;

impl<M: Meter, const N: usize> Limiter<M, N> {
    /// As many limits as the policy has. Without max_keys the table has no bound.
    pub fn new(limits: &[Limit], max_keys: Option<u64>) -> Result<Self, Refusal> {
        let meters = Self::meters(limits)?;
        if max_keys == Some(0) {
            return Err(Refusal::InvalidMaxKeys);
        }
        Ok(Limiter {
            meters,
            max_keys,
            keys: HashMap::new(),
        })
    }

    fn meters(limits: &[Limit]) -> Result<[M; N], Refusal> {
        if limits.len() != N {
            return Err(Refusal::InvalidSecond);
        }
        let meters = limits
            .iter()
            .map(|&limit| M::new(limit))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(meters.try_into().ok().expect("N limits make N meters"))
    }

    fn decide(&mut self, now: u64, key: u64, costs: [u64; 2], spend: bool) -> Answer {
        if now > self.horizon() {
            return Answer::of(Outcome::PastHorizon);
        }
        let meters = &self.meters;
        let costs = &costs[..N];
        let is_free = costs.iter().all(|&cost| cost == 0);
        let has_room = self.max_keys != Some(self.keys.len() as u64);

        let fresh = array::from_fn(|i| meters[i].fresh());
        let known = self.keys.get(&key);
        let is_new = known.is_none();
        let states = known.unwrap_or(&fresh);
        let waits: [u64; N] = array::from_fn(|i| match costs[i] {
            0 => 0,
            cost if cost > meters[i].burst() => NEVER,
            cost => meters[i].wait(&states[i], now, cost),
        });
        let retry_after = most(waits);
        let outcome = if retry_after == NEVER {
            Outcome::TooCostly
        } else if !is_free && is_new && !has_room {
            return Answer::of(Outcome::Full);
        } else if retry_after > 0 {
            Outcome::Deny
        } else {
            Outcome::Allow
        };

        let is_allowed = outcome == Outcome::Allow;
        let delay = if is_allowed {
            most(array::from_fn::<_, N, _>(|i| {
                meters[i].delay(&states[i], now)
            }))
        } else {
            0
        };
        let states = if is_allowed && spend && !is_free {
            let states = self.keys.entry(key).or_insert(fresh);
            for i in (0..N).filter(|&i| costs[i] > 0) {
                meters[i].take(&mut states[i], now, costs[i]);
            }
            states
        } else {
            states
        };
        let remaining: [u64; N] = array::from_fn(|i| meters[i].remaining(&states[i], now));
        let second_binds = if is_allowed {
            remaining[N - 1] < remaining[0]
        } else {
            waits[N - 1] > waits[0]
        };
        Answer {
            outcome,
            remaining: remaining[0].min(remaining[N - 1]),
            retry_after,
            reset_after: reset_after(meters, states, now),
            delay,
            binding: if second_binds {
                Binding::Second
            } else {
                Binding::First
            },
        }
    }
}

impl Answer {
    /// The answer that tells nothing of the key.
    fn of(outcome: Outcome) -> Answer {
        Answer {
            outcome,
            remaining: 0,
            retry_after: NEVER,
            reset_after: 0,
            delay: 0,
            binding: Binding::First,
        }
    }
}

fn most<const N: usize>(values: [u64; N]) -> u64 {
    values.into_iter().max().unwrap_or(0)
}

fn horizon<M: Meter>(meters: &[M]) -> u64 {
    meters.iter().map(M::horizon).min().unwrap_or(0)
}

fn reset_after<M: Meter, const N: usize>(meters: &[M; N], states: &[M::State; N], now: u64) -> u64 {
    most(array::from_fn::<_, N, _>(|i| {
        meters[i].reset_after(&states[i], now)
    }))
}

/// What every policy can do.
pub trait Policy {
    /// Spends permits if they are there.
    fn take(&mut self, now: u64, key: u64, costs: [u64; 2]) -> Answer;
    /// What take would answer, with remaining and reset_after as they stand. Changes nothing.
    fn peek(&mut self, now: u64, key: u64, costs: [u64; 2]) -> Answer;
    /// Gives permits back. Answers Allow or PastHorizon.
    fn refund(&mut self, now: u64, key: u64, costs: [u64; 2]) -> Outcome;
    /// Other limits for all keys at once. Answers Allow or PastHorizon.
    fn relimit(&mut self, now: u64, limits: &[Limit]) -> Result<Outcome, Refusal>;
    /// Frees the room of every key that is as good as new.
    fn sweep(&mut self, now: u64);
    /// Makes the key as if it had never been seen.
    fn forget(&mut self, key: u64);
    /// How many keys hold room.
    fn keys(&self) -> usize;
    /// The last now that is decided.
    fn horizon(&self) -> u64;
}

impl<M: Meter, const N: usize> Policy for Limiter<M, N> {
    fn take(&mut self, now: u64, key: u64, costs: [u64; 2]) -> Answer {
        self.decide(now, key, costs, true)
    }

    fn peek(&mut self, now: u64, key: u64, costs: [u64; 2]) -> Answer {
        self.decide(now, key, costs, false)
    }

    fn refund(&mut self, now: u64, key: u64, costs: [u64; 2]) -> Outcome {
        if now > self.horizon() {
            return Outcome::PastHorizon;
        }
        if let Some(states) = self.keys.get_mut(&key) {
            for (i, meter) in self.meters.iter().enumerate() {
                meter.refund(&mut states[i], now, costs[i]);
            }
        }
        Outcome::Allow
    }

    fn relimit(&mut self, now: u64, limits: &[Limit]) -> Result<Outcome, Refusal> {
        let next = Self::meters(limits)?;
        if now > self.horizon().min(horizon(&next)) {
            return Ok(Outcome::PastHorizon);
        }
        for states in self.keys.values_mut() {
            for (i, meter) in self.meters.iter().enumerate() {
                meter.relimit(&mut states[i], now, &next[i]);
            }
        }
        self.meters = next;
        Ok(Outcome::Allow)
    }

    fn sweep(&mut self, now: u64) {
        let now = now.min(self.horizon());
        let meters = &self.meters;
        self.keys
            .retain(|_, states| reset_after(meters, states, now) > 0);
    }

    fn forget(&mut self, key: u64) {
        self.keys.remove(&key);
    }

    fn keys(&self) -> usize {
        self.keys.len()
    }

    fn horizon(&self) -> u64 {
        horizon(&self.meters)
    }
}
