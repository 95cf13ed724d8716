//! What a log must accept so that it takes the chains of a plan.

use hammer_synth::{Hierarchy, IssuerSource, Seed};

use crate::error::CtError;
use crate::plan::SubmitPlan;

/// Roots as a log is given them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// PEM; explanatory text before a certificate says what it is (RFC 7468 section 2).
    pub pem: String,
    /// The certificates in DER.
    pub certificates: Vec<Vec<u8>>,
    /// Whoever knows the seed holds their keys: they are for a log that nobody trusts.
    pub throwaway: bool,
}

/// The roots of a plan's chains in a run of that seed; they depend on no date and no profile.
///
/// # Errors
/// [`CtError::ForeignRoots`] for chains from files, and those of [`Hierarchy::derive`] and [`Hierarchy::from_files`].
pub fn roots(plan: &SubmitPlan, seed: u64) -> Result<Roots, CtError> {
    if !plan.chains.is_empty() {
        return Err(CtError::ForeignRoots);
    }
    let (hierarchy, throwaway) = match plan.issuer()? {
        IssuerSource::Derived(spec) => (Hierarchy::derive(&Seed::from_u64(seed), &spec), true),
        IssuerSource::Files { chain, key } => (Hierarchy::from_files(chain, key), false),
    };
    let hierarchy = hierarchy.map_err(|source| plan.unminted(source))?;
    let comment = if throwaway { warning(seed) } else { String::new() };
    let certificates = hierarchy.roots().map(<[u8]>::to_vec).collect();
    Ok(Roots { pem: comment + &hierarchy.roots_pem(), certificates, throwaway })
}

fn warning(seed: u64) -> String {
    format!(
        "# THROWAWAY ROOT OF A LOAD TEST. Its private key follows from the seed {seed}: whoever knows the seed holds it.\n\
         # Give it to logs under test only, never to anything that somebody trusts.\n"
    )
}
