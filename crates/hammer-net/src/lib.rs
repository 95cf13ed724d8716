//! Dialling and its guard, TLS, HTTP/1.1 and HTTP/2, wire times, and balancing over endpoints.
