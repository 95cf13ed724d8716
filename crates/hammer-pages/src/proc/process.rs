//! Processes.

/// The first bytes of a program's name, which changes where a process becomes another program.
pub type ProgramName = [u8; 16];

/// What `/proc/PID/stat` says of a process. Times are in ticks (USER_HZ).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// Its number, which another process may have once it has gone.
    pub pid: u32,
    /// The name of its program, cut off by the kernel.
    pub name: ProgramName,
    /// Whether it has ended and nobody has waited for it yet: its times are still told, and it has no memory any more.
    pub has_ended: bool,
    /// Who started it, or waits for it now.
    pub parent: u32,
    /// When it started, since the machine did: with `pid`, no other process is the same.
    pub started: u64,
    /// User time that it used itself.
    pub user: u64,
    /// System time that it used itself.
    pub system: u64,
    /// Time of children that it has waited for, and of theirs.
    pub waited: u64,
    /// Resident pages.
    pub resident_pages: u64,
}

impl ProcessStat {
    /// Reads the one line of the file; `None` where it is none.
    pub fn parse(line: &str) -> Option<Self> {
        let (pid, rest) = line.split_once(' ')?;
        // The command's name may hold anything but its last parenthesis; what follows is counted from field 3.
        let (program, rest) = rest.rsplit_once(')')?;
        let mut name = ProgramName::default();
        name.iter_mut().zip(program.bytes().skip(1)).for_each(|(byte, given)| *byte = given);
        let has_ended = rest.trim_start().starts_with(['Z', 'X']);
        let mut numbers = [0; FIELDS];
        for (place, field) in rest.split_ascii_whitespace().take(FIELDS).enumerate() {
            // The state is a letter, and what is -1 is not asked for.
            numbers[place] = field.parse().unwrap_or(0);
        }
        let field = |number: usize| numbers[number - 3];
        Some(Self {
            pid: pid.parse().ok()?,
            name,
            has_ended,
            parent: u32::try_from(field(4)).ok()?,
            started: field(22),
            user: field(14),
            system: field(15),
            waited: field(16).saturating_add(field(17)),
            resident_pages: field(24),
        })
    }

    /// Time that it used itself.
    pub const fn own(&self) -> u64 {
        self.user.saturating_add(self.system)
    }
}

/// Up to resident pages (field 24), from the state (field 3).
const FIELDS: usize = 22;

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
            has_ended: false,
            parent: 7,
            started: 900,
            user: 100,
            system: 20,
            waited: 34,
            resident_pages: 55,
        };
        assert_eq!(read, expected);
        let ended = ProcessStat::parse(&line.replace(" S 7 ", " Z 7 ")).unwrap();
        assert_eq!(ended, ProcessStat { has_ended: true, ..expected });
        assert_eq!(ProcessStat::parse("no process"), None);
    }
}
