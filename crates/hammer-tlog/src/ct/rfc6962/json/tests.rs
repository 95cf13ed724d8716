//! Answers as other implementations write them.

use super::*;
use crate::ct::sct::Sct;

#[test]
fn go_says_null_for_an_empty_proof() {
    let proof: GetProofByHash = serde_json::from_str(r#"{"leaf_index":0,"audit_path":null}"#).unwrap();
    assert_eq!(proof, GetProofByHash { leaf_index: 0, audit_path: Vec::new() });
    let proof: GetSthConsistency = serde_json::from_str(r#"{"consistency":null}"#).unwrap();
    assert_eq!(proof.consistency, []);
    assert!(serde_json::from_str::<GetSthConsistency>("{}").is_err());
}

#[test]
fn answers_read_back() {
    let path = vec![Hash([1; 32]), Hash([2; 32])];
    let entry =
        GetEntryAndProof { leaf_input: vec![1, 2].into(), extra_data: vec![].into(), audit_path: path };
    let json = serde_json::to_string(&entry).unwrap();
    assert!(json.starts_with(r#"{"leaf_input":"AQI=","extra_data":"","audit_path":["AQEB"#), "{json}");
    assert_eq!(serde_json::from_str::<GetEntryAndProof>(&json).unwrap(), entry);
}

#[test]
fn a_request_is_written_as_serde_writes_it() {
    for chain in [vec![], vec![vec![]], vec![vec![1, 2, 3], vec![4], vec![5, 6]]] {
        let request = AddChainRequest { chain: chain.iter().cloned().map(Base64).collect() };
        let mut out = Vec::new();
        AddChainRequest::write(&mut out, &chain);
        assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&request).unwrap());
    }
}

#[test]
fn a_slash_may_be_escaped() {
    let id = "0RIzN8uL3//FSGOTY0GJ5OUXo5Sszrk5YvPe2KxH1NA=";
    let body = |id: &str| {
        format!(
            r#"{{"sct_version":0,"id":"{id}","timestamp":5,"extensions":"","signature":"AAAA","more":{{}}}}"#
        )
    };
    let plain = Sct::from_json(body(id).as_bytes()).unwrap();
    assert_eq!(Sct::from_json(body(&id.replace('/', "\\/")).as_bytes()).unwrap(), plain);
    assert_eq!(plain.leaf_index().unwrap(), None);
    let borrowed: AddChainResponse<'_> =
        serde_json::from_str(r#"{"sct_version":0,"id":"x","timestamp":5,"extensions":"","signature":""}"#)
            .unwrap();
    assert!(matches!(borrowed.id, Cow::Borrowed("x")));
}
