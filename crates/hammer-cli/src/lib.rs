//! The hammer command: arguments, plans, assembly, exit codes.
