//! Submissions that are wrong on purpose.

use std::collections::BTreeMap;

use hammer_synth::{ChainMinter, Kind, MintScratch, MinterSpec, Shape, Validity};

use super::chains::Chains;
use super::class::Invalid;
use super::op::SubmitOp;
use crate::error::CtError;
use crate::plan::{InvalidKind, Policy, SubmitPlan, expired_at};
use crate::run::CtRun;

/// The kinds by weight, and what mints them.
#[derive(Debug)]
pub(super) struct InvalidChains {
    kinds: Vec<Weighted>,
    minters: BTreeMap<InvalidKind, ChainMinter>,
    most_bytes: usize,
}

#[derive(Debug)]
struct Weighted {
    /// The sum of the weights up to here, this one included.
    up_to: u64,
    invalid: Invalid,
}

impl InvalidChains {
    /// None where the plan wants none of them.
    pub(super) fn new(
        plan: &SubmitPlan,
        run: &CtRun,
        chains: &Chains,
        policy: &Policy<'_>,
    ) -> Result<Option<Self>, CtError> {
        let epoch = run.epoch_unix_ms / 1000;
        if !plan.invalid_percent.is_any() {
            return Ok(None);
        }
        let (mut kinds, mut minters, mut up_to) = (Vec::new(), BTreeMap::new(), 0);
        for (kind, weight) in plan.invalid_kinds() {
            up_to += u64::from(weight);
            kinds.push(Weighted { up_to, invalid: Invalid { kind, refuse: policy.refuses(kind, epoch) } });
            if let Some(minter) = minter(kind, plan, run, chains, policy)? {
                minters.insert(kind, minter);
            }
        }
        Ok(Some(Self { kinds, minters, most_bytes: policy.most_bytes() }))
    }

    pub(super) fn draw(&self, bits: u64) -> Invalid {
        let total = self.kinds.last().map_or(1, |last| last.up_to);
        let weight = bits % total;
        self.kinds[self.kinds.partition_point(|kind| kind.up_to <= weight)].invalid
    }

    /// Whether there are kinds that no log may accept, and kinds about which its policy decides.
    pub(super) fn classes(&self) -> (bool, bool) {
        let mut always = self.kinds.iter().map(|kind| kind.invalid.kind.is_always());
        (always.clone().any(|always| always), always.any(|always| !always))
    }

    /// What oversized chains add to the memory of an operation, on average over these chains.
    pub(super) fn oversized_bytes(&self) -> f64 {
        let mut before = 0;
        let mut share = 0.0;
        for Weighted { up_to, invalid } in &self.kinds {
            if invalid.kind == InvalidKind::Oversized {
                share = (up_to - before) as f64;
            }
            before = *up_to;
        }
        // Certificate and TBSCertificate, and the body in base64.
        share / before.max(1) as f64 * self.most_bytes as f64 * 3.5
    }

    /// Prepares the submission of `seq`.
    pub(super) fn write(
        &self,
        kind: InvalidKind,
        seq: u64,
        chains: &Chains,
        scratch: &mut MintScratch,
        op: &mut SubmitOp,
    ) {
        match self.minters.get(&kind) {
            Some(minter) => minter.mint(seq, scratch, &mut op.minted),
            None => chains.write(seq, scratch, &mut op.minted),
        }
        if kind == InvalidKind::BrokenSignature {
            op.minted.break_signature();
        }
        op.encode_with(|body| match kind {
            InvalidKind::NotJson => body.truncate(body.len() / 2),
            InvalidKind::EmptyChain => {
                body.clear();
                body.extend_from_slice(br#"{"chain":[]}"#);
            }
            InvalidKind::BadBase64 => body[FIRST_OF_BASE64] = b'!',
            _ => {}
        });
        if kind == InvalidKind::EndpointSwapped {
            op.endpoint = match op.endpoint {
                Kind::X509 => Kind::Precert,
                Kind::Precert => Kind::X509,
            };
        }
    }
}

/// What mints chains of that kind; none where it is a good chain, altered.
fn minter(
    kind: InvalidKind,
    plan: &SubmitPlan,
    run: &CtRun,
    chains: &Chains,
    policy: &Policy<'_>,
) -> Result<Option<ChainMinter>, CtError> {
    let (spec, epoch) = (plan.minter_spec(run)?, run.epoch_unix_ms / 1000);
    let until = |not_after: u64| -> Result<MinterSpec, CtError> {
        let not_before = spec.validity.not_before().min(not_after.saturating_sub(NINETY_DAYS));
        let validity = Validity::new(not_before, not_after).map_err(|source| plan.unminted(source))?;
        Ok(MinterSpec { validity, ..spec.clone() })
    };
    let usual = Shape::default();
    let (spec, shape) = match kind {
        InvalidKind::UnknownRoot => {
            let seed = spec.seed.child("unknown root", 0);
            let issuer = SubmitPlan { ca: None, ..plan.clone() }.issuer()?;
            let minter = ChainMinter::new(&MinterSpec { seed, issuer, ..spec });
            return minter.map(Some).map_err(|source| plan.unminted(source));
        }
        InvalidKind::PoisonNotCritical => {
            (MinterSpec { precert_percent: 100, ..spec }, Shape { critical_poison: false, ..usual })
        }
        InvalidKind::Expired => (until(expired_at(epoch))?, usual),
        // Base64 alone makes it a third larger than the bound.
        InvalidKind::Oversized => (spec, Shape { padding: policy.most_bytes(), ..usual }),
        InvalidKind::NoServerAuthEku => (spec, Shape { server_auth: false, ..usual }),
        InvalidKind::OutsideNotAfterWindow => (until(policy.outside(epoch))?, usual),
        _ => return Ok(None),
    };
    chains.shaped(&spec, shape).transpose().map_err(|source| plan.unminted(source))
}

/// After `{"chain":["`.
const FIRST_OF_BASE64: usize = 11;
const NINETY_DAYS: u64 = 90 * 86_400;
