//! The file that keeps a variant, with which runs of another day are compared.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hammer_compare::{Block, Page, Variant};
use hammer_report::text::number::plural;
use tempfile::Builder;

use crate::args::CompareArgs;
use crate::error::UsageError;

/// What the file holds.
pub(super) enum KeptBaseline<'a> {
    /// A variant.
    There(Box<Variant>),
    /// There is no such file.
    Missing(&'a Path),
}

impl<'a> KeptBaseline<'a> {
    /// Reads it, where it is there.
    pub(super) fn read(path: &'a Path) -> Result<Self, UsageError> {
        // Also a link that leads nowhere is none that something may be written over.
        if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(Self::Missing(path));
        }
        let unread = |source| UsageError::Baseline { path: path.to_owned(), source };
        let variant = Variant::from_baseline(&super::text(path)?).map_err(unread)?;
        Ok(Self::There(Box::new(Variant { label: NAME.to_owned(), ..variant })))
    }
}

/// Keeps the variant; never over a file that is there, and whole or not at all.
pub(super) fn keep(path: &Path, variant: &Variant) -> Result<(), UsageError> {
    let text = json(path, variant)?;
    let written = || -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // As readable as what any other command leaves: the umask says.
        let mut builder = Builder::new();
        let builder = builder.permissions(Permissions::from_mode(0o666));
        let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path)?;
        Ok(())
    };
    written().map_err(|source| UsageError::KeptBaseline { path: path.to_owned(), source })
}

/// What the file has to hold.
pub(super) fn json(path: &Path, variant: &Variant) -> Result<String, UsageError> {
    variant.to_baseline().map_err(|source| UsageError::NoBaseline { path: path.to_owned(), source })
}

/// What is said where a variant was kept and nothing compared.
pub(super) fn told(path: &Path, variant: &Variant, args: &CompareArgs) -> Page {
    let kept = format!("{} of {} are kept", plural(variant.runs.len() as u64, "run"), variant.label);
    let heading = Block::Heading(format!("baseline {}", path.display()));
    let mut lines = vec![format!("{kept}; the next runs are compared with them")];
    if !args.fail_if.is_empty() || !args.sla.is_empty() {
        lines.push(
            "nothing is compared, and no bound or service level is held, before there are others".to_owned(),
        );
    }
    let mut blocks = vec![heading, Block::List(lines)];
    let warnings = variant.warnings();
    if !warnings.is_empty() {
        blocks.extend([Block::Heading("beware".to_owned()), Block::List(warnings)]);
    }
    Page { blocks }
}

/// What the kept variant is called beside others.
pub(super) const NAME: &str = "baseline";
