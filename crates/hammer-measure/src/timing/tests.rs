use proptest::prelude::*;

use super::*;
use crate::fixture::{any_nanos, any_parts};

/// All the parts of a response time together.
fn sum_of_parts(timing: &Timing) -> Nanos {
    let client = timing.client_time().unwrap_or(Nanos::ZERO);
    timing.dispatch_lag() + timing.backlog_wait() + timing.connection_wait() + timing.service_time() + client
}

proptest! {
    #[test]
    fn the_parts_add_up_whatever_the_order_of_the_instants(
        [intended, released, started, sent, done] in [any_nanos(), any_nanos(), any_nanos(), any_nanos(), any_nanos()],
    ) {
        let queued = Timing::new(intended, released);
        let running = queued.started(started);
        let ended = running.finished(sent, done);
        for timing in [queued, running, ended] {
            prop_assert_eq!(sum_of_parts(&timing), timing.response_time());
            prop_assert_eq!(timing.intended(), intended, "no later stage replaces the instant of the plan");
            prop_assert_eq!(timing.done(), intended + timing.response_time());
        }
        prop_assert_eq!(ended.done(), intended.max(released).max(started).max(sent).max(done));
    }

    #[test]
    fn each_part_is_as_long_as_it_was(parts in any_parts(), intended in any_nanos()) {
        let timing = parts.timing(intended);
        prop_assert_eq!(timing.dispatch_lag(), parts.lag);
        prop_assert_eq!(timing.backlog_wait(), parts.backlog);
        prop_assert_eq!(timing.connection_wait(), parts.connection);
        prop_assert_eq!(timing.service_time(), parts.service);
        prop_assert_eq!(timing.client_time(), parts.client);
        prop_assert_eq!(timing.response_time(), parts.sum());
        prop_assert_eq!(sum_of_parts(&timing), parts.sum());
        prop_assert_eq!(timing.start(), intended + parts.lag + parts.backlog);
        prop_assert_eq!(timing.done(), intended + parts.sum());
    }

    #[test]
    fn a_printed_span_is_within_half_of_its_last_digit(nanos in 1_000..119_000_000_000u64) {
        let text = Nanos(nanos).to_string();
        let digits = text.trim_end_matches(char::is_alphabetic);
        prop_assert_eq!(digits.chars().filter(char::is_ascii_digit).count(), 3, "{}", text);
        let unit = match &text[digits.len()..] {
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            other => panic!("{other} in {text}"),
        };
        let printed: f64 = digits.parse::<f64>().unwrap() * unit;
        prop_assert!((printed / nanos as f64 - 1.0).abs() < 0.005_001, "{nanos} as {text}");
    }

    #[test]
    fn a_span_survives_as_a_duration_and_as_seconds(nanos in any_nanos()) {
        prop_assert_eq!(Nanos::from(Duration::from(nanos)), nanos);
        let back = Nanos::from_secs_f64(nanos.as_secs_f64());
        prop_assert!(back.0.abs_diff(nanos.0) <= 1, "{} came back as {}", nanos.0, back.0);
        prop_assert!((nanos.as_millis_f64() - nanos.as_secs_f64() * 1e3).abs() <= 1e-9 * nanos.as_millis_f64());
    }
}

#[test]
fn the_parts_of_a_response_time_add_up_to_it() {
    let timing = Timing::new(Nanos(100), Nanos(130)).started(Nanos(150)).finished(Nanos(170), Nanos(400));
    assert_eq!(sum_of_parts(&timing), timing.response_time());
    assert_eq!(timing.response_time(), Nanos(300));
    assert_eq!(timing.intended(), Nanos(100));
}

#[test]
fn an_early_release_is_no_negative_lag() {
    assert_eq!(Timing::new(Nanos(100), Nanos(90)).dispatch_lag(), Nanos::ZERO);
}

#[test]
fn what_was_never_sent_waited_for_its_connection_to_the_end() {
    let timing = Timing::new(Nanos(0), Nanos(5)).started(Nanos(7)).finished(Nanos(20), Nanos(3));
    assert_eq!((timing.connection_wait(), timing.service_time()), (Nanos(13), Nanos::ZERO));
    assert_eq!(timing.done(), Nanos(20), "nothing is done before it is sent");
}

#[test]
fn spans_print_with_three_digits_and_a_unit() {
    for (nanos, text) in [
        (0, "0s"),
        (812, "812ns"),
        (999, "999ns"),
        (1_000, "1.00us"),
        (45_120, "45.1us"),
        (2_310_000, "2.31ms"),
        (1_500_000_000, "1.50s"),
        (119_999_999_999, "120s"),
        (120_000_000_000, "2m00s"),
        (125_999_999_999, "2m05s"),
        (7_199_999_999_999, "119m59s"),
        (7_260_000_000_000, "2h01m"),
    ] {
        assert_eq!(Nanos(nanos).to_string(), text);
    }
    assert_eq!(format!("[{:>8}|{:<8}]", Nanos(812), Nanos(812)), "[   812ns|812ns   ]");
}

#[test]
fn the_client_time_of_a_flow_is_the_sixth_part() {
    let times = FlowTimes { connection: Nanos(7), service: Nanos(40), client: Nanos(13) };
    let timing = Timing::new(Nanos(100), Nanos(130)).started(Nanos(150)).finished_flow(times);
    assert_eq!(timing.client_time(), Some(Nanos(13)));
    assert_eq!(timing.response_time(), Nanos(30 + 20 + 7 + 40 + 13));
    assert_eq!(timing.done(), Nanos(210));
}

#[test]
fn what_rounds_up_to_the_next_digit_or_unit_still_has_three_digits() {
    for (nanos, text) in [
        (9_994, "9.99us"),
        (9_996, "10.0us"),
        (99_940, "99.9us"),
        (99_960, "100us"),
        (999_499, "999us"),
        (999_501, "1.00ms"),
        (999_499_999, "999ms"),
        (999_500_001, "1.00s"),
        (9_996_000_000, "10.0s"),
        (99_960_000_000, "100s"),
    ] {
        assert_eq!(Nanos(nanos).to_string(), text);
    }
}

#[test]
fn seconds_that_are_no_span_are_the_nearest_that_is() {
    assert_eq!(Nanos::from_secs_f64(-1.0), Nanos::ZERO);
    assert_eq!(Nanos::from_secs_f64(f64::NAN), Nanos::ZERO);
    assert_eq!(Nanos::from_secs_f64(f64::INFINITY), Nanos::MAX);
    assert_eq!(Nanos::from_secs_f64(1.5), Nanos::from_millis(1_500));
    assert_eq!(Nanos::from(Duration::MAX), Nanos::MAX);
}

#[test]
fn what_would_leave_the_scale_stops_at_its_end() {
    assert_eq!(Nanos(3).since(Nanos(5)), Nanos::ZERO);
    assert_eq!(Nanos(5).since(Nanos(3)), Nanos(2));
    assert_eq!(Nanos::MAX.saturating_add(Nanos(1)), Nanos::MAX);
    assert_eq!(Nanos(1).saturating_add(Nanos(2)), Nanos(3));
    assert_eq!(Nanos(u64::MAX / 2).saturating_mul(3), Nanos::MAX);
    assert_eq!(Nanos(2).saturating_mul(3), Nanos(6));
    assert_eq!(Nanos::from_millis(2) * 3, Nanos::from_micros(6_000));
    let mut sum = Nanos::from_secs(1);
    sum += Nanos(1);
    assert_eq!(sum - Nanos::from_secs(1), Nanos(1));
}
