//! An embedded signature service that really does the work: it makes what is to be signed of a document, and puts around the signature that
//! its caller made the CMS of CAdES (ETSI EN 319 122-1), or behind the document the revision of PAdES (ETSI EN 319 142-1). It never
//! measures, never follows a plan, and shares no code with what verifies it.

pub mod advanced_signature;
pub mod signed_revision;
