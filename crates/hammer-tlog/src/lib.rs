//! Transparency-log primitives as pure bytes: Merkle trees, tiles, signed notes, RFC 6962 structures.
