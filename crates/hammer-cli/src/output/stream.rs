//! A file that is written: opened ahead of the first request, and emptied by what is written first.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::OutputError;

/// A file that can be written. It is emptied by what is written first: what it held stays when the run is refused before. One that was made for
/// it, and that nothing came to be written to, is gone with it: a report of no bytes would be taken for one that was lost.
pub(super) struct Sink {
    pub(super) path: PathBuf,
    file: File,
    /// It was made for this, and nothing was written yet.
    is_new: bool,
}

/// A file in which runs follow one another.
pub(super) struct Stream {
    sink: Sink,
    is_started: bool,
}

impl Sink {
    /// Opens what that flag, or that key of the plan, names.
    pub(super) fn open(named: &'static str, path: &Path) -> Result<Self, OutputError> {
        let failed = |source| OutputError::Unopened { named, path: path.to_owned(), source };
        let options = || {
            let mut options = File::options();
            options.write(true).truncate(false);
            options
        };
        let (file, is_new) = match options().create_new(true).open(path) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // A link that leads nowhere is there, and what it names is made.
                (options().create(true).open(path).map_err(failed)?, false)
            }
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { path: path.to_owned(), file, is_new })
    }

    /// The file without what it held; a pipe or a terminal holds nothing.
    pub(super) fn emptied(&mut self) -> io::Result<&mut File> {
        self.is_new = false;
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        Ok(&mut self.file)
    }
}

impl Stream {
    /// Opens what that flag, or that key of the plan, names.
    pub(super) fn open(named: &'static str, path: &Path) -> Result<Self, OutputError> {
        Ok(Self { sink: Sink::open(named, path)?, is_started: false })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.sink.path
    }

    /// A writer behind what the runs before have written.
    pub(super) fn writer(&mut self) -> io::Result<Box<dyn Write + Send>> {
        let is_started = std::mem::replace(&mut self.is_started, true);
        let file = if is_started { &mut self.sink.file } else { self.sink.emptied()? };
        Ok(Box::new(BufWriter::new(file.try_clone()?)))
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        // Somebody else may have written to it since.
        if self.is_new && self.file.metadata().is_ok_and(|found| found.is_file() && found.len() == 0) {
            // Nothing is lost where it cannot be removed.
            let _ = fs::remove_file(&self.path);
        }
    }
}
