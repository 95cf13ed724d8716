//! Load on Certificate Transparency logs: RFC 6962 and static-ct-api.
