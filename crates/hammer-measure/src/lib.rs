//! What happened, and the words to tell it: no clock, no I/O, no async runtime.
