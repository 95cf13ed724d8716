//! Uploads of documents in parts (restpki-client 1.3.1, `RestPkiClient.upload_or_read`).

use std::borrow::Cow;

use serde::Deserialize;

use crate::answer_fault::AnswerFault;
use crate::path_token::path_token;

/// Where an upload is begun.
pub const UPLOADS: &str = "Api/MultipartUploads";

/// An upload that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunUpload {
    /// What the uploaded document is named by.
    pub token: String,
    /// Bytes of each part but the last one.
    pub part_size: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BegunModel<'a> {
    #[serde(borrow)]
    blob_token: Cow<'a, str>,
    part_size: u64,
}

impl BegunUpload {
    /// Reads the answer that begins the upload of a document of `length` bytes.
    ///
    /// # Errors
    /// What is not of that form, or asks for more than 10,000 parts.
    pub fn read(body: &[u8], length: u64) -> Result<Self, AnswerFault> {
        let model: BegunModel<'_> = serde_json::from_str(std::str::from_utf8(body)?)?;
        if model.part_size == 0 || length.div_ceil(model.part_size) > MOST_PARTS {
            return Err(AnswerFault::Unusable("partSize is zero, or makes more than 10,000 parts"));
        }
        Ok(Self { token: path_token(&model.blob_token)?.to_owned(), part_size: model.part_size })
    }
}

/// The body that ends an upload of parts with these `ETag`s, in order; written into `out`.
pub fn upload_end(etags: &[String], out: &mut Vec<u8>) {
    out.clear();
    // Strings are written into memory.
    let written = serde_json::to_string(etags).unwrap_or_default();
    out.extend_from_slice(format!(r#"{{"partETags":{written},"completeMD5":null}}"#).as_bytes());
}

const MOST_PARTS: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_begins_with_a_token_and_parts_of_some_bytes() {
        let read = |body: &str| BegunUpload::read(body.as_bytes(), 50_000_000);
        let begun = read(r#"{"blobToken":"a-1","partSize":1048576}"#).unwrap();
        assert_eq!(begun, BegunUpload { token: "a-1".to_owned(), part_size: 1 << 20 });
        for refused in [
            "{}",
            r#"{"blobToken":"a","partSize":0}"#,
            r#"{"blobToken":"a","partSize":4999}"#,
            r#"{"blobToken":"a/b","partSize":9999999}"#,
            r#"{"blobToken":"","partSize":9999999}"#,
        ] {
            assert!(read(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn an_upload_ends_with_the_tags_of_its_parts_as_they_came() {
        let mut body = vec![1];
        upload_end(&["\"a\"".to_owned(), "W/\"b\"".to_owned()], &mut body);
        assert_eq!(body, br#"{"partETags":["\"a\"","W/\"b\""],"completeMD5":null}"#);
    }
}
