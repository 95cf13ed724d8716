use proptest::prelude::*;

use super::*;

fn all_of(duration: Nanos) -> Distribution {
    of([(duration, 100)])
}

fn of<const N: usize>(durations: [(Nanos, u64); N]) -> Distribution {
    let mut distribution = Distribution::default();
    for (duration, count) in durations {
        (0..count).for_each(|_| distribution.record(duration));
    }
    distribution
}

fn of_lateness(lag: &Distribution, service: Option<&Distribution>) -> Health {
    Health::judge(&HealthEvidence {
        dispatch_lag: Some(lag),
        service_time: service,
        ..HealthEvidence::default()
    })
}

#[test]
fn lateness_is_held_against_the_service_time() {
    let (lag, fast, slow) =
        (all_of(Nanos::from_millis(2)), all_of(Nanos::from_millis(5)), all_of(Nanos::from_millis(100)));
    assert!(!of_lateness(&lag, Some(&fast)).is_healthy(), "2 ms late of 5 ms");
    assert!(of_lateness(&lag, Some(&slow)).is_healthy(), "2 ms late of 100 ms");
}

#[test]
fn a_lag_is_late_from_its_bound_on_and_not_before() {
    let late = |lag: Nanos, service: Option<Nanos>| {
        let (lag, service) = (all_of(lag), service.map(all_of));
        let computed = HealthEvidence {
            compute_wait: Some(&lag),
            service_time: service.as_ref(),
            ..HealthEvidence::default()
        };
        let late = !of_lateness(&lag, service.as_ref()).is_healthy();
        assert_eq!(
            late,
            !Health::judge(&computed).is_healthy(),
            "waiting to compute is held to the same bound"
        );
        late
    };
    let (fast, slow) = (Nanos::from_millis(20), Nanos::from_secs(1));
    for (service, bound) in [
        (None, Nanos::from_millis(1)),
        (Some(Nanos::ZERO), Nanos::from_millis(1)),
        (Some(fast), Nanos::from_millis(1)),
        (Some(slow), Nanos::from_millis(50)),
    ] {
        assert!(!late(Nanos(bound.0 / 1_000 * 998), service), "{bound} of {service:?}");
        assert!(late(Nanos(bound.0 / 1_000 * 1_002), service), "{bound} of {service:?}");
    }
}

#[test]
fn one_late_arrival_in_a_hundred_is_not_the_99th_percentile() {
    let (early, late) = (Nanos::from_micros(50), Nanos::from_secs(1));
    assert!(of_lateness(&of([(early, 99), (late, 1)]), None).is_healthy());
    let health = of_lateness(&of([(early, 98), (late, 2)]), None);
    let [Finding::DispatchLag { p99, bound }] = health.findings[..] else { panic!("{health}") };
    assert!((p99.as_secs_f64() - 1.0).abs() < 0.001, "{p99}");
    assert_eq!(bound, Nanos::from_millis(1));
}

#[test]
fn one_answer_of_few_that_was_read_late_spoils_no_figure_and_two_do() {
    let read = |late: u64, early: u64| {
        let lag = of([(Nanos::from_micros(5), early), (Nanos::from_millis(30), late)]);
        Health::judge(&HealthEvidence { read_lag: Some(&lag), ..HealthEvidence::default() }).is_healthy()
    };
    for early in [0, 1, 5, 98] {
        assert!(read(1, early), "1 of {}", early + 1);
        assert!(!read(2, early), "2 of {}", early + 2);
    }
    let lag = of([(Nanos::from_millis(30), 1), (Nanos::from_micros(5), 4)]);
    assert!(!of_lateness(&lag, None).is_healthy(), "what was released late is late in response time as well");
}

#[test]
fn the_bound_follows_the_median_and_not_the_mean() {
    let service = of([(Nanos::from_millis(10), 51), (Nanos::from_secs(60), 49)]);
    assert!(!of_lateness(&all_of(Nanos::from_millis(2)), Some(&service)).is_healthy());
    let service = of([(Nanos::from_millis(10), 49), (Nanos::from_secs(60), 51)]);
    assert!(
        of_lateness(&all_of(Nanos::from_secs(2)), Some(&service)).is_healthy(),
        "5 % of a minute are 3 s"
    );
}

#[test]
fn without_a_release_nothing_was_late() {
    assert!(Health::judge(&HealthEvidence::default()).is_healthy());
    assert!(of_lateness(&Distribution::default(), None).is_healthy());
}

#[test]
fn each_other_bound_is_held_at_its_edge() {
    let findings = |evidence: HealthEvidence<'_>| Health::judge(&evidence).findings;
    assert_eq!(
        findings(HealthEvidence { starved: 1, ..HealthEvidence::default() }),
        [Finding::Starved { count: 1 }]
    );
    assert_eq!(findings(HealthEvidence { cpu_share: 0.9, ..HealthEvidence::default() }), []);
    assert_eq!(findings(HealthEvidence { cpu_share: f64::NAN, ..HealthEvidence::default() }), []);
    assert_eq!(
        findings(HealthEvidence { cpu_share: 0.900_001, ..HealthEvidence::default() }),
        [Finding::Cpu { share: 0.900_001 }]
    );
    assert_eq!(
        findings(HealthEvidence { exhausted: Some((0, "descriptors")), ..HealthEvidence::default() }),
        []
    );
    assert_eq!(
        findings(HealthEvidence { exhausted: Some((1, "local ports")), ..HealthEvidence::default() }),
        [Finding::Exhausted { count: 1, what: "local ports".to_owned() }]
    );
}

#[test]
fn each_fault_of_our_own_is_a_finding() {
    let lag = all_of(Nanos::from_millis(4));
    let evidence = HealthEvidence {
        starved: 3,
        dispatch_lag: Some(&lag),
        cpu_share: 0.95,
        exhausted: Some((2, "descriptors")),
        ..HealthEvidence::default()
    };
    let health = Health::judge(&evidence);
    assert_eq!(health.findings.len(), 4);
    assert_eq!(
        health.to_string(),
        "3 operations were due before they were prepared; dispatch lag p99 is 4.00ms, over its bound of 1.00ms; \
         the generator used 95 % of its cores; 2 operations failed since descriptors ran out"
    );
    let sound = Health::judge(&HealthEvidence::default());
    assert_eq!((sound.is_healthy(), sound.to_string().as_str()), (true, "ok"));
}

proptest! {
    #[test]
    fn what_is_found_is_beyond_its_own_bound(lag in 0..10_000_000u64, service in 0..1_000_000_000u64) {
        let (lags, services) = (all_of(Nanos(lag)), all_of(Nanos(service)));
        let health = of_lateness(&lags, Some(&services));
        let exact = (service / 20).max(1_000_000);
        let doubt = exact / 500;
        match health.findings[..] {
            [Finding::DispatchLag { p99, bound }] => {
                prop_assert!(p99 > bound && bound >= Nanos::from_millis(1));
                prop_assert!(lag + doubt >= exact, "{lag} ns are not late of {service}");
            }
            _ => prop_assert!(lag <= exact + doubt, "{lag} ns are late of {service}"),
        }
    }
}

#[test]
fn reading_answers_late_is_held_against_the_service_time_too() {
    let (lag, fast) = (all_of(Nanos::from_millis(2)), all_of(Nanos::from_millis(5)));
    let evidence =
        HealthEvidence { read_lag: Some(&lag), service_time: Some(&fast), ..HealthEvidence::default() };
    let health = Health::judge(&evidence);
    assert_eq!(health.to_string(), "read lag p99 is 2.00ms, over its bound of 1.00ms");
    let slow = all_of(Nanos::from_millis(100));
    assert!(Health::judge(&HealthEvidence { service_time: Some(&slow), ..evidence }).is_healthy());
}

#[test]
fn what_an_answer_may_lie_unread_by_plan_is_no_lateness() {
    let (ten, fast) = (Nanos::from_millis(10), all_of(Nanos::from_millis(1)));
    let found = |lag| {
        let lag = all_of(lag);
        let evidence = HealthEvidence {
            dispatch_lag: None,
            read_lag: Some(&lag),
            unread_at_most: ten,
            service_time: Some(&fast),
            ..HealthEvidence::default()
        };
        Health::judge(&evidence).to_string()
    };
    assert_eq!(found(ten), "ok");
    assert_eq!(found(Nanos::from_millis(12)), "read lag p99 is 12.0ms, over its bound of 11.0ms");
}

#[test]
fn waiting_for_the_crew_is_held_against_the_service_time_too() {
    let (wait, fast) = (all_of(Nanos::from_millis(2)), all_of(Nanos::from_millis(5)));
    let evidence =
        HealthEvidence { compute_wait: Some(&wait), service_time: Some(&fast), ..HealthEvidence::default() };
    let findings = Health::judge(&evidence).findings;
    assert!(matches!(findings.as_slice(), [Finding::ComputeWait { .. }]), "{findings:?}");
}
