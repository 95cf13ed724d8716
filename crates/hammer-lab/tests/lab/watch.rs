//! What a client finds out about a log over HTTP: submissions, the follower and the audit of `hammer-tlog`.

use std::{sync::Arc, time::Duration};

use hammer_lab::{Clock as _, CtLabHandle, CtLabPlan, LogConfig, ManualClock, ct::Flavour};
use hammer_tlog::{
    ct::bundle::StaticCtLeaves,
    ct::rfc6962::{GetEntries, GetSthConsistency, GetSthResponse},
    ct::sct::{Sct, SctError},
    keys::key::LogKey,
    logs::audit::{AuditBounds, EntryAudit, Finding, NoSpill, Receipt, TileAudit, Verdict, bundles},
    logs::follow::{Event, Follower, Head, Need, ProofMethod},
    logs::merkle::leaf_hash,
    logs::note::{Verifier, open_checkpoint},
    logs::tile::TileId,
};

use crate::{
    chains::{Mint, body},
    client::{get, post, within},
    ct_log::{signed_entry, submit_many},
    faults::advance_until,
};

/// A client of one log, and what it has found out.
pub(crate) struct Watch {
    pub(crate) lab: CtLabHandle,
    pub(crate) clock: ManualClock,
    /// SCTs that do not verify.
    pub(crate) refused: Vec<(u64, SctError)>,
    pub(crate) events: Vec<Event>,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) follower: Follower,
    key: LogKey,
    mmd_ms: u64,
    audit: Audit,
}

enum Audit {
    Tiles(Box<TileAudit<StaticCtLeaves, NoSpill>>),
    Entries(Box<EntryAudit<NoSpill>>),
}

impl Watch {
    /// Starts the log; its time stands still but for what the watch itself advances.
    pub(crate) async fn start(plan: CtLabPlan, mint: &Mint) -> Self {
        let mmd_ms = u64::try_from(plan.max_merge_delay.duration().as_millis()).unwrap();
        let bounds = AuditBounds::default();
        let (by, audit) = match plan.flavour {
            Flavour::StaticCt => {
                (ProofMethod::Leaves, Audit::Tiles(Box::new(TileAudit::new(bounds, NoSpill))))
            }
            Flavour::Rfc6962 => {
                (ProofMethod::Proofs, Audit::Entries(Box::new(EntryAudit::new(bounds, NoSpill))))
            }
        };
        let clock = ManualClock::at_unix_ms(BEGIN_MS);
        let mut config = LogConfig::from_plan(plan).unwrap();
        config.add_root_der(mint.root.clone());
        let lab = CtLabHandle::start_with_clock(config, Arc::new(clock.clone())).await.unwrap();
        let key = LogKey::from_der(lab.log_key_spki()).unwrap();
        let (refused, events, verdicts, findings) = Default::default();
        let follower = Follower::from_empty(by, bundles::<StaticCtLeaves>());
        Self { lab, clock, refused, events, verdicts, findings, follower, key, mmd_ms, audit }
    }

    /// Submits chains one after another; the audit holds each SCT that verifies.
    pub(crate) async fn submit(
        &mut self,
        mint: &Mint,
        seqs: std::ops::Range<u64>,
    ) -> Vec<(u64, Vec<Vec<u8>>, Sct)> {
        let mut submitted = Vec::new();
        for seq in seqs {
            let precert = seq % 2 == 1;
            let chain = if precert { mint.precert_chain(seq) } else { mint.chain(seq) };
            let sct = self.submit_chain(mint, seq, &chain, false).await;
            submitted.push((seq, chain, sct));
        }
        submitted
    }

    /// Submits many chains at once, whose SCTs must verify.
    pub(crate) async fn submit_at_once(&self, mint: &Mint, seqs: std::ops::Range<u64>) {
        let done = std::cell::Cell::new(false);
        let submitted = async {
            submit_many(&self.lab, mint, seqs).await;
            done.set(true);
        };
        tokio::join!(submitted, advance_until(&self.clock, Duration::from_millis(2), || done.get()));
    }

    pub(crate) async fn submit_chain(
        &mut self,
        mint: &Mint,
        seq: u64,
        chain: &[Vec<u8>],
        again: bool,
    ) -> Sct {
        let precert = seq % 2 == 1;
        let endpoint = if precert { "add-pre-chain" } else { "add-chain" };
        let url = format!("{}/ct/v1/{endpoint}", self.lab.url);
        let body = body(chain);
        let answer = tokio::spawn(async move { post(&url, body).await });
        advance_until(&self.clock, Duration::from_millis(2), || answer.is_finished()).await;
        let answer = answer.await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        let sct = Sct::from_json(&answer.body).unwrap();
        let entry = signed_entry(mint, chain, precert);
        match sct.verify(&self.key, entry.by_ref()) {
            Ok(()) => {
                let leaf = sct.leaf_hash(entry.by_ref()).unwrap();
                let receipt = Receipt::new(seq, leaf, sct.leaf_index().unwrap(), 0, sct.timestamp_ms);
                let receipt = receipt.within(self.mmd_ms);
                self.accept(if again { receipt.duplicate() } else { receipt });
            }
            Err(error) => self.refused.push((seq, error)),
        }
        sct
    }

    /// Advances the log's time until its served checkpoint covers so many entries.
    pub(crate) async fn publish(&self, size: u64) {
        let covers = || self.lab.stats().published_size == size;
        advance_until(&self.clock, Duration::from_millis(2), covers).await;
    }

    /// Waits until the head that is served was signed after so much more of the log's time.
    pub(crate) async fn resigned(&self, later: Duration) {
        let signed_ms = self.clock.unix_ms();
        self.clock.advance(later);
        within(async {
            while self.head().await.timestamp_ms <= signed_ms {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }

    /// Fetches the head, proves it, and audits what it covers.
    pub(crate) async fn poll(&mut self) {
        let head = self.head().await;
        self.follower.head(head);
        while let Some(need) = self.follower.need() {
            match need {
                Need::Tiles(tiles) => {
                    for tile in tiles {
                        match self.tile(tile).await {
                            Some(bytes) => self.follower.tile(tile, &bytes),
                            None => self.follower.missing(tile),
                        }
                    }
                }
                Need::ConsistencyProof { first, second, .. } => {
                    let path = format!("ct/v1/get-sth-consistency?first={first}&second={second}");
                    let proof: GetSthConsistency = self.read(&path).await;
                    self.follower.consistency_proof(first, second, &proof.consistency);
                }
            }
        }
        let events = self.follower.events();
        self.audit(&events).await;
        self.events.extend(events);
    }

    /// Breaks what is overdue now.
    pub(crate) fn overdue(&mut self, now_ms: u64) {
        match &mut self.audit {
            Audit::Tiles(audit) => audit.overdue(now_ms),
            Audit::Entries(audit) => audit.overdue(now_ms),
        }
        self.collect();
    }

    async fn audit(&mut self, events: &[Event]) {
        let lab = &self.lab;
        match &mut self.audit {
            Audit::Tiles(audit) => {
                events.iter().for_each(|event| audit.follow(event));
                loop {
                    let wanted = audit.needs(16, true);
                    for tile in &wanted {
                        match tile_of(lab, *tile).await {
                            Some(bytes) => audit.tile(*tile, &bytes),
                            None => audit.missing(*tile),
                        }
                    }
                    if wanted.is_empty() {
                        break;
                    }
                }
            }
            Audit::Entries(audit) => {
                events.iter().for_each(|event| audit.follow(event));
                while let Some(range) = audit.needs(100) {
                    let path = format!("ct/v1/get-entries?start={}&end={}", range.start, range.end);
                    let entries: GetEntries = get(&format!("{}/{path}", lab.url)).await.json();
                    let leaves = entries.entries.iter().map(|entry| leaf_hash(&entry.leaf_input.0));
                    audit.leaves(range.start, leaves);
                }
            }
        }
        self.collect();
    }

    fn accept(&mut self, receipt: Receipt) {
        match &mut self.audit {
            Audit::Tiles(audit) => audit.accept(receipt),
            Audit::Entries(audit) => audit.accept(receipt),
        }
    }

    fn collect(&mut self) {
        let (verdicts, findings) = match &mut self.audit {
            Audit::Tiles(audit) => (audit.verdicts(), audit.findings()),
            Audit::Entries(audit) => (audit.verdicts(), audit.findings()),
        };
        self.verdicts.extend(verdicts);
        self.findings.extend(findings);
    }

    async fn head(&self) -> Head {
        if matches!(self.audit, Audit::Entries(_)) {
            let head: GetSthResponse = self.read("ct/v1/get-sth").await;
            head.verify(&self.key).unwrap();
            let (size, root, timestamp_ms) = (head.tree_size, head.sha256_root_hash, head.timestamp);
            return Head { size, root, timestamp_ms, fetched_ns: 0, asked_ns: 0, raw: Arc::new([]) };
        }
        let note = get(&format!("{}/checkpoint", self.lab.url)).await.body;
        let verifier = Verifier::rfc6962(self.lab.origin().to_owned(), self.key.clone());
        let (checkpoint, verified) = open_checkpoint(&note, &verifier).unwrap();
        let timestamp_ms = verified.timestamp_ms.unwrap();
        Head {
            size: checkpoint.size,
            root: checkpoint.root,
            timestamp_ms,
            fetched_ns: 0,
            asked_ns: 0,
            raw: note[..].into(),
        }
    }

    async fn read<T: serde::de::DeserializeOwned>(&self, path: &str) -> T {
        get(&format!("{}/{path}", self.lab.url)).await.json()
    }

    async fn tile(&self, tile: TileId) -> Option<Vec<u8>> {
        tile_of(&self.lab, tile).await
    }
}

async fn tile_of(lab: &CtLabHandle, tile: TileId) -> Option<Vec<u8>> {
    let answer = get(&format!("{}/{}", lab.url, tile.path())).await;
    (answer.status == 200).then(|| answer.body.to_vec())
}

/// When the log's time starts.
pub(crate) const BEGIN_MS: u64 = 1_700_000_000_000;
