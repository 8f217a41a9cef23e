use std::time::Duration;

use super::CallLimits;

#[test]
fn pauses_double_up_to_the_longest_and_jitter_by_half() {
    let limits = CallLimits {
        pause: Duration::from_millis(100),
        max_pause: Duration::from_millis(350),
        ..CallLimits::default()
    };
    let whole: Vec<_> = (1..=4).map(|n| limits.pause_before(n, 1.0).as_millis()).collect();
    assert_eq!(whole, [100, 200, 350, 350]);
    assert_eq!(limits.pause_before(1, 0.0).as_millis(), 50);
    assert_eq!(limits.pause_before(usize::MAX, 1.0).as_millis(), 350);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_took_long_is_rest_enough() {
    let limits = CallLimits::default();
    let start = tokio::time::Instant::now();
    limits.rest_before(1, Duration::from_secs(25)).await;
    assert!(start.elapsed() < Duration::from_millis(5));
    limits.rest_before(1, Duration::ZERO).await;
    assert!(start.elapsed() >= limits.pause / 2);
}
