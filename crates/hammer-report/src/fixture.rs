//! Runs made by hand for the tests.
