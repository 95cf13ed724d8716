//! A row of the table: something done wrong, and the bench on which it is done.

use std::fs;

use crate::folder::Folder;
use crate::hammer::{Ended, Started, command};
use crate::plan::PLAN;
use crate::plans;

/// Something done wrong.
pub(crate) struct Row {
    /// In words.
    pub(crate) done: &'static str,
    deed: Deed,
    /// The exit code that it has.
    pub(crate) code: i32,
    /// Whether the message names the plan.
    pub(crate) is_placed: bool,
}

enum Deed {
    /// A plan that is right but for one part of it.
    Edited { plan: &'static str, from: &'static str, to: &'static str },
    /// A plan that is as it stands here.
    Plan(&'static str),
    /// A command line.
    Asked(&'static [&'static str]),
}

/// A part of the plan for a URL is replaced.
pub(crate) const fn edit(done: &'static str, from: &'static str, to: &'static str) -> Row {
    edit_of(PLAN, done, from, to)
}

/// A part of that plan is replaced.
pub(crate) const fn edit_of(
    plan: &'static str,
    done: &'static str,
    from: &'static str,
    to: &'static str,
) -> Row {
    Row { done, deed: Deed::Edited { plan, from, to }, code: 2, is_placed: true }
}

/// The whole plan is this.
pub(crate) const fn plan(done: &'static str, plan: &'static str) -> Row {
    Row { done, deed: Deed::Plan(plan), code: 2, is_placed: true }
}

/// This is the command line.
pub(crate) const fn asked(done: &'static str, args: &'static [&'static str]) -> Row {
    Row { done, deed: Deed::Asked(args), code: 2, is_placed: false }
}

impl Row {
    /// What was written, as the table shows it.
    pub(crate) fn written(&self) -> String {
        match self.deed {
            Deed::Edited { to: "", from, .. } => format!("without {from:?}\n"),
            Deed::Edited { to, .. } => format!("{}\n", to.trim_start_matches('\n')),
            Deed::Plan(text) => format!("{text:?}\n"),
            Deed::Asked(args) => format!("$ hammer {}\n", args.join(" ").replace('\n', "\\n")),
        }
    }

    /// The same where what is wrong is found beyond the plan.
    pub(crate) const fn beyond_the_plan(self) -> Self {
        Self { is_placed: false, ..self }
    }
}

/// A folder with what rows name.
pub(crate) struct Bench(Folder);

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        for (name, text) in plans::FILES {
            folder.write(name, text);
        }
        folder.write("text.bin", "");
        fs::write(folder.path("text.bin"), [0xff, 0xfe, 0x00, b'a']).unwrap();
        fs::create_dir(folder.path("folder")).unwrap();
        for (name, key) in [("one", "one-key"), ("other", "other-key")] {
            let made = rcgen::generate_simple_self_signed([format!("{name}.test")]).unwrap();
            folder.write(&format!("{name}.pem"), &made.cert.pem());
            folder.write(&format!("{key}.pem"), &made.signing_key.serialize_pem());
        }
        Self(folder)
    }

    /// Does it, in that folder.
    pub(crate) fn carry_out(&self, row: &Row) -> Ended {
        match row.deed {
            Deed::Edited { plan, from, to } => {
                assert!(plan.contains(from), "{}: {from} is not in the plan", row.done);
                self.run(&plan.replacen(from, to, 1))
            }
            Deed::Plan(text) => self.run(text),
            Deed::Asked(args) => self.hammer(args),
        }
    }

    fn run(&self, plan: &str) -> Ended {
        self.0.write("plan.yaml", plan);
        self.hammer(&["run", "plan.yaml"])
    }

    fn hammer(&self, args: &[&str]) -> Ended {
        let mut command = command(args);
        command.current_dir(self.0.path("."));
        Started::of(command).ended()
    }
}
