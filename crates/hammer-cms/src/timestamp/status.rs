use std::fmt;

use hammer_tlog::keys::der::{self, DerError, Tlv};

use crate::integer;

/// `UTF8String`.
const UTF8_STRING: u8 = 0x0c;
/// The bits of `PKIFailureInfo` that RFC 3161 section 2.4.2 names.
const FAILURES: [(u8, &str); 8] = [
    (0, "badAlg"),
    (2, "badRequest"),
    (5, "badDataFormat"),
    (14, "timeNotAvailable"),
    (15, "unacceptedPolicy"),
    (16, "unacceptedExtension"),
    (17, "addInfoNotAvailable"),
    (25, "systemFailure"),
];

/// `PKIStatus` (RFC 3161 section 2.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PkiStatus {
    /// A token is there, as asked.
    Granted,
    /// A token is there, with changes.
    GrantedWithMods,
    /// No token.
    Rejection,
    /// No token yet.
    Waiting,
    /// No token; a revocation is imminent.
    RevocationWarning,
    /// No token; a revocation has happened.
    RevocationNotification,
    /// A number that is none of these.
    Other(u64),
}

impl PkiStatus {
    fn of(number: u64) -> Self {
        match number {
            0 => Self::Granted,
            1 => Self::GrantedWithMods,
            2 => Self::Rejection,
            3 => Self::Waiting,
            4 => Self::RevocationWarning,
            5 => Self::RevocationNotification,
            number => Self::Other(number),
        }
    }

    /// Whether a token has to be there.
    pub fn is_granted(self) -> bool {
        matches!(self, Self::Granted | Self::GrantedWithMods)
    }
}

impl PkiStatus {
    /// As the RFC calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::GrantedWithMods => "grantedWithMods",
            Self::Rejection => "rejection",
            Self::Waiting => "waiting",
            Self::RevocationWarning => "revocationWarning",
            Self::RevocationNotification => "revocationNotification",
            Self::Other(_) => "status without a name",
        }
    }
}

impl fmt::Display for PkiStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(number) => write!(f, "status {number}"),
            named => f.write_str(named.name()),
        }
    }
}

/// `PKIFailureInfo`: why there is no token. Displays the names of its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PkiFailures {
    /// Bit 0 is the highest.
    bits: u32,
}

impl PkiFailures {
    fn parse(element: &Tlv<'_>) -> Result<Self, DerError> {
        let (unused, bytes) = element.value.split_first().ok_or(DerError::Value { what: "failInfo" })?;
        if *unused > 7 || bytes.len() > 4 {
            return Err(DerError::Value { what: "failInfo" });
        }
        let bits =
            bytes.iter().enumerate().fold(0, |bits, (at, byte)| bits | u32::from(*byte) << (24 - 8 * at));
        Ok(Self { bits })
    }

    /// The name of the first bit that is set, where it has one.
    pub fn first_name(self) -> Option<&'static str> {
        FAILURES.iter().find(|(bit, _)| self.has(*bit)).map(|(_, name)| *name)
    }

    /// Whether the bit of this number is set.
    pub fn has(self, bit: u8) -> bool {
        bit < 32 && self.bits >> (31 - bit) & 1 == 1
    }
}

impl fmt::Display for PkiFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for bit in (0..32).filter(|bit| self.has(*bit)) {
            let named = FAILURES.iter().find(|(number, _)| *number == bit);
            match named {
                Some((_, name)) => write!(f, "{separator}{name}")?,
                None => write!(f, "{separator}bit {bit}")?,
            }
            separator = ", ";
        }
        Ok(())
    }
}

/// `PKIStatusInfo`: what became of a query. Displays the status, its failures in brackets, and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusInfo<'a> {
    /// `status`.
    pub status: PkiStatus,
    /// The first text of `statusString`.
    pub text: Option<&'a str>,
    /// `failInfo`.
    pub failures: Option<PkiFailures>,
}

impl<'a> StatusInfo<'a> {
    /// The first failure, or else the status, in a word for a count of causes.
    pub fn cause(&self) -> &'static str {
        self.failures.and_then(PkiFailures::first_name).unwrap_or(self.status.name())
    }

    pub(super) fn parse(element: Tlv<'a>) -> Result<Self, DerError> {
        let mut reader = element.content();
        let number = integer::value(reader.expect(der::INTEGER)?.value, "status")?;
        let status = PkiStatus::of(number.unwrap_or(u64::MAX));
        let text = match reader.optional(der::SEQUENCE)? {
            Some(texts) => Some(first_text(texts)?),
            None => None,
        };
        let failures = reader.optional(der::BIT_STRING)?.as_ref().map(PkiFailures::parse).transpose()?;
        reader.finish()?;
        Ok(Self { status, text, failures })
    }
}

impl fmt::Display for StatusInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        if let Some(failures) = self.failures {
            write!(f, " ({failures})")?;
        }
        self.text.map_or(Ok(()), |text| write!(f, ": {text:?}"))
    }
}

fn first_text(texts: Tlv<'_>) -> Result<&str, DerError> {
    let text = texts.content().expect(UTF8_STRING)?.value;
    str::from_utf8(text).map_err(|_| DerError::Value { what: "statusString" })
}
