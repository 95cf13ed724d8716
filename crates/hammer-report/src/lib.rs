//! What a run says afterwards: JSON, the public schema, and text made from it.
