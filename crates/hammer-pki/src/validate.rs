//! Validation of signed files: what the service says of each has to be what is true of it.

mod alteration;
mod given;
mod judge;
mod session;
mod signed_file;

use std::fmt;

use hammer_core::draw::Draws;
use hammer_core::promise::Verifier;
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::ServiceConfig;
use hammer_net::Answer;

use crate::dialect::Dialect;
use crate::json_request::{none, post, send};
use crate::sign::SignWorkload;
use crate::{dss, rest_pki};
use judge::{Truth, VerdictRecord, VerdictVerifier};

pub use alteration::UnalterableFile;
pub use given::GivenFiles;
pub use session::ValidateSession;
pub use signed_file::SignedFile;

/// What a workload of validations is made from.
#[derive(Debug)]
pub struct ValidateConfig {
    /// What the service speaks.
    pub dialect: Dialect,
    /// What is shown to it.
    pub files: ValidatedFiles,
    /// Of how many of 1 valid files an altered twin is shown.
    pub altered: f64,
    /// The security context that Rest PKI is told, where it is.
    pub security_context: Option<String>,
    /// The service.
    pub service: ServiceConfig,
    /// Of the draws.
    pub seed: u64,
}

/// The files that are validated.
#[derive(Debug)]
pub enum ValidatedFiles {
    /// Given ones, in turn.
    Given(GivenFiles),
    /// Those that each user has signed by the service as it enters: one of each kind of that workload.
    Signed(Box<SignWorkload>),
}

/// Has files validated. Each verdict is a promise, judged beside the load.
pub struct ValidateWorkload {
    config: ValidateConfig,
    draws: Draws,
    alterations: Draws,
}

/// A validation, and the room for what it is answered with.
#[derive(Default)]
pub struct ValidateOp {
    seq: u64,
    answer: Answer,
}

/// What a user keeps: what it had signed as it entered, in the order of the kinds.
#[derive(Debug, Default)]
pub struct ValidateUser(Vec<SignedFile>);

/// A file that is shown, what it is, and what it is called.
type Shown<'a> = (&'a SignedFile, Truth, &'a str);

impl ValidateWorkload {
    /// The workload of that configuration.
    pub fn new(config: ValidateConfig) -> Self {
        let (draws, alterations) = (Draws::new(config.seed, ALTERED), Draws::new(config.seed, ALTERATIONS));
        Self { config, draws, alterations }
    }

    async fn validated(
        &self,
        session: &ValidateSession,
        (file, truth, name): Shown<'_>,
        op: &mut ValidateOp,
        record: &OperationRecord,
    ) -> Result<Ended, Ended> {
        let is_altered = truth == Truth::Valid && self.draws.unit(op.seq) < self.config.altered;
        let alteration = is_altered.then(|| file.alteration(self.alterations.bits(op.seq))).flatten();
        let (path, body) = session.request(file.form(), file.base64(alteration));
        let mut step = record.exchange();
        send(session.client(), &mut step, &post(path, body), &mut op.answer).await?;
        let verdict = match self.config.dialect {
            Dialect::RestPki => rest_pki::verdict(&op.answer.body),
            Dialect::Dss => dss::verdict(&op.answer.body),
        };
        let verdict = verdict.map_err(|why| none(session.client(), &mut step, &why))?;
        let twin = alteration.map(|altered| {
            let of = if altered.is_of_signature { "the signature" } else { "what is signed" };
            format!("{name} with another byte {} (of {of})", altered.at)
        });
        let told = VerdictRecord {
            truth: if alteration.is_some() { Truth::Altered } else { truth },
            verdict: &verdict,
            shown: twin.as_deref().unwrap_or(name),
            answer: &op.answer.body,
        };
        let mut promised = session.promised.borrow_mut();
        told.write(&mut promised);
        record.promise(told.truth.into(), &promised);
        promised.shrink_to(KEPT_RECORD);
        Ok(Ended::accepted(200))
    }
}

impl Workload for ValidateWorkload {
    type Op = Box<ValidateOp>;
    type Session = ValidateSession;
    type User = ValidateUser;
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        match &self.config.files {
            ValidatedFiles::Given(files) => {
                files.forms().iter().map(|form| SeriesSpec::new(form.name(), true)).collect()
            }
            // The steps are those by which users enter.
            ValidatedFiles::Signed(signs) => signs.series(),
        }
    }

    fn series_of(&self, seq: u64) -> usize {
        match &self.config.files {
            ValidatedFiles::Given(files) => files.series_of(seq),
            ValidatedFiles::Signed(signs) => signs.series_of(seq),
        }
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Box<ValidateOp>>) -> Box<ValidateOp> {
        let mut op = reuse.unwrap_or_default();
        op.seq = seq;
        op
    }

    async fn open(&self, context: ShardContext) -> Result<ValidateSession, FatalError> {
        ValidateSession::open(&self.config, context).await
    }

    async fn enter(
        &self,
        session: &ValidateSession,
        user: u64,
        record: &OperationRecord,
    ) -> Result<ValidateUser, Ended> {
        let (ValidatedFiles::Signed(signs), Some(signing)) = (&self.config.files, session.signing()) else {
            return Ok(ValidateUser::default());
        };
        let mut files = Vec::new();
        for series in 0..signs.kinds() {
            let number = user.wrapping_mul(signs.kinds() as u64) + series as u64;
            let file = signs.entered(signing, (number, series), record).await?;
            // What holds is of either form.
            let file = SignedFile::new(file).map_err(|_| UNREADABLE)?;
            let file = match self.config.altered > 0.0 {
                true => file.alterable().map_err(|_| UNALTERABLE)?,
                false => file,
            };
            files.push(file);
        }
        Ok(ValidateUser(files))
    }

    async fn execute(
        &self,
        session: &ValidateSession,
        user: &ValidateUser,
        op: &mut Box<ValidateOp>,
        record: &OperationRecord,
    ) -> Ended {
        record.is_of("file", || match &self.config.files {
            ValidatedFiles::Given(files) => files.place_of(op.seq) as u64,
            ValidatedFiles::Signed(signs) => signs.series_of(op.seq) as u64,
        });
        let shown = match &self.config.files {
            ValidatedFiles::Given(files) => files.shown(op.seq),
            ValidatedFiles::Signed(signs) => {
                let file = user.0.get(signs.series_of(op.seq));
                file.map(|file| (file, Truth::Valid, "what the service signed"))
            }
        };
        let Some(shown) = shown else { return UNREADABLE };
        let ended = self.validated(session, shown, op, record).await;
        // They hold on to the buffer that the connection read them into.
        op.answer.headers.clear();
        ended.unwrap_or_else(|ended| ended)
    }

    fn promise_kinds(&self) -> &[&'static str] {
        &Truth::NAMES
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        Some(Box::new(VerdictVerifier))
    }
}

impl fmt::Debug for ValidateWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValidateWorkload").field("dialect", &self.config.dialect).finish_non_exhaustive()
    }
}

const ALTERED: u64 = 0x504b_4161;
const ALTERATIONS: u64 = 0x504b_4162;
const UNREADABLE: Ended = Ended::failed(hammer_measure::Outcome::Malformed, "signed file of another form");
const UNALTERABLE: Ended =
    Ended::failed(hammer_measure::Outcome::Malformed, "signed file that cannot be altered");
/// Answers with their reports are of some tens of KiB.
const KEPT_RECORD: usize = 256 << 10;
