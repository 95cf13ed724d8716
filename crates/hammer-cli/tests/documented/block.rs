//! Blocks of commands in a page of Markdown.

/// A page, by its headings.
pub(crate) struct Page {
    pub(crate) path: String,
    /// What has to be there for all of it (`<!-- once: COMMANDS -->`).
    pub(crate) once: Vec<String>,
    pub(crate) sections: Vec<Section>,
}

/// What stands between two headings: its blocks are one session of a shell.
pub(crate) struct Section {
    /// The page and the heading.
    pub(crate) name: String,
    pub(crate) blocks: Vec<Block>,
}

/// A block of commands, fenced as `sh`.
#[derive(Default)]
pub(crate) struct Block {
    /// What has to be there before, of which the page does not speak (`<!-- with: COMMANDS -->`).
    pub(crate) with: Vec<String>,
    /// Why it is not carried out (`<!-- not run: WHY -->`).
    pub(crate) not_run: Option<String>,
    /// Whether it goes on until a signal (`<!-- until a signal -->`).
    pub(crate) until_signal: bool,
    pub(crate) lines: Vec<String>,
}

impl Page {
    pub(crate) fn parse(path: &str, text: &str) -> Self {
        let mut sections = vec![Section { name: path.to_owned(), blocks: Vec::new() }];
        let mut once = Vec::new();
        let mut next = Block::default();
        let mut fence: Option<bool> = None;
        for line in text.lines() {
            match (fence, line.trim_start().strip_prefix("```")) {
                (None, Some(language)) => fence = Some(language == "sh"),
                (Some(is_shell), Some(_)) => {
                    let block = std::mem::take(&mut next);
                    if is_shell {
                        sections.last_mut().unwrap().blocks.push(block);
                    }
                    fence = None;
                }
                (Some(_), None) => next.lines.push(line.to_owned()),
                (None, None) if line.starts_with('#') => {
                    sections.push(Section { name: format!("{path}: {line}"), blocks: Vec::new() });
                }
                (None, None) => once.extend(next.take(line)),
            }
        }
        Self { path: path.to_owned(), once, sections }
    }
}

impl Block {
    /// Takes what a comment says of the block that follows; what it says of the whole page is handed back.
    fn take(&mut self, line: &str) -> Option<String> {
        let said = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"))?;
        match said.split_once(": ") {
            Some(("once", commands)) => return Some(commands.to_owned()),
            Some(("with", commands)) => self.with.push(commands.to_owned()),
            Some(("not run", why)) => self.not_run = Some(why.to_owned()),
            _ if said == "until a signal" => self.until_signal = true,
            _ => panic!("no word about a block: {said}"),
        }
        None
    }
}

/// Lines that look like commands and stand outside of the blocks of `sh`.
pub(crate) fn commands_outside(path: &str, text: &str) -> Vec<String> {
    let mut fence: Option<&str> = None;
    let mut found = Vec::new();
    for line in text.lines() {
        let words = line.trim_start();
        match (fence, words.strip_prefix("```")) {
            (None, Some(language)) => fence = Some(language),
            (Some(_), Some(_)) => fence = None,
            _ => {
                let is_code = line.starts_with("    ") && fence.is_none()
                    || fence.is_some_and(|language| language != "sh");
                if is_code && COMMANDS.iter().any(|command| words.starts_with(command)) {
                    found.push(format!("{path}: {words}"));
                }
            }
        }
    }
    found
}

const COMMANDS: [&str; 9] =
    ["hammer ", "cargo ", "jq ", "curl ", "scripts/", ".ci/run", "cosign ", "target/", "sudo "];
