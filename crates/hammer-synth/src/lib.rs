//! Deterministic keys, signatures and certificates: no network, no clock.
