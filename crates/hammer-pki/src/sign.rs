//! Signatures: what is to be signed is asked for, signed here, and handed back for the file.

mod entered;
mod flow;
mod session;
mod upload;

use std::fmt;
use std::sync::Arc;

use hammer_core::compose::{Route as _, WeightedMix};
use hammer_core::draw::Draws;
use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::ServiceConfig;
use hammer_measure::Nanos;
use hammer_net::Answer;

use crate::dialect::Dialect;
use crate::documents::Documents;
use crate::inline_document::InlineDocument;
use crate::judge::SignatureJudge;
use crate::signature_kind::SignatureKind;
use crate::signer::Signer;

pub use session::SignSession;

/// What a workload of signatures is made from.
pub struct SignConfig {
    /// What the service speaks.
    pub dialect: Dialect,
    /// The kinds that are asked for, and how often of all.
    pub kinds: Vec<(SignatureKind, u16)>,
    /// Whether CAdES sends the digest alone, where the service takes one.
    pub by_digest: bool,
    /// Whether files are asked for by their URLs, and fetched by a step more, where the service has them.
    pub by_url: bool,
    /// From how many bytes on a document is uploaded in parts, by steps of their own, where it is (Rest PKI alone).
    pub multipart_from: Option<u64>,
    /// Who signs, in turn.
    pub signers: Vec<Arc<Signer>>,
    /// The security context that Rest PKI is told, where it is.
    pub security_context: Option<String>,
    /// What is sent.
    pub documents: Documents,
    /// Who judges what comes back.
    pub judge: SignatureJudge,
    /// The service.
    pub service: ServiceConfig,
    /// Of the draws.
    pub seed: u64,
}

/// Signs documents. Each file that comes back is a promise of its kind, judged beside the load.
pub struct SignWorkload {
    config: SignConfig,
    mix: WeightedMix,
}

/// A signature, and the room for what it is answered with.
#[derive(Default)]
pub struct SignOp {
    seq: u64,
    series: usize,
    document: Option<Arc<InlineDocument>>,
    /// That of the document, once it was sent alone.
    sha256: Option<[u8; 32]>,
    signature: Vec<u8>,
    body: Vec<u8>,
    answer: Answer,
}

impl SignWorkload {
    /// The workload of that configuration.
    pub fn new(config: SignConfig) -> Self {
        let weights: Vec<u16> = config.kinds.iter().map(|(_, weight)| *weight).collect();
        let mix = WeightedMix::new(&weights, Draws::new(config.seed, KINDS));
        Self { config, mix }
    }

    fn kind(&self, series: usize) -> SignatureKind {
        self.config.kinds[series].0
    }

    /// Which signer an operation is of.
    fn signer(&self, seq: u64) -> usize {
        (seq % self.config.signers.len() as u64) as usize
    }

    /// How many kinds there are, each a series.
    pub(crate) fn kinds(&self) -> usize {
        self.config.kinds.len()
    }

    fn by_digest(&self, kind: SignatureKind) -> bool {
        self.config.by_digest && !kind.is_pdf()
    }

    /// The place of the step among the series: the start, or the end.
    fn step(&self, is_end: bool) -> usize {
        self.config.kinds.len() + usize::from(is_end)
    }

    /// The place of the step by which files are fetched.
    fn fetch_step(&self) -> usize {
        self.config.kinds.len() + STEPS.len()
    }

    /// The place of a step of uploads.
    fn upload_step(&self, step: UploadStep) -> usize {
        self.fetch_step() + usize::from(self.config.by_url) + step as usize
    }

    fn is_uploaded(&self, length: u64) -> bool {
        self.config.multipart_from.is_some_and(|from| length >= from)
    }
}

impl Workload for SignWorkload {
    type Op = Box<SignOp>;
    type Session = SignSession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let operations = self.config.kinds.iter().map(|(kind, _)| SeriesSpec::new(kind.name(), true));
        let uploads = self.is_uploaded(self.config.documents.longest()).then_some(UPLOAD_STEPS);
        let fetch = self.config.by_url.then_some(FETCH);
        let steps = STEPS.into_iter().chain(fetch).chain(uploads.into_iter().flatten());
        operations.chain(steps.map(|step| SeriesSpec::new(step, false))).collect()
    }

    fn series_of(&self, seq: u64) -> usize {
        self.mix.of(seq).0
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Box<SignOp>>) -> Box<SignOp> {
        let mut op = reuse.unwrap_or_default();
        (op.seq, op.series, op.sha256) = (seq, self.mix.of(seq).0, None);
        op.document = Some(Arc::new(InlineDocument::new(self.config.documents.document(seq))));
        op
    }

    async fn open(&self, context: ShardContext) -> Result<SignSession, FatalError> {
        let client = self.config.service.open(&context).await?;
        Ok(SignSession::new(&self.config, client, &context)?)
    }

    async fn execute(
        &self,
        session: &SignSession,
        (): &(),
        op: &mut Box<SignOp>,
        record: &OperationRecord,
    ) -> Ended {
        record.is_of("document", || op.seq);
        let ended = self.flow(session, op, record).await;
        // They hold on to the buffer that the connection read them into.
        op.answer.headers.clear();
        ended.unwrap_or_else(|ended| ended)
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &SignatureKind::NAMES
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(self.config.judge.verifier())
    }
}

impl fmt::Debug for SignWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignWorkload").field("dialect", &self.config.dialect).finish_non_exhaustive()
    }
}

/// When a request left, or now.
fn left(answer: &Answer, now: Nanos) -> Nanos {
    answer.wire.sent.unwrap_or(now)
}

/// The steps of a signature.
const STEPS: [&str; 2] = ["start", "finish"];
/// The steps of an upload, in the order of their names.
#[derive(Clone, Copy, Debug)]
enum UploadStep {
    Begin,
    Part,
    End,
}

const UPLOAD_STEPS: [&str; 3] = ["upload-begin", "upload-part", "upload-end"];
/// One more where files are fetched.
const FETCH: &str = "fetch";
const KINDS: u64 = 0x504b_4b69;
