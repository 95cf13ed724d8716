//! Extensions of SCTs and leaves.

use crate::tls::{TlsError, TlsReader};

/// `ExtensionType.leaf_index` (static-ct-api).
const LEAF_INDEX: u8 = 0;

/// `CtExtensions` with only the leaf index, 40 bits big-endian (static-ct-api). Fails for an index of 2^40 or more.
pub fn leaf_index_extension(index: u64) -> Result<[u8; 8], TlsError> {
    match index.to_be_bytes() {
        [0, 0, 0, a, b, c, d, e] => Ok([LEAF_INDEX, 0, 5, a, b, c, d, e]),
        _ => Err(TlsError::UnknownValue { field: "leaf_index", value: index }),
    }
}

/// The leaf index in `CtExtensions`; none where a log, such as one of RFC 6962, gives no index. Other extensions are
/// skipped (static-ct-api: "Clients MUST ignore extensions with unknown types").
pub fn leaf_index(extensions: &[u8]) -> Result<Option<u64>, TlsError> {
    let mut reader = TlsReader::new(extensions);
    let mut index = None;
    while !reader.rest().is_empty() {
        let extension_type = reader.u8("extension_type")?;
        let data = reader.vector16("extension_data")?;
        if extension_type != LEAF_INDEX {
            continue;
        }
        let bytes: &[u8; 5] = data.try_into().map_err(|_| malformed(data.len()))?;
        let value = bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        if index.replace(value).is_some() {
            return Err(TlsError::Trailing { structure: "leaf_index", count: data.len() });
        }
    }
    Ok(index)
}

fn malformed(length: usize) -> TlsError {
    TlsError::UnknownValue { field: "length of leaf_index", value: length as u64 }
}
