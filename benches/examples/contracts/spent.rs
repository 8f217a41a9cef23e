//! CPU time of the thread that asks.

use std::fs;
use std::time::Duration;

use serde::Serialize;

/// A round lasts at least so long, so that what the clock is coarse by does not count.
const ROUND: Duration = Duration::from_millis(200);

/// What was spent for one of something: the median of the rounds, the least and the most.
#[derive(Serialize)]
pub(crate) struct Cost {
    median: f64,
    range: [f64; 2],
}

impl Cost {
    /// Of so many rounds' figures, in units of so many nanoseconds.
    pub(crate) fn of(mut rounds: Vec<f64>, unit: f64) -> Self {
        rounds.sort_by(f64::total_cmp);
        let at = |place: usize| {
            rounds.get(place).map_or(f64::NAN, |nanoseconds| (nanoseconds / unit * 1000.0).round() / 1000.0)
        };
        Self { median: at(rounds.len() / 2), range: [at(0), at(rounds.len().saturating_sub(1))] }
    }
}

/// The scheduler's nanoseconds of this thread: see `proc_pid_schedstat(5)`.
pub(crate) fn spent() -> f64 {
    // The scheduler brings its count up to date where the thread gives way.
    std::thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("the kernel counts CPU time");
    let first = text.split_whitespace().next().and_then(|number| number.parse().ok());
    first.expect("the first number is CPU time")
}

/// What one item takes, in units of so many nanoseconds: all are done again and again until a round is over.
pub(crate) fn each<T, R>(items: &[T], rounds: usize, unit: f64, mut work: impl FnMut(&T) -> R) -> Cost {
    let mut pass =
        || items.iter().for_each(|item| drop(std::hint::black_box(work(std::hint::black_box(item)))));
    pass();
    let round = |_| {
        let (begun, mut passes) = (spent(), 0_u32);
        loop {
            pass();
            passes += 1;
            let taken = spent() - begun;
            if taken >= ROUND.as_secs_f64() * 1e9 {
                return taken / f64::from(passes) / items.len() as f64;
            }
        }
    };
    Cost::of((0..rounds).map(round).collect(), unit)
}
