use super::*;

#[test]
fn the_keys_of_fates_are_their_names() {
    let ends = std::array::from_fn(|index| index as u64 + 1);
    let fates = Fates::new(&ends, -3, 4);
    let json = serde_json::to_value(fates).unwrap();
    for (name, count) in fates.entries() {
        assert_eq!(json[name].as_i64(), Some(count), "{name}");
    }
    assert_eq!(json.as_object().unwrap().len(), fates.entries().count());
    assert_eq!((fates.ended(), fates.failed(), fates.answered()), (55, 54, 15));
}

#[test]
fn what_never_ended_is_longer_than_all_that_did() {
    let (short, long) = (Nanoseconds::At(5), Nanoseconds::At(9));
    let beyond = Nanoseconds::Beyond { beyond_ns: 1 };
    assert_eq!(short.longer(long), long);
    assert_eq!(long.longer(beyond), beyond);
    assert_eq!(beyond.longer(long), beyond);
    assert_eq!(serde_json::to_string(&[long, beyond]).unwrap(), r#"[9,{"beyond_ns":1}]"#);
}
