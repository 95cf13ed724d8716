//! Files that somebody gives, of which is known whether they are valid.

use std::path::PathBuf;

use super::Shown;
use super::judge::Truth;
use super::signed_file::SignedFile;
use crate::error::PkiError;
use crate::plan::ValidatePlan;
use crate::signed_file_form::SignedFileForm;

/// One of them.
#[derive(Debug)]
struct GivenFile {
    name: String,
    truth: Truth,
    file: SignedFile,
}

/// All of them, which are shown in turn.
#[derive(Debug)]
pub struct GivenFiles {
    files: Vec<GivenFile>,
    forms: Vec<SignedFileForm>,
}

impl GivenFiles {
    /// Those that a plan names; none where it names none.
    ///
    /// # Errors
    /// A file that cannot be read, is of another form, or has to be altered and cannot.
    pub fn read(plan: &ValidatePlan) -> Result<Option<Self>, PkiError> {
        let is_altered = plan.altered.of_1() > 0.0;
        let named = [
            (Truth::Valid, &plan.valid),
            (Truth::Invalid, &plan.invalid),
            (Truth::Indeterminate, &plan.indeterminate),
        ];
        let each = named.into_iter().flat_map(|(truth, paths)| paths.iter().map(move |path| (truth, path)));
        let files: Result<Vec<_>, _> =
            each.map(|(truth, path)| GivenFile::read(truth, path, is_altered)).collect();
        let files = files?;
        let mut forms: Vec<SignedFileForm> = files.iter().map(|given| given.file.form()).collect();
        forms.sort();
        forms.dedup();
        Ok((!files.is_empty()).then_some(Self { files, forms }))
    }

    /// The forms that there are, each a series.
    pub(super) fn forms(&self) -> &[SignedFileForm] {
        &self.forms
    }

    /// Which of them the file of an operation is.
    pub(super) fn series_of(&self, seq: u64) -> usize {
        let form = self.of(seq).map(|given| given.file.form());
        self.forms.iter().position(|known| Some(*known) == form).unwrap_or_default()
    }

    /// What an operation shows.
    pub(super) fn shown(&self, seq: u64) -> Option<Shown<'_>> {
        self.of(seq).map(|given| (&given.file, given.truth, given.name.as_str()))
    }

    /// The place of the file that an operation shows.
    pub(super) fn place_of(&self, seq: u64) -> usize {
        (seq % self.files.len().max(1) as u64) as usize
    }

    fn of(&self, seq: u64) -> Option<&GivenFile> {
        self.files.get(self.place_of(seq))
    }
}

impl GivenFile {
    fn read(truth: Truth, path: &PathBuf, is_altered: bool) -> Result<Self, PkiError> {
        let key = match truth {
            Truth::Valid => "valid",
            Truth::Altered | Truth::Invalid => "invalid",
            Truth::Indeterminate => "indeterminate",
        };
        let bytes =
            std::fs::read(path).map_err(|source| PkiError::Read { path: path.clone(), key, source })?;
        let file = SignedFile::new(bytes);
        let file =
            file.map_err(|why| PkiError::SignedFile { path: path.clone(), key, source: why.into() })?;
        let unalterable = |why| PkiError::SignedFile { path: path.clone(), key, source: why };
        let file = match is_altered && truth == Truth::Valid {
            true => file.alterable().map_err(|why| unalterable(Box::new(why)))?,
            false => file,
        };
        Ok(Self { name: path.display().to_string(), truth, file })
    }
}
