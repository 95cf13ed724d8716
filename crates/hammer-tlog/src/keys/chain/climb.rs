//! The way from a certificate up to a root.

use super::authority::{Authority, key_of, signed_once};
use super::error::ChainError;
use super::name::display_name;
use super::terms::{IssuerTerms, Validity, check_extensions, check_purpose};
use crate::keys::certificate::Certificate;

/// Certificates sent along that are looked at.
pub(super) const SENT_ALONG: usize = 16;
/// CAs of a path, at most.
const LONGEST_PATH: u32 = 8;
/// Issuers that are tried in all, each for one signature at most. Sigstore's chains take two or three.
const STEPS: u32 = 32;

/// The search for one path to a root, depth first.
pub(super) struct Climb<'a> {
    authorities: &'a [Authority],
    sent_along: &'a [Certificate<'a>],
    /// Seconds since 1970.
    at: i64,
    /// What the path is to be for, as the DER content of an identifier.
    purpose: Option<&'a [u8]>,
    steps_left: u32,
    /// Why the first path that leads to a root was passed over: all of it holds but for what is not judged here.
    unjudged: Option<ChainError>,
    /// The first thing that was wrong on the way.
    fault: Option<ChainError>,
}

impl<'a> Climb<'a> {
    pub(super) fn new(
        authorities: &'a [Authority],
        sent_along: &'a [Certificate<'a>],
        at: i64,
        purpose: Option<&'a [u8]>,
    ) -> Self {
        let sent_along = &sent_along[..sent_along.len().min(SENT_ALONG)];
        Self { authorities, sent_along, at, purpose, steps_left: STEPS, unjudged: None, fault: None }
    }

    /// When the path from `leaf` is valid, without the leaf; none where there is no path.
    pub(super) fn path_of(&mut self, leaf: &Certificate<'_>) -> Option<Validity> {
        self.above_certificate(leaf, 0, LONGEST_PATH)
    }

    /// Why there is no path from `leaf`.
    pub(super) fn into_fault(self, leaf: &Certificate<'_>) -> ChainError {
        match self.unjudged.or(self.fault) {
            Some(fault) => fault,
            None if self.steps_left == 0 => ChainError::TooManyPaths { steps: STEPS },
            None if leaf.issuer == leaf.subject => {
                ChainError::SelfIssued { subject: display_name(leaf.subject) }
            }
            None => ChainError::Untrusted { issuer: display_name(leaf.issuer) },
        }
    }

    /// `below` CAs that are not self-issued stand below an issuer of `certificate`, and `rungs` CAs may follow.
    fn above_certificate(
        &mut self,
        certificate: &Certificate<'_>,
        below: u32,
        rungs: u32,
    ) -> Option<Validity> {
        let authorities = self.authorities;
        for (issuer, authority) in authorities.iter().enumerate() {
            if authority.subject() == certificate.issuer
                && self.step(rungs)
                && self.holds(authority.signed(certificate))
                && let Some(path) = self.above_authority(issuer, below, rungs - 1)
            {
                return Some(path);
            }
        }
        for issuer in self.sent_along {
            if issuer.subject == certificate.issuer
                && issuer.raw != certificate.raw
                && self.step(rungs)
                && let Some(path) = self.by_sent_along(certificate, issuer, below, rungs - 1)
            {
                return Some(path);
            }
        }
        None
    }

    /// From an authority that is known, by links that have been verified.
    fn above_authority(&mut self, at: usize, below: u32, rungs: u32) -> Option<Validity> {
        let authority = &self.authorities[at];
        if !self.holds(authority.terms.admit(authority.subject(), below, self.at)) {
            return None;
        }
        if authority.is_root() {
            return Some(authority.terms.validity);
        }
        let above = authority.terms.above(below);
        let path = authority.issuers.iter().find_map(|issuer| {
            let path = if self.step(rungs) { self.above_authority(*issuer, above, rungs - 1) } else { None };
            path.map(|path| path.intersect(authority.terms.validity))
        })?;
        let judged = self.purpose.map_or(Ok(()), |purpose| authority.check_purpose(purpose));
        self.unless_unjudged(path, judged)
    }

    /// From a certificate by one sent along, which is trusted no more than what issued it.
    fn by_sent_along(
        &mut self,
        certificate: &Certificate<'_>,
        issuer: &Certificate<'_>,
        below: u32,
        rungs: u32,
    ) -> Option<Validity> {
        let terms = self.worth(IssuerTerms::read(issuer))?;
        self.worth(terms.admit(issuer.subject, below, self.at))?;
        let key = self.worth(key_of(issuer))?;
        self.worth(signed_once(&key, certificate))?;
        let path = self.above_certificate(issuer, terms.above(below), rungs)?;
        let for_purpose = || self.purpose.map_or(Ok(()), |purpose| check_purpose(issuer, purpose));
        let judged = check_extensions(issuer).and_then(|()| for_purpose());
        self.unless_unjudged(path.intersect(terms.validity), judged)
    }

    /// The path, or none where it holds but for what is not judged here: another one may be without.
    fn unless_unjudged(&mut self, path: Validity, judged: Result<(), ChainError>) -> Option<Validity> {
        match judged {
            Ok(()) => Some(path),
            Err(why) => {
                self.unjudged.get_or_insert(why);
                None
            }
        }
    }

    /// Whether one more step may be made.
    fn step(&mut self, rungs: u32) -> bool {
        if rungs == 0 || self.steps_left == 0 {
            return false;
        }
        self.steps_left -= 1;
        true
    }

    /// The value, or none and its fault kept.
    fn worth<T>(&mut self, result: Result<T, ChainError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                self.fault.get_or_insert(fault);
                None
            }
        }
    }

    fn holds(&mut self, result: Result<(), ChainError>) -> bool {
        self.worth(result).is_some()
    }
}
