use proptest::prelude::*;

use super::*;
use crate::people::keys::millis;

const NOW: i64 = 1_800_000_000_000;

fn rate(burst: u32, seconds: u64) -> Rate {
    Rate { burst, every: Duration::from_secs(seconds) }
}

fn keys() -> Keys {
    Keys::new(&[1; 32])
}

fn stranger<'a>(name: &'a str, source: &str) -> Trier<'a> {
    Trier::Stranger { name, source: Source(source.parse().unwrap()) }
}

#[test]
fn a_count_runs_out_with_time() {
    let buckets = Buckets::new(rate(3, 10), 8);
    let key = Key::from("k");
    let taken = |now| buckets.take(&key, now).is_ok();
    assert_eq!([NOW; 4].map(taken), [true, true, true, false]);
    assert_eq!(buckets.take(&key, NOW + 4_000), Err(Wait(Duration::from_secs(6))));
    assert!(!taken(NOW + 9_999) && taken(NOW + 10_000) && !taken(NOW + 10_000));
    buckets.give_back(&key, NOW + 10_000);
    assert!(taken(NOW + 10_000) && !taken(NOW + 10_000));
    assert!(buckets.is_counting(&key, NOW + 39_999) && !buckets.is_counting(&key, NOW + 40_000));
}

#[test]
fn a_clock_that_is_set_back_holds_up_nobody_for_long() {
    let buckets = Buckets::new(rate(2, 10), 8);
    let key = Key::from("k");
    for _ in 0..2 {
        buckets.take(&key, NOW).unwrap();
    }
    let back = NOW - 86_400_000;
    assert_eq!(buckets.take(&key, back), Err(Wait(Duration::from_secs(10))));
    assert!(buckets.take(&key, back + 30_000).is_ok());
}

#[test]
fn memory_is_bounded_and_those_that_tried_most_are_kept() {
    let tries = Tries { counted: 64, ..Tries::default() };
    let (throttle, keys) = (Throttle::new(&tries), keys());
    for _ in 0..5 {
        assert!(throttle.count(stranger("maya", "203.0.113.9"), &keys, NOW).is_ok());
    }
    for index in 0..5_000_u32 {
        let source = format!("10.{}.{}.1", index / 256, index % 256);
        let _ = throttle.count(stranger(&format!("n{index}"), &source), &keys, NOW);
        let _ = throttle.count(Trier::Device(&index.to_string()), &keys, NOW);
    }
    let counting = throttle.counting();
    assert!(counting.iter().all(|count| *count <= 64), "{counting:?}");
    assert!(throttle.count(stranger("maya", "203.0.113.9"), &keys, NOW).is_err());
}

#[test]
fn what_has_run_out_makes_room() {
    let buckets = Buckets::new(rate(1, 10), 4);
    for index in 0..4 {
        buckets.take(&Key::from(index.to_string()), NOW).unwrap();
    }
    buckets.take(&Key::from("next"), NOW + 10_000).unwrap();
    assert_eq!(buckets.len(), 1);
}

#[test]
fn a_subscriber_is_one_source() {
    let one = |text: &str| Source(text.parse().unwrap()).counted();
    assert_eq!(one("2001:db8:1:200::1"), one("2001:db8:1:2ff:ffff::9"));
    assert_ne!(one("2001:db8:1:200::1"), one("2001:db8:1:300::1"));
    // A program on this computer has as many addresses as it likes.
    assert_eq!(one("127.0.0.1"), one("127.9.8.7"));
    assert_eq!(one("127.0.0.1"), one("::1"));
    assert_eq!(one("127.0.0.1"), one("::ffff:127.1.2.3"));
    assert_eq!(one("192.0.2.1"), one("::ffff:192.0.2.1"));
    assert_ne!(one("192.0.2.1"), one("192.0.2.2"));
}

#[test]
fn a_try_that_is_refused_is_counted_nowhere() {
    let tries = Tries { name_and_source: rate(2, 60), source: rate(3, 60), ..Tries::default() };
    let (throttle, keys) = (Throttle::new(&tries), keys());
    for _ in 0..2 {
        throttle.count(stranger("maya", "192.0.2.1"), &keys, NOW).unwrap();
    }
    for _ in 0..10 {
        assert!(throttle.count(stranger("maya", "192.0.2.1"), &keys, NOW).is_err());
    }
    let last = throttle.count(stranger("bob", "192.0.2.1"), &keys, NOW).unwrap();
    assert!(throttle.count(stranger("bob", "192.0.2.1"), &keys, NOW).is_err());
    throttle.uncount(last, NOW);
    assert!(throttle.count(stranger("alice", "192.0.2.1"), &keys, NOW).is_ok());
}

proptest! {
    /// No window of time lets through more than the burst and what the time gives.
    #[test]
    fn a_rate_holds(burst in 1_u32..6, every in 1_u64..20, steps in prop::collection::vec(0_i64..30_000, 1..80)) {
        let buckets = Buckets::new(rate(burst, every), 4);
        let key = Key::from("k");
        let (mut now, mut taken) = (NOW, Vec::new());
        for step in steps {
            now += step;
            if buckets.take(&key, now).is_ok() {
                taken.push(now);
            }
        }
        for (index, from) in taken.iter().enumerate() {
            for (count, to) in taken[index..].iter().enumerate() {
                let given = i64::from(burst) + (to - from) / millis(Duration::from_secs(every));
                prop_assert!(i64::try_from(count + 1).unwrap() <= given);
            }
        }
    }
}
