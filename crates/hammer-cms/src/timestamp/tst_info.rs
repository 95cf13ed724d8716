use hammer_tlog::keys::der::{self, DerError, Tlv};

use super::gen_time::GenTime;
use super::imprint::MessageImprint;
use crate::integer;

/// `TSTInfo` (RFC 3161 section 2.4.2), in place: what an authority signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TstInfo<'a> {
    /// The content of `policy`, an object identifier.
    pub policy: &'a [u8],
    /// `messageImprint`.
    pub imprint: MessageImprint<'a>,
    /// The content of `serialNumber`, of up to 160 bits.
    pub serial: &'a [u8],
    /// `genTime`.
    pub gen_time: GenTime,
    /// `accuracy`.
    pub accuracy: Option<Accuracy>,
    /// `ordering`.
    pub ordering: bool,
    /// The content of `nonce`.
    pub nonce: Option<&'a [u8]>,
    /// The whole `GeneralName` of `tsa`.
    pub tsa: Option<&'a [u8]>,
}

impl<'a> TstInfo<'a> {
    /// Reads the whole of `der`. Extensions are passed over.
    pub fn parse(der: &'a [u8]) -> Result<Self, DerError> {
        let mut reader = Tlv::parse(der, der::SEQUENCE)?.content();
        if reader.expect(der::INTEGER)?.value != [1] {
            return Err(DerError::Value { what: "version" });
        }
        let policy = reader.expect(der::OBJECT_IDENTIFIER)?.value;
        let imprint = MessageImprint::parse(reader.expect(der::SEQUENCE)?)?;
        let serial = reader.expect(der::INTEGER)?.value;
        let gen_time = GenTime::parse(&reader.expect(der::GENERALIZED_TIME)?)?;
        let accuracy = reader.optional(der::SEQUENCE)?.map(Accuracy::parse).transpose()?;
        let ordering = match reader.optional(der::BOOLEAN)?.map(|ordering| ordering.value) {
            None | Some([0]) => false,
            Some([0xff]) => true,
            Some(_) => return Err(DerError::Value { what: "ordering" }),
        };
        let nonce = reader.optional(der::INTEGER)?.map(|nonce| nonce.value);
        let tsa = reader.optional(der::context(0))?.map(|tsa| tsa.value);
        reader.optional(der::context(1))?;
        reader.finish()?;
        Ok(Self { policy, imprint, serial, gen_time, accuracy, ordering, nonce, tsa })
    }

    /// Whether the nonce is this one.
    pub fn has_nonce(&self, nonce: u64) -> bool {
        let (bytes, length) = integer::content(nonce);
        self.nonce == Some(&bytes[bytes.len() - length..])
    }
}

/// `Accuracy`: how far the time may be off, in either direction, by what the authority says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Accuracy {
    /// Whole seconds.
    pub seconds: u64,
    /// Thousandths of a second, below 1000.
    pub millis: u64,
    /// Millionths of a second, below 1000.
    pub micros: u64,
}

impl Accuracy {
    fn parse(element: Tlv<'_>) -> Result<Self, DerError> {
        let mut reader = element.content();
        let seconds = number(reader.optional(der::INTEGER)?, u64::MAX)?;
        let millis = number(reader.optional(MILLIS)?, 999)?;
        let micros = number(reader.optional(MICROS)?, 999)?;
        reader.finish()?;
        Ok(Self { seconds, millis, micros })
    }
}

/// `millis`, `[0]` IMPLICIT INTEGER.
const MILLIS: u8 = 0x80;
/// `micros`, `[1]` IMPLICIT INTEGER.
const MICROS: u8 = 0x81;

fn number(element: Option<Tlv<'_>>, most: u64) -> Result<u64, DerError> {
    let Some(element) = element else { return Ok(0) };
    let value = integer::value(element.value, "accuracy")?.filter(|value| *value <= most);
    value.ok_or(DerError::Value { what: "accuracy" })
}
