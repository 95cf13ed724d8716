//! The `hammer` command.

fn main() {}
