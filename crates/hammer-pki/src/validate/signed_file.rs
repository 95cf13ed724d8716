//! A signed file as it is sent: its base64 is written once.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use hammer_cms::ber;
use hammer_net::BodyPart;

use super::alteration::{AlterablePlaces, Alteration, UnalterableFile};
use crate::signed_file_form::SignedFileForm;

/// A signed file.
#[derive(Debug, Clone)]
pub struct SignedFile {
    form: SignedFileForm,
    bytes: Bytes,
    base64: Bytes,
    alterable: Option<AlterablePlaces>,
}

/// A file that is neither of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read the signed file: it is neither a PDF nor a CMS in DER")]
pub struct UnknownForm;

impl SignedFileForm {
    /// Its name, as series have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cades => "cades",
            Self::Pades => "pades",
        }
    }
}

impl SignedFile {
    /// That of these bytes, which is a PDF or starts as a CMS does: whether it holds is for the service to say.
    ///
    /// # Errors
    /// Bytes that are neither.
    pub fn new(bytes: Vec<u8>) -> Result<Self, UnknownForm> {
        let form = match bytes.as_slice() {
            [b'%', b'P', b'D', b'F', b'-', ..] => SignedFileForm::Pades,
            [0x30, ..] => SignedFileForm::Cades,
            _ => return Err(UnknownForm),
        };
        let base64 = BASE64_STANDARD.encode(&bytes).into();
        Ok(Self { form, bytes: bytes.into(), base64, alterable: None })
    }

    /// The same, of which altered twins can be made; a CMS in BER comes to be in DER, in which no signature of it is another.
    ///
    /// # Errors
    /// A file in which nothing signed is found that could be altered.
    pub fn alterable(mut self) -> Result<Self, UnalterableFile> {
        let places = match self.form {
            SignedFileForm::Pades => AlterablePlaces::of_pdf(&self.bytes)?,
            SignedFileForm::Cades => {
                if let Cow::Owned(der) = ber::to_der(&self.bytes) {
                    (self.base64, self.bytes) = (BASE64_STANDARD.encode(&der).into(), der.into());
                }
                AlterablePlaces::of_cms(&self.bytes)?
            }
        };
        Ok(Self { alterable: Some(places), ..self })
    }

    /// What it is.
    pub fn form(&self) -> SignedFileForm {
        self.form
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The alteration of a draw, where it can be altered.
    pub(super) fn alteration(&self, bits: u64) -> Option<Alteration> {
        self.alterable.as_ref().map(|places| places.alteration(&self.bytes, bits))
    }

    /// Its base64, or that of its altered twin.
    pub(super) fn base64(&self, altered: Option<Alteration>) -> Vec<BodyPart> {
        let Some(Alteration { at, byte, .. }) = altered else { return vec![self.base64.clone().into()] };
        // Three bytes are four letters.
        let group = at / 3;
        let mut three = self.bytes[group * 3..(group * 3 + 3).min(self.bytes.len())].to_vec();
        three[at % 3] = byte;
        let letters = Bytes::from(BASE64_STANDARD.encode(three));
        let cut = |range: Range<usize>| BodyPart::from(self.base64.slice(range));
        vec![cut(0..group * 4), letters.into(), cut(group * 4 + 4..self.base64.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the base64 of these parts is of.
    fn bytes(parts: Vec<BodyPart>) -> Vec<u8> {
        BASE64_STANDARD.decode(hammer_net::Body::rope(parts).to_bytes()).unwrap()
    }

    #[test]
    fn the_base64_of_an_altered_twin_differs_from_the_file_in_that_byte() {
        for length in [20, 21, 22] {
            let mut content = vec![0x30; length];
            let file = SignedFile::new(content.clone()).unwrap();
            assert_eq!(bytes(file.base64(None)), content);
            for at in 0..length {
                content[at] = 7;
                let altered = Alteration { at, byte: 7, is_of_signature: false };
                assert_eq!(bytes(file.base64(Some(altered))), content);
                content[at] = 0x30;
            }
        }
    }

    #[test]
    fn a_cms_in_ber_comes_to_be_in_der_where_twins_are_made_of_it() {
        let streamed =
            include_bytes!("../../../hammer-cms/testdata/signatures/openssl-streamed-enveloping.p7m");
        let file = SignedFile::new(streamed.to_vec()).unwrap();
        assert_eq!(bytes(file.base64(None)), streamed);
        let file = file.alterable().unwrap();
        assert_eq!(bytes(file.base64(None)), *ber::to_der(streamed));
        let altered = file.alteration(1).unwrap();
        let differ = bytes(file.base64(Some(altered)));
        let differ = differ.iter().zip(file.bytes()).filter(|(twin, file)| twin != file);
        assert_eq!(differ.count(), 1);
    }

    #[test]
    fn a_file_of_another_form_is_refused() {
        for bytes in [&b"-----BEGIN CMS-----"[..], b"<xml>", b"", b"PK"] {
            assert_eq!(SignedFile::new(bytes.to_vec()).unwrap_err(), UnknownForm);
        }
        assert!(SignedFile::new(b"0\x03\x02\x01\x00".to_vec()).unwrap().alterable().is_err());
        assert!(SignedFile::new(b"%PDF-1.7\n".to_vec()).unwrap().alterable().is_err());
    }
}
