//! A whole refresh, file by file: each is believed before the next is asked for.

use crate::error::TufError;
use crate::role::Role;
use crate::trusted::Trusted;
use crate::walk::{KnownFiles, Walk, WantedFile};

/// A refresh of a client that has nothing but a root.
#[derive(Clone, Debug)]
pub struct Refresh {
    walk: Walk,
    trusted: Trusted,
    target: String,
    body: Vec<u8>,
}

/// A target that was verified, and what it was verified by.
#[derive(Clone, Debug)]
pub struct RefreshedTarget {
    /// Its bytes.
    pub body: Vec<u8>,
    /// The metadata that leads to it.
    pub trusted: Trusted,
}

impl Refresh {
    /// A refresh from the root that the client came with, for the target of that name.
    ///
    /// # Errors
    /// When the root is none.
    pub fn new(root: &[u8], target: &str) -> Result<Self, TufError> {
        let trusted = Trusted::from_root(root)?;
        let known = KnownFiles {
            root: trusted.root().version(),
            is_consistent: trusted.root().is_consistent(),
            ..KnownFiles::default()
        };
        Ok(Self { walk: Walk::new(known, target), trusted, target: target.to_owned(), body: Vec::new() })
    }

    /// The file that is asked for next; none at the end.
    pub fn wanted(&self) -> Option<&WantedFile> {
        self.walk.wanted()
    }

    /// Believes the wanted file, which was received at `now`, in seconds since 1970; none where the repository does not have it.
    ///
    /// # Errors
    /// Why it is not believed.
    pub fn answer(&mut self, body: Option<&[u8]>, now: u64) -> Result<(), TufError> {
        let Some(role) = self.walk.wanted().map(|wanted| wanted.role) else { return Ok(()) };
        match (role, body) {
            (Role::Root, None) => self.trusted.check_root(now)?,
            (_, None) => {}
            (role, Some(body)) => {
                self.trusted.take(role, &self.target, body, now)?;
                if role == Role::Target {
                    self.body = body.to_vec();
                }
            }
        }
        self.walk.answer(body)
    }

    /// The target, once nothing more is asked for.
    pub fn finish(self) -> Option<RefreshedTarget> {
        let is_done = self.walk.wanted().is_none();
        is_done.then_some(RefreshedTarget { body: self.body, trusted: self.trusted })
    }
}

#[cfg(test)]
mod tests;
