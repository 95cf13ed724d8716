//! Signature services under load: the documents that are sent to them, what their callers sign of what they answer, and what is read of
//! the files that come back. Requests and answers are state without I/O.

mod answer_fault;
mod authenticate;
mod authority_key;
mod dialect;
mod document_part;
mod documents;
pub mod dss;
mod error;
mod every_second;
mod inline_document;
mod json_base64;
mod json_request;
mod judge;
mod kept_files;
mod list_fetches;
mod login;
mod made_authority;
mod outline;
mod path_token;
pub mod plan;
mod record;
pub mod rest_pki;
mod revocation_list;
mod sign;
mod signature_kind;
mod signed_file_form;
mod signer;
mod signer_source;
mod signing_key;
mod timestamp;
mod validate;
mod verdict;
mod waiting_files;

pub use answer_fault::{AnswerFault, ValidationFault};
pub use authenticate::{AuthenticateOp, AuthenticateSession, AuthenticateWorkload};
pub use dialect::Dialect;
pub use documents::{DocumentLengths, Documents};
pub use error::PkiError;
pub use inline_document::InlineDocument;
pub use judge::SignatureJudge;
pub use kept_files::KeptFiles;
pub use list_fetches::{ELSEWHERE, FETCHES, GIVEN_UP, ListFetches, WatchedFetches};
pub use made_authority::MadeAuthority;
pub use path_token::is_path_segment;
pub use revocation_list::RevokedCertificates;
pub use sign::{SignConfig, SignOp, SignSession, SignWorkload};
pub use signature_kind::SignatureKind;
pub use signed_file_form::SignedFileForm;
pub use signer::Signer;
pub use signer_source::{SignerIssuers, signers};
pub use signing_key::{KeyFault, SigningKey};
pub use timestamp::{TimestampInterface, TimestampJudge, TimestampOp, TimestampSession, TimestampWorkload};
pub use validate::{
    GivenFiles, SignedFile, UnalterableFile, ValidateConfig, ValidateOp, ValidateSession, ValidateUser,
    ValidateWorkload, ValidatedFiles,
};
pub use verdict::Verdict;
pub use waiting_files::WaitingFiles;
