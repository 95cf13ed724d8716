//! The answers that a shard waits for, and whether they wake it. In an open loop it wakes for every arrival anyway and can read then
//! what has come in, since the kernel says when it came: that is one wake-up for an operation in place of two. What arrives is noted
//! at the same instant either way.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hammer_measure::Nanos;

/// Something that answers come from: the sockets of a client.
pub trait AnswerSource {
    /// Takes what has come in and did not wake the shard, and wakes whoever waits for it.
    fn take(&self);

    /// Whether what comes in may wait for the next [`AnswerSource::take`]. Where it may not, it wakes the shard at once; where it
    /// may, it need not wait. Asked whenever the shard is about to sleep.
    fn let_wait(&self, may_wait: bool);
}

/// The answers that a shard waits for. Its clones are the same.
#[derive(Clone, Default)]
pub struct ShardAnswers {
    shared: Rc<AwaitedAnswers>,
}

#[derive(Default)]
struct AwaitedAnswers {
    sources: RefCell<Vec<Rc<dyn AnswerSource>>>,
    wanted: Cell<usize>,
    within: Cell<Option<Nanos>>,
}

/// The wish that answers wake the shard, for as long as this lives: something goes on behind them.
#[must_use = "answers wake the shard until this is dropped"]
pub struct WantedAnswer {
    shared: Rc<AwaitedAnswers>,
}

impl ShardAnswers {
    /// Answers come from `source`, too, and wait no longer than `within`.
    pub fn add(&self, source: Rc<dyn AnswerSource>, within: Nanos) {
        let shortest = self.shared.within.get().map_or(within, |known| known.min(within));
        self.shared.within.set(Some(shortest));
        self.shared.sources.borrow_mut().push(source);
    }

    /// The longest that answers may wait; `None` where none comes from anywhere that lets it.
    pub(crate) fn within(&self) -> Option<Nanos> {
        self.shared.within.get()
    }

    /// Answers wake the shard as long as what is returned lives.
    pub(crate) fn want(&self) -> WantedAnswer {
        self.shared.wanted.set(self.shared.wanted.get() + 1);
        if self.shared.wanted.get() == 1 {
            self.wake_at_once();
        }
        WantedAnswer { shared: Rc::clone(&self.shared) }
    }

    /// From now on answers wake the shard, until it next asks.
    pub(crate) fn wake_at_once(&self) {
        self.shared.sources.borrow().iter().for_each(|source| source.let_wait(false));
    }

    /// The shard sleeps: its lanes say whether answers may wait. Returns how long they may, if so.
    pub(crate) fn let_wait(&self, may_wait: bool) -> Option<Nanos> {
        let may_wait = may_wait && self.shared.wanted.get() == 0;
        self.shared.sources.borrow().iter().for_each(|source| source.let_wait(may_wait));
        self.shared.within.get().filter(|_| may_wait)
    }

    /// The shard is awake: what came in while nobody was woken is read now.
    pub(crate) fn take(&self) {
        self.shared.sources.borrow().iter().for_each(|source| source.take());
    }
}

impl Drop for WantedAnswer {
    fn drop(&mut self) {
        self.shared.wanted.set(self.shared.wanted.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Noted {
        may_wait: Cell<bool>,
        taken: Cell<usize>,
    }

    impl AnswerSource for Noted {
        fn take(&self) {
            self.taken.set(self.taken.get() + 1);
        }

        fn let_wait(&self, may_wait: bool) {
            self.may_wait.set(may_wait);
        }
    }

    #[test]
    fn answers_wait_where_all_lanes_let_them_and_nothing_goes_on_behind_one() {
        let (answers, source) = (ShardAnswers::default(), Rc::new(Noted::default()));
        answers.add(source.clone(), Nanos::from_millis(10));
        answers.add(source.clone(), Nanos::from_millis(2));
        assert_eq!(answers.let_wait(true), Some(Nanos::from_millis(2)));
        assert!(source.may_wait.get());
        assert_eq!(answers.let_wait(false), None);
        assert!(!source.may_wait.get());
        let _ = answers.let_wait(true);
        let wanted = answers.want();
        assert!(!source.may_wait.get(), "at once");
        assert_eq!(answers.let_wait(true), None);
        drop(wanted);
        assert!(answers.let_wait(true).is_some() && source.may_wait.get());
        answers.take();
        assert_eq!(source.taken.get(), 2);
    }
}
