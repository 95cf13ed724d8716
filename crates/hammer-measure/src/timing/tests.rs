use super::*;

#[test]
fn the_parts_of_a_response_time_add_up_to_it() {
    let timing = Timing::new(Nanos(100), Nanos(130)).started(Nanos(150)).finished(Nanos(170), Nanos(400));
    let parts =
        timing.dispatch_lag() + timing.backlog_wait() + timing.connection_wait() + timing.service_time();
    assert_eq!(parts, timing.response_time());
    assert_eq!(timing.response_time(), Nanos(300));
    assert_eq!(timing.intended(), Nanos(100));
}

#[test]
fn an_early_release_is_no_negative_lag() {
    assert_eq!(Timing::new(Nanos(100), Nanos(90)).dispatch_lag(), Nanos::ZERO);
}

#[test]
fn spans_print_with_three_digits_and_a_unit() {
    for (nanos, text) in [
        (0, "0s"),
        (812, "812ns"),
        (45_120, "45.1us"),
        (2_310_000, "2.31ms"),
        (1_500_000_000, "1.50s"),
        (125_000_000_000, "2m05s"),
        (7_260_000_000_000, "2h01m"),
    ] {
        assert_eq!(Nanos(nanos).to_string(), text);
    }
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
