//! The way into a run: commands and interrupts from other threads.

use std::sync::mpsc;

use hammer_measure::Command;

use crate::message::Message;

/// Commands on their way into a run; cheap to clone and to send to another thread.
#[derive(Clone, Debug)]
pub struct Control {
    messages: mpsc::Sender<Message>,
}

/// The run's end of a [`Control`].
#[derive(Debug)]
pub struct Inbox {
    pub(super) messages: mpsc::Receiver<Message>,
    pub(super) sender: mpsc::Sender<Message>,
}

/// A control and the inbox that it reaches.
pub fn control() -> (Control, Inbox) {
    let (sender, messages) = mpsc::channel();
    (Control { messages: sender.clone() }, Inbox { messages, sender })
}

impl Control {
    /// Sends a command; one that comes after the end changes nothing.
    pub fn command(&self, command: Command) {
        let _ = self.messages.send(Message::Command(command));
    }

    /// Ends what the run is at, as a signal asks for: its opening, its arrivals, which drain, or else its drain.
    pub fn interrupt(&self) {
        let _ = self.messages.send(Message::Interrupt);
    }
}
