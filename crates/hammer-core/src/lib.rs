//! When to send, and keeping that promise: knows no protocol, terminal or file format.
