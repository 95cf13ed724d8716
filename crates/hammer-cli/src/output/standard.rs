//! The standard streams, and what becomes of what nobody takes.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_getfl};

use crate::error::OutputError;
use crate::plan::source::PlanSource;

/// Says what must be known about how a plan was read, where no report says it.
pub(crate) fn say_notes(source: &PlanSource) -> Result<(), OutputError> {
    say_all(source.notes())
}

/// Says notes of which no report has any.
pub(crate) fn say_all(notes: &[String]) -> Result<(), OutputError> {
    print(io::stderr(), |out| notes.iter().try_for_each(|note| writeln!(out, "hammer: note: {note}")))
}

/// Writes what was found to standard output, whose reader has to be there for it.
pub(super) fn deliver(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut stdout = io::stdout();
    write(&mut stdout)?;
    stdout.flush()
}

/// Whether the command may have been started without a standard output, in whose place there is /dev/null then, to read and to write. A shell opens
/// that to write alone; a program that opens it to read as well (as Python's `DEVNULL`) cannot be told from one that closed it.
pub(super) fn stdout_is_closed() -> bool {
    let may_read = fcntl_getfl(io::stdout()).is_ok_and(|flags| flags & OFlags::ACCMODE == OFlags::RDWR);
    may_read && fs::read_link("/proc/self/fd/1").is_ok_and(|path| path == Path::new("/dev/null"))
}

pub(super) const STANDARD_OUTPUT: &str = "standard output";

/// Writes to a standard stream; a reader that went away is no error.
pub(crate) fn print(
    mut stream: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    match write(&mut stream).and_then(|()| stream.flush()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => Err(OutputError::Printed(source)),
        _ => Ok(()),
    }
}
