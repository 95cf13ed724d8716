use hammer_tlog::keys::der::{self, DerError, Tlv};

use super::status::StatusInfo;

/// `TimeStampResp` (RFC 3161 section 2.4.2), in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimestampResponse<'a> {
    /// `status`.
    pub status: StatusInfo<'a>,
    /// The whole `timeStampToken`, a `ContentInfo` that is not looked into.
    pub token: Option<&'a [u8]>,
}

impl<'a> TimestampResponse<'a> {
    /// Reads the whole of `der`.
    pub fn parse(der: &'a [u8]) -> Result<Self, DerError> {
        let mut reader = Tlv::parse(der, der::SEQUENCE)?.content();
        let status = StatusInfo::parse(reader.expect(der::SEQUENCE)?)?;
        let token = reader.optional(der::SEQUENCE)?.map(|token| token.raw);
        reader.finish()?;
        Ok(Self { status, token })
    }
}
