//! Processes, as `/proc` tells of them (proc(5)).

use std::fs::{self, File};
use std::io::Read as _;

/// The first bytes of a program's name, which changes where a process becomes another program.
pub(super) type ProgramName = [u8; 16];

/// What `/proc/PID/stat` says of a process. Times are in ticks of [`TICKS_PER_SECOND`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessStat {
    /// Its number, which another process may have once it has gone.
    pub(super) pid: u32,
    /// The name of its program, cut off by the kernel.
    pub(super) name: ProgramName,
    /// Who started it, or waits for it now.
    pub(super) parent: u32,
    /// When it started, since the machine did: with `pid`, no other process is the same.
    pub(super) started: u64,
    /// User time that it used itself.
    pub(super) user: u64,
    /// System time that it used itself.
    pub(super) system: u64,
    /// Time of children that it has waited for, and of theirs.
    pub(super) waited: u64,
    /// Resident pages.
    pub(super) resident_pages: u64,
}

impl ProcessStat {
    /// Reads the one line of the file; `None` where it is none.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (pid, rest) = line.split_once(' ')?;
        // The command's name may hold anything but its last parenthesis; what follows is counted from field 3.
        let (program, rest) = rest.rsplit_once(')')?;
        let mut name = ProgramName::default();
        name.iter_mut().zip(program.bytes().skip(1)).for_each(|(byte, given)| *byte = given);
        let mut numbers = [0; FIELDS];
        for (place, field) in rest.split_ascii_whitespace().take(FIELDS).enumerate() {
            // The state is a letter, and what is -1 is not asked for.
            numbers[place] = field.parse().unwrap_or(0);
        }
        let field = |number: usize| numbers[number - 3];
        Some(Self {
            pid: pid.parse().ok()?,
            name,
            parent: u32::try_from(field(4)).ok()?,
            started: field(22),
            user: field(14),
            system: field(15),
            waited: field(16) + field(17),
            resident_pages: field(24),
        })
    }

    /// Time that it used itself.
    pub(super) const fn own(&self) -> u64 {
        self.user + self.system
    }
}

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

/// Up to resident pages (field 24), from the state (field 3).
const FIELDS: usize = 22;

/// USER_HZ, 100 on every architecture of Linux that runs Rust's standard library.
pub(super) const TICKS_PER_SECOND: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_moves_no_field() {
        let line = "42 (a) b (c) S 7 42 42 0 -1 4194560 1 2 3 4 100 20 30 4 20 0 8 0 900 1000 55 18446744073709551615";
        let read = ProcessStat::parse(line).unwrap();
        let expected = ProcessStat {
            pid: 42,
            name: *b"a) b (c\0\0\0\0\0\0\0\0\0",
            parent: 7,
            started: 900,
            user: 100,
            system: 20,
            waited: 34,
            resident_pages: 55,
        };
        assert_eq!(read, expected);
        assert_eq!(ProcessStat::parse("no process"), None);
    }

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
