//! The files of the bundles of a run.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::SigstoreError;
use crate::plan::BundlesPlan;

/// Where the bundles of a workload go: of the first flows that end well, as many as its plan says.
#[derive(Debug)]
pub struct BundleFiles {
    place: BundlePlace,
    workload: String,
    most: usize,
    /// Of how many flows there may be one yet. Shards only ask and take.
    left: AtomicUsize,
    written: AtomicUsize,
    failed: Mutex<Option<(PathBuf, io::Error)>>,
}

#[derive(Debug)]
enum BundlePlace {
    File(PathBuf),
    Folder(PathBuf),
}

impl BundleFiles {
    /// The files of a plan, for the workload of that name. A folder is made, and a file opened without what it held being lost.
    ///
    /// # Errors
    /// When that cannot be.
    pub fn open(plan: &BundlesPlan, workload: &str) -> Result<Self, SigstoreError> {
        let place = match (&plan.file, &plan.folder) {
            (Some(file), _) => BundlePlace::File(file.clone()),
            (None, folder) => BundlePlace::Folder(folder.clone().unwrap_or_default()),
        };
        let opened = match &place {
            BundlePlace::File(path) => {
                OpenOptions::new().create(true).append(true).open(path).map(drop).map_err(|why| (path, why))
            }
            BundlePlace::Folder(path) => fs::create_dir_all(path).map_err(|why| (path, why)),
        };
        opened.map_err(|(path, source)| SigstoreError::Bundles { path: path.clone(), source })?;
        Ok(Self {
            place,
            workload: workload.to_owned(),
            most: plan.most(),
            left: AtomicUsize::new(plan.most()),
            written: AtomicUsize::new(0),
            failed: Mutex::default(),
        })
    }

    /// Whether a flow that starts may be one that leaves a bundle.
    pub(crate) fn is_wanted(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    /// Takes the place of one bundle, where there is one.
    pub(crate) fn take_place(&self) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Writes the bundle of the flow `seq`, and beside it what was signed.
    pub(crate) fn write(&self, seq: u64, bundle: &str, artifact: &[u8]) {
        let written = match &self.place {
            BundlePlace::File(path) => put(path, bundle.as_bytes()),
            BundlePlace::Folder(folder) => {
                let name = format!("{}-{seq}", self.workload);
                put(&folder.join(&name), artifact)
                    .and_then(|()| put(&folder.join(format!("{name}.sigstore.json")), bundle.as_bytes()))
            }
        };
        match written {
            Ok(()) => {
                self.written.fetch_add(1, Ordering::Relaxed);
            }
            Err(failed) => {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failed);
            }
        }
    }

    /// What became of them, once the run is over.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn finish(&self) -> Result<String, (PathBuf, io::Error)> {
        if let Some(failed) = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(failed);
        }
        let (written, most) = (self.written.load(Ordering::Relaxed), self.most);
        let path = match &self.place {
            BundlePlace::File(path) | BundlePlace::Folder(path) => path.display(),
        };
        let few = if written < most { format!(" of {most}") } else { String::new() };
        let bundles = if most == 1 { "bundle is" } else { "bundles are" };
        Ok(format!("{written}{few} {bundles} in {path}"))
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), (PathBuf, io::Error)> {
    fs::write(path, bytes).map_err(|why| (path.to_owned(), why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("hammer-bundle-files-{}-{name}", std::process::id()))
    }

    #[test]
    fn as_many_flows_leave_a_bundle_as_the_plan_says_and_no_more() {
        let folder = folder("few");
        let first = Some(hammer_values::Count::at_least_one(2));
        let plan = BundlesPlan { folder: Some(folder.clone()), first, ..BundlesPlan::default() };
        let files = BundleFiles::open(&plan, "sign").unwrap();
        assert!(files.is_wanted() && files.take_place() && files.take_place());
        assert!(!files.is_wanted() && !files.take_place());
        files.write(7, "{}", b"artifact");
        assert_eq!(fs::read(folder.join("sign-7")).unwrap(), b"artifact");
        assert_eq!(fs::read(folder.join("sign-7.sigstore.json")).unwrap(), b"{}");
        assert_eq!(files.finish().unwrap(), format!("1 of 2 bundles are in {}", folder.display()));
        fs::remove_dir_all(&folder).unwrap();
        files.write(8, "{}", b"artifact");
        assert_eq!(files.finish().unwrap_err().0, folder.join("sign-8"));
    }

    #[test]
    fn a_file_keeps_what_it_held_until_there_is_a_bundle() {
        let path = folder("file");
        fs::write(&path, "before").unwrap();
        let plan = BundlesPlan { file: Some(path.clone()), ..BundlesPlan::default() };
        let files = BundleFiles::open(&plan, "sign").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before");
        files.write(0, "{}", b"artifact");
        assert_eq!(fs::read(&path).unwrap(), b"{}");
        fs::remove_file(&path).unwrap();
        let nowhere = BundlesPlan { file: Some("/nowhere/b.json".into()), ..BundlesPlan::default() };
        assert!(matches!(BundleFiles::open(&nowhere, "sign"), Err(SigstoreError::Bundles { .. })));
    }
}
