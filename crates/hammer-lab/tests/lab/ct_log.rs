//! The log's story: what is accepted is in the tree, at its index, once.

use std::collections::HashMap;

use hammer_lab::{
    CtLabHandle, CtLabPlan, Lie, LieKind, LogConfig,
    ct::{Flavour, KeptEntries},
};
use hammer_tlog::{
    ct::bundle::Entries,
    ct::log_list,
    ct::precert,
    ct::rfc6962::{
        EntryType, ExtraData, GetEntries, GetEntryAndProof, GetProofByHash, GetSthConsistency,
        GetSthResponse, SignedEntry,
    },
    ct::sct::Sct,
    keys::key::LogKey,
    logs::merkle::{Hash, inclusion_proof, leaf_hash, sha256, verify_consistency, verify_inclusion},
    logs::note::{Checkpoint, Verifier, open_checkpoint},
    logs::tile::{Level, TileId, TileReader},
};
use hammer_values::TimeSpan;

use crate::{
    chains::{Mint, body},
    client::{Answer, Connection, get, post, request, until},
};

pub(crate) fn quick_plan() -> CtLabPlan {
    CtLabPlan {
        batch_max_age: TimeSpan::from_millis(2),
        checkpoint_interval: TimeSpan::from_millis(5),
        ..CtLabPlan::default()
    }
}

pub(crate) async fn start(plan: CtLabPlan, mint: &Mint) -> CtLabHandle {
    let mut config = LogConfig::from_plan(plan).unwrap();
    config.add_root_der(mint.root.clone());
    CtLabHandle::start(config).await.unwrap()
}

pub(crate) fn signed_entry(mint: &Mint, chain: &[Vec<u8>], precert: bool) -> SignedEntry {
    let chain = [chain, std::slice::from_ref(&mint.root)].concat();
    precert::signed_entry(&chain, if precert { EntryType::Precert } else { EntryType::X509 }).unwrap()
}

/// Submits and verifies the SCT, and gives its index and leaf hash.
pub(crate) async fn submit(lab: &CtLabHandle, mint: &Mint, chain: &[Vec<u8>], precert: bool) -> (Sct, Hash) {
    let endpoint = if precert { "add-pre-chain" } else { "add-chain" };
    let answer = post(&format!("{}/ct/v1/{endpoint}", lab.url), body(chain)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let sct = Sct::from_json(&answer.body).unwrap();
    let entry = signed_entry(mint, chain, precert);
    sct.verify(&LogKey::from_der(lab.log_key_spki()).unwrap(), entry.by_ref()).unwrap();
    let leaf_hash = sct.leaf_hash(entry.by_ref()).unwrap();
    (sct, leaf_hash)
}

/// Submits many chains at once over HTTP/2, every third a precertificate.
pub(crate) async fn submit_many(
    lab: &CtLabHandle,
    mint: &Mint,
    seqs: std::ops::Range<u64>,
) -> HashMap<u64, Hash> {
    let submitted = submit_all(lab, mint, seqs).await;
    submitted.into_iter().map(|(sct, leaf)| (sct.leaf_index().unwrap().unwrap(), leaf)).collect()
}

/// The same of a log whose SCTs have no index, too.
async fn submit_all(lab: &CtLabHandle, mint: &Mint, seqs: std::ops::Range<u64>) -> Vec<(Sct, Hash)> {
    let key = LogKey::from_der(lab.log_key_spki()).unwrap();
    let Connection::Http2(sender) = Connection::http2(&lab.url).await else { unreachable!() };
    let mut tasks = tokio::task::JoinSet::new();
    for seq in seqs {
        let precert = seq % 3 == 2;
        let chain = if precert { mint.precert_chain(seq) } else { mint.chain(seq) };
        let endpoint = if precert { "add-pre-chain" } else { "add-chain" };
        let sent = request("POST", &format!("{}/ct/v1/{endpoint}", lab.url), body(&chain));
        let entry = signed_entry(mint, &chain, precert);
        let mut connection = Connection::Http2(sender.clone());
        tasks.spawn(async move { (connection.send(sent).await.unwrap(), entry) });
    }
    let verified = |(answer, entry): (Answer, SignedEntry)| {
        let sct = Sct::from_json(&answer.body).unwrap_or_else(|_| panic!("{}", answer.text()));
        sct.verify(&key, entry.by_ref()).unwrap();
        let leaf = sct.leaf_hash(entry.by_ref()).unwrap();
        (sct, leaf)
    };
    tasks.join_all().await.into_iter().map(verified).collect()
}

pub(crate) async fn checkpoint(lab: &CtLabHandle) -> Checkpoint {
    let note = get(&format!("{}/checkpoint", lab.url)).await;
    assert_eq!(note.header("cache-control"), Some("no-store"));
    let key = LogKey::from_der(lab.log_key_spki()).unwrap();
    open_checkpoint(&note.body, &Verifier::rfc6962(lab.origin().to_owned(), key)).unwrap().0
}

/// All hashes of the tree of this size, read tile by tile.
pub(crate) async fn read_tiles(lab: &CtLabHandle, size: u64) -> HashMap<(u8, u64), Vec<Hash>> {
    let mut tiles = HashMap::new();
    for tile in hammer_tlog::logs::tile::tiles_for(size) {
        let answer = get(&format!("{}/{}", lab.url, tile.path())).await;
        assert_eq!(answer.status, 200, "{tile}");
        let Level::Hashes(level) = tile.level else { unreachable!() };
        tiles.insert((level, tile.index), tile.parse_hashes(&answer.body).unwrap());
    }
    tiles
}

#[tokio::test]
async fn every_accepted_entry_is_proved_through_tiles_and_found_in_its_bundle() {
    let mint = Mint::new();
    let lab = start(quick_plan(), &mint).await;
    let accepted = submit_many(&lab, &mint, 0..600).await;
    assert_eq!(accepted.len(), 600, "indices are distinct");
    let checkpoint = checkpoint(&lab).await;
    assert_eq!(checkpoint.size, 600, "submissions are answered after publication");
    let tiles = read_tiles(&lab, 600).await;
    let reader = TileReader::new(|level, index| tiles.get(&(level, index)).cloned());
    for (index, leaf) in &accepted {
        let proof = inclusion_proof(&reader, *index, 600).unwrap();
        verify_inclusion(*index, 600, leaf, &proof, &checkpoint.root).unwrap();
    }
    let mut index = 0;
    for tile in hammer_tlog::logs::tile::data_tiles_for_growth(0, 600) {
        let bundle = get(&format!("{}/{}", lab.url, tile.path())).await;
        assert_eq!(bundle.header("content-type"), Some("application/octet-stream"));
        for entry in Entries::new(&bundle.body) {
            let entry = entry.unwrap();
            assert_eq!(entry.leaf_index().unwrap(), Some(index));
            assert_eq!(entry.leaf_hash().unwrap(), accepted[&index]);
            assert_eq!(entry.fingerprints.last(), Some(sha256(&mint.root).as_bytes()));
            index += 1;
        }
    }
    assert_eq!(index, 600);
    let issuer = get(&format!("{}/issuer/{}", lab.url, sha256(&mint.root).to_hex())).await;
    assert_eq!(
        (issuer.header("content-type"), issuer.body.to_vec()),
        (Some("application/pkix-cert"), mint.root.clone())
    );
    let stats = lab.stop();
    assert_eq!((stats.accepted, stats.distinct, stats.tree_size, stats.published_size), (600, 600, 600, 600));
    assert_eq!(stats.requests["add-chain"][&200] + stats.requests["add-pre-chain"][&200], 600);
}

#[tokio::test]
async fn rfc6962_reads_prove_the_same_tree() {
    let mint = Mint::new();
    let lab = start(CtLabPlan { flavour: Flavour::Rfc6962, ..quick_plan() }, &mint).await;
    let url = |path: &str| format!("{}/ct/v1/{path}", lab.url);
    let key = LogKey::from_der(lab.log_key_spki()).unwrap();
    let mut heads: Vec<GetSthResponse> = Vec::new();
    let mut accepted = Vec::new();
    for seqs in [0..1, 1..7, 7..300] {
        accepted.extend(submit_all(&lab, &mint, seqs).await.into_iter().map(|(_, leaf)| leaf));
        until(|| lab.stats().published_size == accepted.len() as u64).await;
        let head: GetSthResponse = get(&url("get-sth")).await.json();
        head.verify(&key).unwrap();
        assert_eq!(head.tree_size, accepted.len() as u64);
        heads.push(head);
    }
    for older in &heads {
        let (first, newest) = (older.tree_size, &heads[2]);
        let answer =
            get(&url(&format!("get-sth-consistency?first={first}&second={}", newest.tree_size))).await;
        let proof: GetSthConsistency = answer.json();
        let (old_root, new_root) = (&older.sha256_root_hash, &newest.sha256_root_hash);
        verify_consistency(first, newest.tree_size, old_root, new_root, &proof.consistency).unwrap();
    }
    let (size, root) = (heads[2].tree_size, heads[2].sha256_root_hash);
    let mut logged = HashMap::new();
    for leaf in &accepted {
        let hash: String = form_urlencoded::byte_serialize(leaf.to_base64().as_bytes()).collect();
        let proof: GetProofByHash =
            get(&url(&format!("get-proof-by-hash?hash={hash}&tree_size={size}"))).await.json();
        let index = proof.leaf_index;
        verify_inclusion(index, size, leaf, &proof.audit_path, &root).unwrap();
        assert_eq!(logged.insert(index, *leaf), None, "each has its own place");
        if !index.is_multiple_of(17) {
            continue;
        }
        let answer = get(&url(&format!("get-entry-and-proof?leaf_index={index}&tree_size={size}"))).await;
        let entry: GetEntryAndProof = answer.json();
        assert_eq!(leaf_hash(&entry.leaf_input.0), *leaf);
        verify_inclusion(index, size, leaf, &entry.audit_path, &root).unwrap();
    }
    let entries: GetEntries = get(&url("get-entries?start=250&end=5000")).await.json();
    assert_eq!(entries.entries.len(), 50);
    for (index, entry) in (250..).zip(&entries.entries) {
        assert_eq!(leaf_hash(&entry.leaf_input.0), logged[&index]);
        let precert = entry.leaf_input.0[11] == 1;
        let kind = if precert { EntryType::Precert } else { EntryType::X509 };
        let extra = ExtraData::parse(kind, &entry.extra_data.0).unwrap();
        assert_eq!(extra.chain().last().unwrap(), mint.root);
    }
    lab.shutdown().await;
}

#[tokio::test]
async fn rfc6962_reads_refuse_what_makes_no_sense_in_text() {
    let mint = Mint::new();
    let lab = start(CtLabPlan { flavour: Flavour::Rfc6962, ..quick_plan() }, &mint).await;
    submit(&lab, &mint, &mint.chain(1), false).await;
    until(|| lab.stats().published_size == 1).await;
    let unknown: String = form_urlencoded::byte_serialize(Hash([7; 32]).to_base64().as_bytes()).collect();
    for (path, status) in [
        ("get-sth-consistency?first=2&second=1".to_owned(), 400),
        ("get-sth-consistency?first=1&second=99".to_owned(), 400),
        ("get-sth-consistency?first=x&second=1".to_owned(), 400),
        ("get-proof-by-hash?tree_size=1".to_owned(), 400),
        ("get-proof-by-hash?hash=AAAA&tree_size=1".to_owned(), 400),
        (format!("get-proof-by-hash?hash={unknown}&tree_size=1"), 404),
        ("get-entries?start=1&end=1".to_owned(), 400),
        ("get-entries?start=5&end=1".to_owned(), 400),
        ("get-entries?start=-1&end=1".to_owned(), 400),
        ("get-entry-and-proof?leaf_index=1&tree_size=1".to_owned(), 400),
        ("get-nothing".to_owned(), 404),
    ] {
        let answer = get(&format!("{}/ct/v1/{path}", lab.url)).await;
        assert_eq!(answer.status.as_u16(), status, "{path}: {}", answer.text());
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"), "{path}");
    }
    lab.shutdown().await;
}

#[tokio::test]
async fn a_duplicate_gets_the_same_timestamp_and_index_however_its_chain_ends() {
    let mint = Mint::new();
    let lab = start(quick_plan(), &mint).await;
    let chain = mint.chain(1);
    let (first, _) = submit(&lab, &mint, &chain, false).await;
    submit(&lab, &mint, &mint.chain(2), false).await;
    let with_root = [chain.as_slice(), std::slice::from_ref(&mint.root)].concat();
    for chain in [chain, with_root] {
        let (again, _) = submit(&lab, &mint, &chain, false).await;
        assert_eq!((again.timestamp_ms, again.leaf_index().unwrap()), (first.timestamp_ms, Some(0)));
        assert_ne!(again.signature, first.signature, "each answer is signed anew");
    }
    let stats = lab.stop();
    assert_eq!((stats.accepted, stats.distinct, stats.tree_size), (4, 2, 2));
}

#[tokio::test]
async fn duplicates_of_what_still_waits_share_its_place() {
    let mint = Mint::new();
    let plan = CtLabPlan { batch_max_age: TimeSpan::from_millis(100), ..quick_plan() };
    let lab = start(plan, &mint).await;
    let chain = mint.precert_chain(1);
    let submitted = || submit(&lab, &mint, &chain, true);
    let ((one, _), (two, _), (three, _)) = tokio::join!(submitted(), submitted(), submitted());
    assert_eq!((one.timestamp_ms, one.extensions), (two.timestamp_ms, two.extensions.clone()));
    assert_eq!((two.timestamp_ms, two.extensions), (three.timestamp_ms, three.extensions));
    assert_eq!(lab.stop().tree_size, 1);
}

#[tokio::test]
async fn duplicates_beyond_their_limit_are_pushed_back_with_retry_after() {
    let mint = Mint::new();
    let lab = start(CtLabPlan { rate_limit_dedup: Some(0), ..quick_plan() }, &mint).await;
    let chain = mint.chain(1);
    submit(&lab, &mint, &chain, false).await;
    let answer = post(&format!("{}/ct/v1/add-chain", lab.url), body(&chain)).await;
    assert_eq!(
        (answer.status.as_u16(), answer.text().as_str()),
        (429, "Too Many Requests\nToo Many Requests\n")
    );
    let retry_after: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=5).contains(&retry_after));
    lab.shutdown().await;
}

#[tokio::test]
async fn the_rfc6962_flavour_answers_at_once_without_an_index() {
    let mint = Mint::new();
    let never = TimeSpan::from_secs(3600);
    let plan = CtLabPlan {
        flavour: Flavour::Rfc6962,
        batch_max_age: never,
        checkpoint_interval: never,
        ..quick_plan()
    };
    let lab = start(plan, &mint).await;
    let chain = mint.chain(1);
    let (sct, _) = submit(&lab, &mint, &chain, false).await;
    let (again, _) = submit(&lab, &mint, &chain, false).await;
    assert_eq!(sct.leaf_index().unwrap(), None);
    assert_eq!(again.timestamp_ms, sct.timestamp_ms);
    assert_eq!(lab.stats().tree_size, 0, "nothing is sequenced yet");
    assert_eq!(lab.stop().published_size, 1, "the end of the log publishes what waits");
}

/// What the log answers to altered chains, each at both endpoints.
async fn refusals(lab: &CtLabHandle, altered: &[Vec<Vec<u8>>]) -> Vec<(u16, String)> {
    let mut answers = Vec::new();
    for chain in altered {
        for endpoint in ["add-chain", "add-pre-chain"] {
            let answer = post(&format!("{}/ct/v1/{endpoint}", lab.url), body(chain)).await;
            answers.push((answer.status.as_u16(), answer.text()));
        }
    }
    answers
}

#[tokio::test]
async fn a_chain_is_refused_in_the_same_words_once_its_issuer_is_known() {
    let mint = Mint::new();
    let altered: Vec<_> = [mint.chain(1), mint.precert_chain(2)]
        .into_iter()
        .flat_map(|good| {
            let with_root = [good.as_slice(), std::slice::from_ref(&mint.root)].concat();
            let mut chains = vec![good.clone(), good, with_root.clone(), with_root];
            *chains[0][0].last_mut().unwrap() ^= 1;
            chains[1][0].pop();
            *chains[2][0].last_mut().unwrap() ^= 1;
            chains[3][0][60] ^= 1;
            chains
        })
        .collect();
    for flavour in [Flavour::StaticCt, Flavour::Rfc6962] {
        let lab = start(CtLabPlan { flavour, ..quick_plan() }, &mint).await;
        let at_first = refusals(&lab, &altered).await;
        assert!(at_first.iter().all(|(status, _)| *status == 400), "{at_first:?}");
        for seq in 10..30 {
            let root = if seq % 2 == 0 { &[][..] } else { std::slice::from_ref(&mint.root) };
            let sent = body(&[mint.chain(seq).as_slice(), root].concat());
            let answer = post(&format!("{}/ct/v1/add-chain", lab.url), sent).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        assert_eq!(refusals(&lab, &altered).await, at_first);
        assert_eq!(lab.stop().distinct, 20);
    }
}

#[tokio::test]
async fn without_the_awaiter_the_answer_comes_before_its_checkpoint() {
    let mint = Mint::new();
    let never = TimeSpan::from_secs(3600);
    let plan = CtLabPlan { enable_publication_awaiter: false, checkpoint_interval: never, ..quick_plan() };
    let lab = start(plan, &mint).await;
    let (sct, _) = submit(&lab, &mint, &mint.chain(1), false).await;
    assert_eq!(sct.leaf_index().unwrap(), Some(0));
    assert_eq!(checkpoint(&lab).await.size, 0);
    lab.shutdown().await;
}

#[tokio::test]
async fn a_partial_tile_is_gone_once_its_full_tile_exists() {
    let mint = Mint::new();
    let lab = start(quick_plan(), &mint).await;
    submit_many(&lab, &mint, 0..5).await;
    let partial = |level| format!("{}/{}", lab.url, TileId { level, index: 0, width: 5 });
    for level in [Level::Hashes(0), Level::Data] {
        assert_eq!(get(&partial(level)).await.status, 200);
    }
    submit_many(&lab, &mint, 5..256).await;
    until(|| lab.stats().published_size == 256).await;
    for level in [Level::Hashes(0), Level::Data] {
        assert_eq!(get(&partial(level)).await.status, 404);
        assert_eq!(get(&format!("{}/{}", lab.url, TileId::new(level, 0))).await.status, 200);
    }
    lab.shutdown().await;
}

#[tokio::test]
async fn a_log_that_keeps_its_newest_entries_proves_those_and_says_what_is_gone() {
    let mint = Mint::new();
    let lab = start(CtLabPlan { keep_entries: Some(KeptEntries::LEAST), ..quick_plan() }, &mint).await;
    let mut leaves = HashMap::new();
    for first in (0..3_000).step_by(500) {
        leaves.extend(submit_many(&lab, &mint, first..first + 500).await);
    }
    until(|| lab.stats().published_size == 3_000).await;
    let status = async |path: &str| get(&format!("{}/{path}", lab.url)).await.status;
    for gone in ["tile/data/000", "tile/0/000", "tile/data/006"] {
        assert_eq!(status(gone).await, 410, "{gone}");
    }
    for kept in ["tile/data/008", "tile/0/010", "tile/0/011.p/184", "tile/1/000.p/11"] {
        assert_eq!(status(kept).await, 200, "{kept}");
    }
    assert_eq!(status("tile/data/012").await, 404);
    let bundle = get(&format!("{}/tile/data/008", lab.url)).await.body;
    let entry = Entries::new(&bundle).next().unwrap().unwrap();
    assert_eq!(entry.leaf_hash().unwrap(), leaves[&2048]);
    // What is forgotten altogether is a new entry.
    assert_eq!(submit(&lab, &mint, &mint.chain(0), false).await.0.leaf_index().unwrap(), Some(3_000));
    lab.shutdown().await;
}

#[tokio::test]
async fn a_log_of_rfc6962_that_keeps_its_newest_entries_proves_those_and_says_what_is_gone() {
    let mint = Mint::new();
    let kept = CtLabPlan { keep_entries: Some(KeptEntries::LEAST), ..quick_plan() };
    let lab = start(CtLabPlan { flavour: Flavour::Rfc6962, ..kept }, &mint).await;
    let mut leaves = Vec::new();
    for first in (0..3_000).step_by(500) {
        leaves.extend(submit_all(&lab, &mint, first..first + 500).await.into_iter().map(|(_, leaf)| leaf));
    }
    until(|| lab.stats().published_size == 3_000).await;
    let url = |path: &str| format!("{}/ct/v1/{path}", lab.url);
    let newest: GetSthResponse = get(&url("get-sth")).await.json();
    assert_eq!(get(&url("get-entries?start=0&end=5")).await.status, 410);
    let answer = get(&url("get-entry-and-proof?leaf_index=2500&tree_size=3000")).await;
    let proved: GetEntryAndProof = answer.json();
    let leaf = leaf_hash(&proved.leaf_input.0);
    assert!(leaves.contains(&leaf));
    verify_inclusion(2_500, 3_000, &leaf, &proved.audit_path, &newest.sha256_root_hash).unwrap();
    lab.shutdown().await;
}

#[tokio::test]
async fn a_log_has_the_endpoints_of_its_flavour_alone() {
    let mint = Mint::new();
    let tiles = ["checkpoint", "tile/0/000.p/1", "tile/data/000.p/1"];
    let proofs = ["ct/v1/get-sth", "ct/v1/get-entries?start=0&end=0"];
    for flavour in [Flavour::StaticCt, Flavour::Rfc6962] {
        let lab = start(CtLabPlan { flavour, ..quick_plan() }, &mint).await;
        submit(&lab, &mint, &mint.chain(1), false).await;
        until(|| lab.stats().published_size == 1).await;
        let (has, lacks) = match flavour {
            Flavour::StaticCt => (tiles.as_slice(), proofs.as_slice()),
            Flavour::Rfc6962 => (proofs.as_slice(), tiles.as_slice()),
        };
        for (paths, status) in [(has, 200), (lacks, 404), (&["ct/v1/get-roots"], 200)] {
            for path in paths {
                assert_eq!(get(&format!("{}/{path}", lab.url)).await.status, status, "{path}");
            }
        }
        lab.shutdown().await;
    }
}

#[tokio::test]
async fn what_must_keep_everything_cannot_keep_the_newest_entries_alone() {
    let folder = tempfile::tempdir().unwrap();
    let kept = |plan: CtLabPlan| {
        LogConfig::from_plan(CtLabPlan { keep_entries: Some(KeptEntries::LEAST), ..plan }).unwrap()
    };
    let in_folder = CtLabPlan { storage_dir: Some(folder.path().into()), ..quick_plan() };
    let lying = CtLabPlan { lies: vec![Lie::of(LieKind::LostLeaf)], ..quick_plan() };
    for config in [kept(in_folder), kept(lying)] {
        let error = CtLabHandle::start(config).await.unwrap_err().to_string();
        assert!(error.starts_with("use the plan's keep_entries: "), "{error}");
    }
}

#[tokio::test]
async fn a_full_pool_pushes_back() {
    let mint = Mint::new();
    let never = TimeSpan::from_secs(3600);
    let plan = CtLabPlan {
        flavour: Flavour::Rfc6962,
        batch_max_age: never,
        pushback_max_outstanding: 2,
        ..quick_plan()
    };
    let lab = start(plan, &mint).await;
    submit(&lab, &mint, &mint.chain(1), false).await;
    submit(&lab, &mint, &mint.chain(2), false).await;
    let answer = post(&format!("{}/ct/v1/add-chain", lab.url), body(&mint.chain(3))).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("retry-after")),
        (429, None),
        "ct_server names no time"
    );
    lab.shutdown().await;
}

#[tokio::test]
async fn the_log_describes_itself() {
    let mint = Mint::new();
    let lab = start(quick_plan(), &mint).await;
    let answer = get(&format!("{}/log.v3.json", lab.url)).await;
    let log = log_list::Log::from_json(&answer.body).unwrap();
    assert_eq!(log.log_key().unwrap().spki(), lab.log_key_spki());
    lab.shutdown().await;
}

#[tokio::test]
async fn the_not_after_window_is_inclusive_at_its_start_and_exclusive_at_its_limit() {
    let mint = Mint::new();
    // rcgen's leaves end with the year 4095.
    for (start_at, limit, status) in [
        ("4096-01-01T00:00:00Z", "4097-01-01T00:00:00Z", 200),
        ("4095-01-01T00:00:00Z", "4096-01-01T00:00:00Z", 400),
        ("4096-01-01T00:00:01Z", "4097-01-01T00:00:00Z", 400),
    ] {
        let plan = CtLabPlan {
            not_after_start: Some(start_at.parse().unwrap()),
            not_after_limit: Some(limit.parse().unwrap()),
            ..quick_plan()
        };
        let lab = start(plan, &mint).await;
        let answer = post(&format!("{}/ct/v1/add-chain", lab.url), body(&mint.chain(1))).await;
        assert_eq!(answer.status.as_u16(), status, "{start_at}: {}", answer.text());
        lab.shutdown().await;
    }
}
