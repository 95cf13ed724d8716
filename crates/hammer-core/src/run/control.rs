//! The way into a run: commands and interrupts from other threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use hammer_measure::{Command, CommandId};

use crate::message::Message;

/// Commands on their way into a run; cheap to clone and to send to another thread.
#[derive(Clone, Debug)]
pub struct Control {
    messages: mpsc::Sender<Message>,
    /// How many commands were sent, whoever sent them.
    sent: Arc<AtomicU64>,
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
    (Control { messages: sender.clone(), sent: Arc::default() }, Inbox { messages, sender })
}

impl Control {
    /// Sends a command, which is answered by an event with that number; one that comes after the end changes nothing, and has no answer.
    pub fn command(&self, command: Command) -> CommandId {
        let id = self.next_id();
        self.command_as(id, command);
        id
    }

    /// A number for a command that is sent later: whoever waits for its answer knows it by then.
    pub fn next_id(&self) -> CommandId {
        CommandId(self.sent.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Sends a command under a number that [`Control::next_id`] gave.
    pub fn command_as(&self, id: CommandId, command: Command) {
        let _ = self.messages.send(Message::Command(id, command));
    }

    /// Ends what the run is at, as a signal asks for: its opening, its arrivals, which drain, or else its drain.
    pub fn interrupt(&self) {
        let _ = self.messages.send(Message::Interrupt);
    }
}
