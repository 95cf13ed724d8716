//! The TLS presentation language (RFC 5246 section 4), as far as RFC 6962 and static-ct-api use it: big-endian
//! integers and vectors with a length in front.

/// Why bytes are not the structure that they should be, or a value has no encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// The bytes end inside of a field.
    #[error("{field} is cut off")]
    Truncated {
        /// The field's name in the specification.
        field: &'static str,
    },
    /// Bytes follow where the structure ends.
    #[error("{count} bytes follow {structure}")]
    Trailing {
        /// The structure's name in the specification.
        structure: &'static str,
        /// Bytes left over.
        count: usize,
    },
    /// A field holds a value that the specification does not name.
    #[error("{field} has the unknown value {value}")]
    UnknownValue {
        /// The field's name in the specification.
        field: &'static str,
        /// The value found.
        value: u64,
    },
    /// The value is longer than its length field can say.
    #[error("{field} of {length} bytes is too long")]
    TooLong {
        /// The field's name in the specification.
        field: &'static str,
        /// Bytes in the value.
        length: usize,
    },
}

/// Reads a structure from its front.
#[derive(Debug, Clone, Copy)]
pub struct TlsReader<'a> {
    rest: &'a [u8],
}

impl<'a> TlsReader<'a> {
    /// A reader at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `length` bytes, opaque.
    pub fn bytes(&mut self, length: usize, field: &'static str) -> Result<&'a [u8], TlsError> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(TlsError::Truncated { field })?;
        self.rest = rest;
        Ok(bytes)
    }

    /// The next `N` bytes, opaque.
    pub fn array<const N: usize>(&mut self, field: &'static str) -> Result<&'a [u8; N], TlsError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(TlsError::Truncated { field })?;
        self.rest = rest;
        Ok(bytes)
    }

    /// An 8-bit integer.
    pub fn u8(&mut self, field: &'static str) -> Result<u8, TlsError> {
        Ok(self.array::<1>(field)?[0])
    }

    /// A 16-bit integer.
    pub fn u16(&mut self, field: &'static str) -> Result<u16, TlsError> {
        Ok(u16::from_be_bytes(*self.array(field)?))
    }

    /// A 24-bit integer.
    pub fn u24(&mut self, field: &'static str) -> Result<u32, TlsError> {
        let [high, middle, low] = *self.array(field)?;
        Ok(u32::from_be_bytes([0, high, middle, low]))
    }

    /// A 64-bit integer.
    pub fn u64(&mut self, field: &'static str) -> Result<u64, TlsError> {
        Ok(u64::from_be_bytes(*self.array(field)?))
    }

    /// A vector with a 16-bit length, `opaque field<0..2^16-1>`.
    pub fn vector16(&mut self, field: &'static str) -> Result<&'a [u8], TlsError> {
        let length = self.u16(field)?;
        self.bytes(usize::from(length), field)
    }

    /// A vector with a 24-bit length, `opaque field<0..2^24-1>`.
    pub fn vector24(&mut self, field: &'static str) -> Result<&'a [u8], TlsError> {
        let length = self.u24(field)?;
        self.bytes(length as usize, field)
    }

    /// Fails where bytes are left.
    pub fn finish(self, structure: &'static str) -> Result<(), TlsError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(TlsError::Trailing { structure, count: self.rest.len() })
    }
}

/// The 16-bit length of a vector.
pub fn length16(bytes: &[u8], field: &'static str) -> Result<[u8; 2], TlsError> {
    let length = u16::try_from(bytes.len()).map_err(|_| TlsError::TooLong { field, length: bytes.len() })?;
    Ok(length.to_be_bytes())
}

/// The 24-bit length of a vector.
pub fn length24(bytes: &[u8], field: &'static str) -> Result<[u8; 3], TlsError> {
    match u32::try_from(bytes.len()).map(u32::to_be_bytes) {
        Ok([0, high, middle, low]) => Ok([high, middle, low]),
        _ => Err(TlsError::TooLong { field, length: bytes.len() }),
    }
}

/// Appends a vector with a 16-bit length.
pub fn put_vector16(out: &mut Vec<u8>, bytes: &[u8], field: &'static str) -> Result<(), TlsError> {
    out.extend_from_slice(&length16(bytes, field)?);
    out.extend_from_slice(bytes);
    Ok(())
}

/// Appends a vector with a 24-bit length.
pub fn put_vector24(out: &mut Vec<u8>, bytes: &[u8], field: &'static str) -> Result<(), TlsError> {
    out.extend_from_slice(&length24(bytes, field)?);
    out.extend_from_slice(bytes);
    Ok(())
}
