//! What protocols remember from one run of a plan to the next, as long as its target goes on.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// What earlier runs left in the target, by a name of the protocol's own.
#[derive(Default)]
pub(crate) struct EarlierRuns {
    by_name: RefCell<BTreeMap<&'static str, Rc<dyn Any>>>,
}

impl EarlierRuns {
    /// What stands under that name, as it was left; the default where nothing was, or something of another type.
    pub(crate) fn of<T: Clone + Default + 'static>(&self, name: &'static str) -> T {
        let mut by_name = self.by_name.borrow_mut();
        let left = by_name.entry(name).or_insert_with(|| Rc::new(T::default()));
        left.downcast_ref::<T>().cloned().unwrap_or_default()
    }

    /// Nothing is left of earlier runs.
    pub(crate) fn forget(&self) {
        self.by_name.borrow_mut().clear();
    }
}

impl fmt::Debug for EarlierRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.borrow().keys()).finish()
    }
}
