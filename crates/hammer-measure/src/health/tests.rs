use super::*;

fn all_of(duration: Nanos) -> Distribution {
    let mut distribution = Distribution::default();
    (0..100).for_each(|_| distribution.record(duration));
    distribution
}

#[test]
fn lateness_is_held_against_the_service_time() {
    let (lag, fast, slow) =
        (all_of(Nanos::from_millis(2)), all_of(Nanos::from_millis(5)), all_of(Nanos::from_millis(100)));
    let judge = |service| {
        Health::judge(&Evidence {
            dispatch_lag: Some(&lag),
            service_time: Some(service),
            ..Evidence::default()
        })
    };
    assert!(!judge(&fast).is_healthy(), "2 ms late of 5 ms");
    assert!(judge(&slow).is_healthy(), "2 ms late of 100 ms");
}

#[test]
fn each_fault_of_our_own_is_a_finding() {
    let evidence =
        Evidence { starved: 3, cpu_share: 0.95, exhausted: Some((2, "descriptors")), ..Evidence::default() };
    let health = Health::judge(&evidence);
    assert_eq!(health.findings.len(), 3);
    assert_eq!(
        health.to_string(),
        "3 operations were due before they were prepared; the generator used 95 % of its cores; 2 operations failed since descriptors ran out"
    );
    assert!(Health::judge(&Evidence::default()).is_healthy());
}

#[test]
fn waiting_for_the_crew_is_held_against_the_service_time_too() {
    let (wait, fast) = (all_of(Nanos::from_millis(2)), all_of(Nanos::from_millis(5)));
    let evidence =
        Evidence { compute_wait: Some(&wait), service_time: Some(&fast), ..Evidence::default() };
    let findings = Health::judge(&evidence).findings;
    assert!(matches!(findings.as_slice(), [Finding::ComputeWait { .. }]), "{findings:?}");
}
