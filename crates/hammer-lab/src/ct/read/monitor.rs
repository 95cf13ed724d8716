//! Reads of static-ct-api: checkpoint, tiles, bundles, names tiles and issuers.

use std::str::FromStr;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use hammer_tlog::{
    logs::merkle::Hash,
    logs::tile::{HEIGHT, Level, TileId},
};
use http::{Response, StatusCode};
use serde_json::json;

use super::names;
use crate::{
    ct::log::{Log, store},
    serve::answer::{self, AnswerBody},
};

impl Log {
    /// `checkpoint`.
    pub(crate) fn serve_checkpoint(&self) -> Response<AnswerBody> {
        answer::no_store(self.published.borrow().note.clone())
    }

    /// `tile/...`, given without its leading slash.
    pub(crate) fn serve_tile(&self, path: &str) -> Response<AnswerBody> {
        let Ok(tile) = TileId::from_str(path) else { return not_found(path) };
        let (bytes, compressed) = match tile.level {
            Level::Data => (self.bundle(&tile), self.plan.gzip),
            Level::Names if self.plan.names_tiles => (self.names(&tile), true),
            _ => (self.hash_tile(&tile), false),
        };
        let content_type = if tile.level == Level::Names { JSON_LINES } else { OCTETS };
        match bytes {
            Some(bytes) if compressed => answer::gzip(content_type, &bytes),
            Some(bytes) => answer::immutable(content_type, bytes),
            None if self.is_forgotten(&tile) => {
                answer::error(StatusCode::GONE, &format!("{path} is no longer kept"))
            }
            None => not_found(path),
        }
    }

    /// `issuer/<sha256 hex>`.
    pub(crate) fn serve_issuer(&self, fingerprint: &str) -> Response<AnswerBody> {
        match Hash::from_hex(fingerprint).and_then(|fingerprint| self.store.issuer(&fingerprint)) {
            Some(der) => answer::immutable("application/pkix-cert", der),
            None => not_found(fingerprint),
        }
    }

    /// `ct/v1/get-roots` (RFC 6962 section 4.7).
    pub(crate) fn serve_roots(&self) -> Response<AnswerBody> {
        let roots: Vec<String> =
            self.validator.roots().iter().map(|root| BASE64_STANDARD.encode(&root.der)).collect();
        answer::json(json!({ "certificates": roots }).to_string())
    }

    /// A bundle of the tree as far as it is sequenced.
    pub(crate) fn bundle(&self, tile: &TileId) -> Option<Bytes> {
        self.store.bundle(tile)
    }

    fn names(&self, tile: &TileId) -> Option<Bytes> {
        self.bundle(&TileId { level: Level::Data, ..*tile }).map(|bundle| names::tile(&bundle).into())
    }

    fn is_forgotten(&self, tile: &TileId) -> bool {
        let leaves_of_one = match tile.level {
            Level::Hashes(level) => {
                1_u64.checked_shl(u32::from(level) * u32::from(HEIGHT)).unwrap_or(u64::MAX)
            }
            _ => 1,
        };
        let end = tile.first().saturating_add(tile.width.into()).saturating_mul(leaves_of_one);
        end <= self.read_tree(|sequenced| sequenced.kept_from)
    }

    /// A hash tile; a partial one is gone once the full one exists, as where partial tiles are collected.
    fn hash_tile(&self, tile: &TileId) -> Option<Bytes> {
        self.read_tree(|sequenced| {
            let tree = sequenced.served();
            let superseded = !tile.is_full() && store::hash_tile(tree, &tile.full()).is_some();
            if superseded { None } else { store::hash_tile(tree, tile) }
        })
        .map(|mut bytes| {
            if let Some(lies) = &self.lies {
                lies.tamper(tile, &mut bytes);
            }
            Bytes::from(bytes)
        })
    }
}

fn not_found(what: &str) -> Response<AnswerBody> {
    answer::error(StatusCode::NOT_FOUND, &format!("{what} is not here"))
}

const OCTETS: &str = "application/octet-stream";
const JSON_LINES: &str = "application/jsonl; charset=utf-8";
