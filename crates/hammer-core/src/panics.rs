//! Threads of a run tell it when they end by a panic, so that none is missed silently.

use std::thread;

/// Tells somebody when the thread that it lives on unwinds.
pub(crate) struct PanicGuard<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> PanicGuard<F> {
    /// `panicked` is called on the thread that panics.
    pub(crate) fn new(panicked: F) -> Self {
        Self(Some(panicked))
    }
}

impl<F: FnOnce()> Drop for PanicGuard<F> {
    fn drop(&mut self) {
        if thread::panicking()
            && let Some(panicked) = self.0.take()
        {
            panicked();
        }
    }
}
