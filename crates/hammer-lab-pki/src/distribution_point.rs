//! Where a certificate says that the list is by which it would be revoked.

use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::der::{self, DerError, Tlv, context};

/// The first URL of the `CRLDistributionPoints` (RFC 5280 section 4.2.1.13) of a certificate; none where it names none.
pub(crate) fn distribution_point(certificate: &Certificate<'_>) -> Option<String> {
    let extension = certificate.extension(DISTRIBUTION_POINTS)?;
    url(extension.value).ok().flatten()
}

fn url(points: &[u8]) -> Result<Option<String>, DerError> {
    let mut points = Tlv::parse(points, der::SEQUENCE)?.content();
    while !points.is_empty() {
        let mut point = points.expect(der::SEQUENCE)?.content();
        let Some(name) = point.optional(context(0))? else { continue };
        let Some(full) = name.content().optional(context(0))? else { continue };
        let mut names = full.content();
        while !names.is_empty() {
            let name = names.read()?;
            if name.tag == URI {
                return Ok(Some(String::from_utf8_lossy(name.value).into_owned()));
            }
        }
    }
    Ok(None)
}

/// `uniformResourceIdentifier [6]` of a `GeneralName`.
const URI: u8 = 0x86;
/// 2.5.29.31.
const DISTRIBUTION_POINTS: &[u8] = &[0x55, 0x1d, 0x1f];
