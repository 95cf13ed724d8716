//! Issuer chains that were found good, by the very text in which they were sent.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use super::{MAX_PATHS, Path};

/// Verified paths by the base64 of the certificates above a leaf, which so need not be decoded and hashed again.
#[derive(Debug, Default)]
pub(super) struct KnownChains {
    chains: RwLock<HashMap<Mark, Known>>,
}

#[derive(Debug)]
struct Known {
    texts: Vec<String>,
    path: Arc<Path>,
}

/// How many texts there are, and the end of the first: bytes of a signature, which tell issuers apart.
type Mark = (usize, [u8; 32]);

impl KnownChains {
    /// The path that is remembered for these texts.
    pub(super) fn path<T: AsRef<str>>(&self, texts: &[T]) -> Option<Arc<Path>> {
        let chains = self.chains.read().unwrap_or_else(PoisonError::into_inner);
        let known = chains.get(&mark(texts)?)?;
        let same = known.texts.iter().zip(texts).all(|(known, text)| known == text.as_ref());
        same.then(|| Arc::clone(&known.path))
    }

    /// Remembers a path, in the place of another with the same mark.
    pub(super) fn remember<T: AsRef<str>>(&self, texts: &[T], path: &Arc<Path>) {
        let Some(mark) = mark(texts) else { return };
        let texts = texts.iter().map(|text| text.as_ref().to_owned()).collect();
        let mut chains = self.chains.write().unwrap_or_else(PoisonError::into_inner);
        if chains.len() >= MAX_PATHS {
            chains.clear();
        }
        chains.insert(mark, Known { texts, path: Arc::clone(path) });
    }
}

fn mark<T: AsRef<str>>(texts: &[T]) -> Option<Mark> {
    Some((texts.len(), *texts.first()?.as_ref().as_bytes().last_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_by_exactly_the_texts_that_it_was_remembered_for() {
        let chains = KnownChains::default();
        let (issuer, root) = ("i".repeat(40), "r".repeat(40));
        let path = Arc::new(Path { authorities: Vec::new() });
        chains.remember(&[&issuer, &root], &path);
        assert!(chains.path(&[&issuer, &root]).is_some_and(|found| Arc::ptr_eq(&found, &path)));
        let altered = format!("j{}", &issuer[1..]);
        for others in [vec![&issuer], vec![&issuer, &issuer], vec![&altered, &root], vec![]] {
            assert!(chains.path(&others).is_none());
        }
    }

    #[test]
    fn texts_too_short_for_a_certificate_are_not_remembered() {
        let chains = KnownChains::default();
        chains.remember(&["short"], &Arc::new(Path { authorities: Vec::new() }));
        assert!(chains.path(&["short"]).is_none());
    }
}
