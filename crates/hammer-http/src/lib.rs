//! Load on any HTTP endpoint.
