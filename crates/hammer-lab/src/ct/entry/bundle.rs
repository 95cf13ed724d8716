//! Entries read back from the bytes of a data tile.

/// One TileLeaf of static-ct-api, in place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TileLeaf<'a> {
    /// The TimestampedEntry of RFC 6962 section 3.4.
    pub(crate) timestamped_entry: &'a [u8],
    /// Milliseconds since the Unix epoch.
    pub(crate) timestamp_ms: u64,
    /// The certificate, or the precertificate as submitted.
    pub(crate) submitted: &'a [u8],
    /// Whether it is a precert entry.
    pub(crate) precert: bool,
    /// Fingerprints of the certificates above it, 32 bytes each.
    pub(crate) fingerprints: &'a [[u8; 32]],
    /// The whole leaf.
    pub(crate) raw: &'a [u8],
}

impl TileLeaf<'_> {
    /// The MerkleTreeLeaf of RFC 6962 section 3.4.
    pub(crate) fn leaf_input(&self) -> Vec<u8> {
        [&[0, 0], self.timestamped_entry].concat()
    }
}

/// The leaves of a bundle, in order; ends early where the bytes do not hold a whole one.
pub(crate) fn leaves(bundle: &[u8]) -> impl Iterator<Item = TileLeaf<'_>> {
    let mut rest = bundle;
    std::iter::from_fn(move || {
        let leaf = read_leaf(rest)?;
        rest = &rest[leaf.raw.len()..];
        Some(leaf)
    })
}

fn read_leaf(bytes: &[u8]) -> Option<TileLeaf<'_>> {
    let mut rest = bytes;
    let timestamp_ms = u64::from_be_bytes(take(&mut rest, 8)?.try_into().ok()?);
    let precert = match take(&mut rest, 2)? {
        [0, 0] => false,
        [0, 1] => take(&mut rest, 32).map(|_| true)?,
        _ => return None,
    };
    let signed = take_prefixed(&mut rest, 3)?;
    take_prefixed(&mut rest, 2)?;
    let timestamped_entry = &bytes[..bytes.len() - rest.len()];
    let submitted = if precert { take_prefixed(&mut rest, 3)? } else { signed };
    let (fingerprints, odd) = take_prefixed(&mut rest, 2)?.as_chunks::<32>();
    let raw = &bytes[..bytes.len() - rest.len()];
    odd.is_empty().then_some(TileLeaf {
        timestamped_entry,
        timestamp_ms,
        submitted,
        precert,
        fingerprints,
        raw,
    })
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

fn take_prefixed<'a>(rest: &mut &'a [u8], length_bytes: usize) -> Option<&'a [u8]> {
    let length = take(rest, length_bytes)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    take(rest, length)
}
