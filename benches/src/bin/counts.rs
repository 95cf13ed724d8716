//! What `scripts/counts.sh` counts the instructions of. Without arguments it prints the names of all bodies, each with the
//! elements that it is to be run with; with a name and a number it runs that body over so many elements.

#![expect(clippy::print_stdout, reason = "the names are for the script")]

use std::hint::black_box;

use hammer_benches::{encode, record, schedule};
use hammer_measure::Recorder;

type Body = fn(u64);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => BODIES.iter().for_each(|(name, elements, _)| println!("{name} {elements}")),
        [name, elements] => {
            let (_, _, body) = BODIES.iter().find(|(known, ..)| *known == name).expect("a known name");
            body(elements.parse().expect("a number of elements"));
        }
        _ => panic!("expected nothing, or a name and a number"),
    }
}

fn name_arrivals(profile: &str, spacing: &str, arrivals: u64) {
    assert!(arrivals <= schedule::MOST_ARRIVALS, "the trace ends there");
    let (_, profile) =
        schedule::profiles().into_iter().find(|(name, _)| *name == profile).expect("a known profile");
    let [even, poisson] = schedule::spacings(&profile, arrivals).map(|(_, schedule)| schedule);
    black_box(schedule::name(if spacing == "even" { &even } else { &poisson }));
}

fn record_operations(operations: u64) {
    let mut recorder = Recorder::new(1);
    record::record(&mut recorder, operations);
    black_box(recorder);
}

fn encode_bodies(bodies: u64) {
    let (chain, mut body) = (encode::chain(), Vec::new());
    for _ in 0..bodies {
        encode::write(&chain, &mut body);
        black_box(&mut body);
    }
}

/// Half of what each is run with is what is counted, so that its set-up is not.
const BODIES: [(&str, u64, Body); 8] = [
    ("schedule/constant/even", 10_000, |arrivals| name_arrivals("constant", "even", arrivals)),
    ("schedule/ramp/even", 10_000, |arrivals| name_arrivals("ramp", "even", arrivals)),
    ("schedule/steps/even", 10_000, |arrivals| name_arrivals("steps", "even", arrivals)),
    ("schedule/burst/even", 10_000, |arrivals| name_arrivals("burst", "even", arrivals)),
    ("schedule/trace/even", 10_000, |arrivals| name_arrivals("trace", "even", arrivals)),
    ("schedule/constant/poisson", 10_000, |arrivals| name_arrivals("constant", "poisson", arrivals)),
    ("record/operation", 10_000, record_operations),
    ("encode/add_chain_body", 1_000, encode_bodies),
];
