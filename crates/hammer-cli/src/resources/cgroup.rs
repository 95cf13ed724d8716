//! A control group of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use hammer_pages::cgroup::{self, CgroupCpu};

use super::counter::CpuCounter;

/// Which group is a component.
#[derive(Clone, Debug)]
pub(crate) enum CgroupSelector {
    /// That of this folder, absolute or below the root of the hierarchy.
    Folder(PathBuf),
    /// That of the process of this number.
    Pid(u32),
    /// The first whose folder has this name.
    Unit(String),
}

/// The files of one group.
#[derive(Debug)]
pub(super) struct FollowedCgroup {
    selector: CgroupSelector,
    /// Where it was found; looked for again once it is not there any more.
    folder: Option<PathBuf>,
    used: CpuCounter,
    held_back: CpuCounter,
}

/// What the processes of a group used since it was looked at first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CgroupUse {
    /// CPU seconds.
    pub(super) cpu: f64,
    /// Seconds for which a limit of CPU held them back, added up over them.
    pub(super) held_back: f64,
    /// Memory now, bytes; the root has no file of it.
    pub(super) memory: Option<u64>,
}

impl FollowedCgroup {
    /// Nobody has looked for it yet.
    pub(super) fn new(selector: CgroupSelector) -> Self {
        let [used, held_back] = [CpuCounter::default(), CpuCounter::default()];
        Self { selector, folder: None, used, held_back }
    }

    /// What its files say now; `None` where it is not there.
    pub(super) fn look(&mut self) -> Option<CgroupUse> {
        let folder = self.folder.take().or_else(|| self.selector.folder())?;
        let cpu = CgroupCpu::parse(&fs::read_to_string(folder.join("cpu.stat")).ok()?)?;
        let memory = fs::read_to_string(folder.join("memory.current")).ok();
        self.folder = Some(folder);
        Some(CgroupUse {
            cpu: self.used.look(cpu.usage_us as f64 / 1e6),
            held_back: self.held_back.look(cpu.throttled_us as f64 / 1e6),
            memory: memory.and_then(|text| text.trim().parse().ok()),
        })
    }
}

impl CgroupSelector {
    /// Its folder, where it is there.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::Folder(path) if path.is_absolute() => Some(path.clone()),
            Self::Folder(path) => Some(root()?.join(path)),
            Self::Pid(pid) => {
                let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
                Some(root()?.join(cgroup::of_process(&text)?.trim_start_matches('/')))
            }
            Self::Unit(name) => find(&root()?, name, MOST_DEPTH),
        }
    }
}

/// The root of the hierarchy of version 2.
pub(super) fn root() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    cgroup::mount(&mounts).map(PathBuf::from)
}

/// The folder of that name below `folder`.
fn find(folder: &Path, name: &str, depth: usize) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let folders: Vec<_> = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).collect();
    let here = folders.iter().find(|entry| entry.file_name().to_str() == Some(name));
    here.map(fs::DirEntry::path).or_else(|| {
        let depth = depth.checked_sub(1)?;
        folders.iter().find_map(|entry| find(&entry.path(), name, depth))
    })
}

const MOST_DEPTH: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_found_wherever_its_folder_is() {
        let root = tempfile::tempdir().unwrap();
        let slice = root.path().join("system.slice/system-rekor.slice");
        fs::create_dir_all(slice.join("rekor.service")).unwrap();
        fs::write(root.path().join("fulcio.service"), "no folder").unwrap();
        assert_eq!(find(root.path(), "rekor.service", MOST_DEPTH), Some(slice.join("rekor.service")));
        assert_eq!(find(root.path(), "fulcio.service", MOST_DEPTH), None);
        assert_eq!(find(root.path(), "rekor.service", 1), None);
    }
}
