use weir::{
    mix32, xxh64, Answer, Binding, DualBucket, Gcra, LeakyBucket, Limit, Outcome, Policy, Refusal,
    SlidingLog,
};
use weir::{TokenBucket, NEVER};

const ONE: [u64; 2] = [1, 1];

fn limit(permits: u64, period: u64, burst: u64) -> Limit {
    Limit {
        permits,
        period,
        burst,
    }
}

fn told(answer: Answer) -> (Outcome, u64, u64, u64) {
    (
        answer.outcome,
        answer.remaining,
        answer.retry_after,
        answer.reset_after,
    )
}

#[test]
fn a_third_of_1000_ticks_is_due_at_334() {
    let limits = [limit(3, 1000, 1)];
    let policies: [Box<dyn Policy>; 3] = [
        Box::new(Gcra::new(&limits, None).unwrap()),
        Box::new(TokenBucket::new(&limits, None).unwrap()),
        Box::new(LeakyBucket::new(&limits, None).unwrap()),
    ];
    for mut limiter in policies {
        assert_eq!(told(limiter.take(0, 7, ONE)), (Outcome::Allow, 0, 0, 334));
        assert_eq!(told(limiter.take(333, 7, ONE)), (Outcome::Deny, 0, 1, 1));
        assert_eq!(told(limiter.take(334, 7, ONE)), (Outcome::Allow, 0, 0, 334));
    }
}

#[test]
fn a_hundred_a_second_in_nanoseconds() {
    let mut limiter = Gcra::new(&[limit(100, 1_000_000_000, 10)], None).unwrap();
    let now = 1_700_000_000 * 1_000_000_000;
    for left in (0..10).rev() {
        assert_eq!(limiter.take(now, 7, ONE).remaining, left);
    }
    assert_eq!(
        told(limiter.take(now, 7, ONE)),
        (Outcome::Deny, 0, 10_000_000, 100_000_000)
    );
    assert_eq!(limiter.take(now + 9_999_999, 7, ONE).outcome, Outcome::Deny);
    assert_eq!(
        limiter.take(now + 10_000_000, 7, ONE).outcome,
        Outcome::Allow
    );
}

#[test]
fn a_permit_counts_for_one_period() {
    let mut limiter = SlidingLog::new(&[limit(3, 1000, 0)], None).unwrap();
    limiter.take(0, 7, ONE);
    limiter.take(10, 7, [2, 2]);
    assert_eq!(
        told(limiter.take(20, 7, [2, 2])),
        (Outcome::Deny, 0, 990, 990)
    );
    assert_eq!(
        told(limiter.take(1000, 7, ONE)),
        (Outcome::Allow, 0, 0, 1000)
    );
}

#[test]
fn both_limits_or_neither() {
    let mut limiter = DualBucket::new(&[limit(1, 10, 5), limit(1, 1000, 2)], None).unwrap();
    assert_eq!(limiter.take(0, 7, [2, 2]).binding, Binding::Second);
    assert_eq!(
        told(limiter.take(0, 7, ONE)),
        (Outcome::Deny, 0, 1000, 2000)
    );
    assert_eq!(limiter.peek(0, 7, [3, 0]).outcome, Outcome::Allow);
}

#[test]
fn a_full_table_evicts_nobody() {
    let mut limiter = Gcra::new(&[limit(1, 1, 1)], Some(1)).unwrap();
    limiter.take(0, 7, ONE);
    assert_eq!(told(limiter.take(9, 8, ONE)), (Outcome::Full, 0, NEVER, 0));
    limiter.sweep(9);
    assert_eq!(limiter.keys(), 0);
    assert_eq!(limiter.take(9, 8, ONE).outcome, Outcome::Allow);
}

#[test]
fn what_cannot_be_made() {
    let refusal = |limit| Gcra::new(&[limit], None).err();
    assert_eq!(refusal(limit(1, 1, 0)), Some(Refusal::InvalidBurst));
    assert_eq!(
        refusal(limit(1, 1 << 31, 1 << 31)),
        Some(Refusal::LimitTooLarge)
    );
}

#[test]
fn hashes() {
    assert_eq!(xxh64(b"abc", 0), 4952883123889572249);
    assert_eq!(mix32(1), 1364076727);
}
