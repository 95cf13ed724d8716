//! Processes, as `/proc` tells of them (proc(5)).

use std::fs::{self, File};
use std::io::Read as _;

use hammer_pages::proc::ProcessStat;

/// Reads files of `/proc` into the same room again and again.
#[derive(Debug, Default)]
pub(super) struct ProcReader {
    path: String,
    text: Vec<u8>,
}

impl ProcReader {
    /// The text of `/proc/<file>`; `None` where it cannot be read, as of a process that has gone.
    pub(super) fn read(&mut self, file: &str) -> Option<&str> {
        self.path.clear();
        self.path.extend(["/proc/", file]);
        self.text.clear();
        File::open(&self.path).and_then(|mut file| file.read_to_end(&mut self.text)).ok()?;
        std::str::from_utf8(&self.text).ok()
    }

    /// Whether there is a process of that number.
    pub(super) fn is_there(&mut self, pid: u32) -> bool {
        let stat = self.read(&format!("{pid}/stat")).and_then(ProcessStat::parse);
        stat.is_some_and(|process| !process.has_ended)
    }

    /// Every process of the machine, by number.
    pub(super) fn processes(&mut self, all: &mut Vec<ProcessStat>) {
        all.clear();
        let Ok(entries) = fs::read_dir("/proc") else { return };
        let mut file = String::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            else {
                continue;
            };
            file.clear();
            file.extend([pid, "/stat"]);
            // The name of a command may hold any byte.
            all.extend(self.read(&file).and_then(ProcessStat::parse));
        }
        all.sort_unstable_by_key(|process| process.pid);
    }

    /// Whether the command line of a process, its arguments parted by spaces, holds `text`.
    pub(super) fn command_line_holds(&mut self, pid: u32, text: &str) -> bool {
        let found = self.read(&format!("{pid}/cmdline"));
        found.is_some_and(|arguments| arguments.replace('\0', " ").contains(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_among_all_and_knows_its_command_line() {
        let (mut reader, mut all) = (ProcReader::default(), Vec::new());
        reader.processes(&mut all);
        let own = all.iter().find(|process| process.pid == std::process::id()).unwrap();
        assert!(own.resident_pages > 0 && own.started > 0);
        let name = std::env::args().next().unwrap();
        assert!(reader.command_line_holds(own.pid, &name));
        assert!(!reader.command_line_holds(own.pid, "no such program"));
    }
}
