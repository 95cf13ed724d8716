//! A folder in which the sections of a page are carried out, each by a shell of its own.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use tempfile::TempDir;

use super::block::{Block, Page, Section};
use super::repository;

/// A folder as a clone is, where `hammer` is the one under test.
pub(crate) struct Workplace(TempDir);

impl Workplace {
    /// With what a page needs to be there.
    pub(crate) fn of(page: &Page) -> Self {
        let workplace = Self(tempfile::tempdir().unwrap());
        workplace.furnish();
        if !page.once.is_empty() {
            workplace.carry_out(&page.path, &page.once.join("\n"));
        }
        workplace
    }

    /// Panics where a section ends otherwise than it says.
    pub(crate) fn carried_out(&self, section: &Section) {
        let blocks = section.blocks.iter().filter(|block| block.not_run.is_none());
        let blocks: Vec<String> = blocks.map(lines_of).collect();
        if !blocks.is_empty() {
            self.carry_out(&section.name, &blocks.join("\n"));
        }
    }

    fn carry_out(&self, name: &str, commands: &str) {
        let (commands, ports) = with_free_ports(commands);
        let prelude = include_str!("prelude.sh").replace("@PORTS@", &ports.join(" "));
        let script = prelude.replace("@FILES@", &said_by_servers(&commands).join(" ")) + &commands;
        let (status, told) = self.shell(&script);
        assert!(status.success(), "{name}: {status}\n{commands}\n--- it said\n{told}");
    }

    fn shell(&self, script: &str) -> (ExitStatus, String) {
        let folder = self.0.path();
        let log = folder.join("session.log");
        let written = fs::File::create(&log).unwrap();
        let status = Command::new("timeout")
            .args(["900", "bash", "-c", script])
            .current_dir(folder)
            .env("PATH", format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap()))
            .env("HOME", folder)
            .env("HAMMER", env!("CARGO_BIN_EXE_hammer"))
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .stdout(written.try_clone().unwrap())
            .stderr(written)
            .status()
            .unwrap();
        (status, String::from_utf8_lossy(&fs::read(&log).unwrap()).into_owned())
    }

    fn furnish(&self) {
        let folder = self.0.path();
        for name in ["scripts", "docs", "crates"] {
            symlink(repository().join(name), folder.join(name)).unwrap();
        }
        // Plans may be changed.
        let copied = Command::new("cp").arg("-r").arg(repository().join("configs")).arg(folder).status();
        assert!(copied.unwrap().success());
        fs::create_dir(folder.join("bin")).unwrap();
        program(&folder.join("bin/hammer"), include_str!("hammer.sh"));
        program(&folder.join("bin/cargo"), include_str!("cargo.sh"));
    }
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The commands of a block, each with the exit code that its comment says.
fn lines_of(block: &Block) -> String {
    let lines = block.lines.iter().map(|line| match line.split_once("# exit ") {
        Some((command, code)) => {
            let code: String = code.chars().take_while(char::is_ascii_digit).collect();
            format!("ends_with {code} {command}")
        }
        None if block.until_signal && !line.is_empty() => format!("until_it_says_something {line}"),
        None => line.clone(),
    });
    block.with.iter().cloned().chain(lines).collect::<Vec<_>>().join("\n")
}

/// Where a page names a port of loopback, another one that nobody has.
fn with_free_ports(commands: &str) -> (String, Vec<String>) {
    let mut commands = commands.to_owned();
    let mut ports = Vec::new();
    for printed in PORTS {
        let there = format!("127.0.0.1:{printed}");
        if commands.contains(&there) {
            let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            // Others are for what a command itself serves behind it.
            if ["--listen", "--web"].iter().any(|flag| commands.contains(&format!("{flag} {there}"))) {
                ports.push(free.to_string());
            }
            commands = commands.replace(&there, &format!("127.0.0.1:{free}"));
        }
    }
    (commands, ports)
}

/// Where what servers in the background say of themselves goes.
fn said_by_servers(commands: &str) -> Vec<&str> {
    let background = commands
        .split(['\n', ';'])
        .flat_map(|line| line.split_once(" & ").map(|(first, _)| first).or(line.strip_suffix(" &")));
    background.filter_map(|line| line.rsplit_once(" >").map(|(_, file)| file)).collect()
}

/// Those that pages print.
const PORTS: [&str; 4] = ["8080", "8081", "8888", "41235"];
