//! This machine, as `/proc/stat`, `/proc/loadavg` and `/proc/meminfo` tell of it.

use hammer_pages::node::MachineFiles;

use super::process::ProcReader;

/// The texts of these files at an instant.
#[derive(Debug)]
pub(super) struct MachineTexts {
    stat: String,
    loadavg: String,
    meminfo: String,
}

impl MachineTexts {
    /// Reads them now; what cannot be read is empty.
    pub(super) fn read(reader: &mut ProcReader) -> Self {
        let mut text = |file: &str| reader.read(file).unwrap_or_default().to_owned();
        Self { stat: text("stat"), loadavg: text("loadavg"), meminfo: text("meminfo") }
    }

    /// The files.
    pub(super) fn files(&self) -> MachineFiles<'_> {
        MachineFiles { stat: &self.stat, loadavg: &self.loadavg, meminfo: &self.meminfo }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_memory_and_has_worked() {
        let look = MachineTexts::read(&mut ProcReader::default()).files().look();
        assert!(
            look.available_bytes > 1 << 20 && look.ticks.all > 0 && look.ticks.user > 0 && look.cores > 0
        );
    }
}
