//! Messages against the bytes that the services' own definitions give.

mod every_field;
mod health;
mod recorded;
