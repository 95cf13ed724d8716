//! What is submitted: chains that were minted, or come from files.

use hammer_synth::{
    ChainMinter, Error as SynthError, FileChains, Kind, MintScratch, Minted, MinterSpec, Shape,
};

use crate::error::CtError;
use crate::plan::SubmitPlan;
use crate::run::CtRun;
use crate::window::{Window, gap};

/// The chains of a plan. Several logs may share them.
#[derive(Debug)]
pub struct Chains(Source);

#[derive(Debug)]
enum Source {
    Minted(Box<ChainMinter>),
    Files(FileChains),
}

impl Chains {
    /// Sets up authorities and templates, or reads the chains.
    ///
    /// # Errors
    /// A window of dates that there cannot be, or a file that cannot be read.
    pub fn new(plan: &SubmitPlan, run: &CtRun) -> Result<Self, CtError> {
        Ok(Self(match plan.file_chains()? {
            Some(files) => Source::Files(files),
            None => {
                let minter = ChainMinter::new(&plan.minter_spec(run)?);
                Source::Minted(Box::new(minter.map_err(|source| plan.unminted(source))?))
            }
        }))
    }

    /// The last valid second of the leaf of `seq`, since the Unix epoch: known before its chain is there.
    pub fn not_after(&self, seq: u64) -> u64 {
        match &self.0 {
            Source::Minted(minter) => minter.not_after(seq),
            Source::Files(files) => files.not_after(seq),
        }
    }

    /// A last valid second that none of the windows holds, if there may be a leaf with it.
    pub(crate) fn outside(&self, windows: &[Window]) -> Option<u64> {
        match &self.0 {
            Source::Minted(minter) => {
                let validity = minter.validity();
                gap(windows, validity.not_after(), validity.last_not_after())
            }
            Source::Files(files) => {
                let mut ends = (0..files.len() as u64).map(|place| files.not_after(place));
                ends.find(|end| gap(windows, *end, *end).is_some())
            }
        }
    }

    /// Whether all of them are minted here, each once.
    pub(super) fn are_minted(&self) -> bool {
        matches!(self.0, Source::Minted(_))
    }

    /// Roots that are not sent, in DER. A file holds the issuer of its precertificate.
    pub(super) fn roots(&self) -> Vec<Vec<u8>> {
        match &self.0 {
            Source::Minted(minter) => minter.hierarchy().roots().map(<[u8]>::to_vec).collect(),
            Source::Files(_) => Vec::new(),
        }
    }

    /// A minter of other leaves under the same authorities; none where chains come from files.
    pub(super) fn shaped(&self, spec: &MinterSpec, shape: Shape) -> Option<Result<ChainMinter, SynthError>> {
        match &self.0 {
            Source::Minted(minter) => Some(minter.shaped(spec, shape)),
            Source::Files(_) => None,
        }
    }

    pub(super) fn kind_of(&self, seq: u64) -> Kind {
        match &self.0 {
            Source::Minted(minter) => minter.kind(seq),
            Source::Files(files) => files.kind(seq),
        }
    }

    pub(super) fn write(&self, seq: u64, scratch: &mut MintScratch, out: &mut Minted) {
        match &self.0 {
            Source::Minted(minter) => minter.mint(seq, scratch, out),
            Source::Files(files) => files.write(seq, out),
        }
    }
}
