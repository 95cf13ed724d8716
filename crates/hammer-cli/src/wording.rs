//! What libraries say of numbers, files, JSON and PEM, in plain words. Only what a library said is told anew: a name of a file, or what a hook wrote, may
//! read like it.

use std::error::Error as StdError;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use hammer_measure::credential::without_any_secret;

use crate::args::Cli;
use crate::hooks::HookError;

/// An error, in which what a library said at its root is in plain words.
pub(crate) fn told(error: &(dyn StdError + 'static)) -> String {
    let root = root(error);
    let said = error.to_string();
    if root.is::<HookError>() {
        return said;
    }
    let words = root.to_string();
    said.replace(&words, &in_plain_words(&words))
}

/// The same, without the credentials that stand in it: a command of a hook, what it said, a token that was written where none belongs.
pub(crate) fn told_without_credentials(error: &(dyn StdError + 'static)) -> String {
    without_any_secret(&told(error))
}

/// What is wrong with arguments, as `rendered` for a person, in which what a library said of a value is in plain words.
pub(crate) fn told_of_arguments(refused: &clap::Error, rendered: &str) -> String {
    match refused.kind() {
        ErrorKind::UnknownArgument => return told_of_unknown(refused, rendered),
        ErrorKind::InvalidSubcommand => return told_of_command(refused, rendered),
        _ => {}
    }
    let Some(source) = refused.source() else { return rendered.to_owned() };
    let words = root(source).to_string();
    let plain = range(&words).unwrap_or_else(|| in_plain_words(&words));
    // What was typed stands before it, and may read like it.
    match rendered.rfind(&words) {
        Some(at) => [&rendered[..at], &plain, &rendered[at + words.len()..]].concat(),
        None => rendered.to_owned(),
    }
}

/// An argument that is none, as `rendered` for a person, with what says the same here where it is a flag that other commands or other load
/// generators have: a key of the plan of `hammer run`, or a flag by another name.
fn told_of_unknown(refused: &clap::Error, rendered: &str) -> String {
    // No command takes a value that begins like a flag.
    let lines = rendered.split_inclusive('\n').filter(|line| !line.contains(" as a value, use '-- "));
    let told = lines.collect::<String>().replace("\n\n\n", "\n\n");
    let Some(ContextValue::String(flag)) = refused.get(ContextKind::InvalidArg) else { return told };
    let known = SAID_BY_THE_PLAN.iter().find(|(flags, _)| flags.contains(&flag.as_str()));
    if let (Some((_, set)), Some(usage)) = (known, told.find("Usage: hammer run ")) {
        return format!("{}  tip: the plan says it: --set {set}\n\n{}", &told[..usage], &told[usage..]);
    }
    let said = SAID_OTHERWISE.iter().find_map(|(command, flags, said)| {
        let usage =
            told.find(&format!("Usage: hammer {command} ")).filter(|_| flags.contains(&flag.as_str()))?;
        // What only looks like it is no help beside what is meant.
        let before = told[..usage].split("  tip: ").next().unwrap_or_default();
        Some(format!("{before}  tip: {said}\n\n{}", &told[usage..]))
    });
    let is_word = !flag.starts_with('-') && told.contains(" <COMMAND>\n");
    said.or_else(|| with_commands(&told).filter(|_| is_word)).unwrap_or(told)
}

/// A word in the place of a command, as `rendered` for a person; of a URL, with the method that stands before it.
fn told_of_command(refused: &clap::Error, rendered: &str) -> String {
    match (refused.get(ContextKind::InvalidSubcommand), rendered.find("Usage: hammer http ")) {
        (Some(ContextValue::String(word)), Some(usage)) if word.contains(['.', ':', '/']) => {
            let tip = "  tip: a method stands before the URL: hammer http get URL\n\n";
            [&rendered[..usage], tip, &rendered[usage..]].concat()
        }
        _ => with_commands(rendered).unwrap_or_else(|| rendered.to_owned()),
    }
}

/// The same with the commands that could stand there, where none is like the word that does.
fn with_commands(rendered: &str) -> Option<String> {
    let (said, usage) =
        rendered.split_once("Usage: hammer ").filter(|(said, _)| !said.contains("  tip: "))?;
    let cli = Cli::command();
    let mut named = usage.split_whitespace().take_while(|word| !word.starts_with(['[', '<']));
    let command = named.try_fold(&cli, |command, word| command.find_subcommand(word))?;
    let names: Vec<_> =
        command.get_subcommands().filter(|of| !of.is_hide_set()).map(clap::Command::get_name).collect();
    Some(format!("{}\n  [subcommands: {}]\n\nUsage: hammer {usage}", said.trim_end(), names.join(", ")))
}

/// The start of commands, flags that curl and other load generators have, and what says the same.
const SAID_OTHERWISE: [(&str, &[&str], &str); 18] = [
    ("http", &["--vus", "--users", "--concurrency"], "-c N, users who wait for their answers"),
    ("http", &["-X", "--request", "--method"], "the method is a word of the command: hammer http post URL"),
    ("http", &["-u", "--user", "--basic"], BASIC_USER),
    ("http", &["--rps", "--qps"], "--rate 500/s"),
    ("http", &["--iterations", "--operations"], "-n N"),
    ("http", &["-a"], BASIC_USER),
    ("http", &["-k"], "--insecure"),
    ("http", &["-T"], "-H \"content-type: ...\""),
    ("http", &["-A", "--user-agent"], "-H \"user-agent: ...\""),
    ("http", &["-D"], "-d @FILE"),
    ("http", &["-o", "-O", "--summary-export", "--json"], "--out FILE"),
    ("http", &["-L", "--location"], "--redirects N"),
    (
        "http",
        &["-m", "--max-time"],
        "-t 10s, the time of one operation; a method is a word of the command: hammer http post URL",
    ),
    ("http", &["-R"], "--rate 500/s"),
    ("http", &["--threads"], "--shards N"),
    (
        "http",
        &["--resolve", "-x", "--proxy"],
        "--connect-to ADDRESS dials that in place of the URL's host; there is no proxy",
    ),
    ("http", &["--latency", "--verbose"], "--detail prints every wait"),
    ("lab", &["-p", "--port"], "--listen 127.0.0.1:8080"),
];
const BASIC_USER: &str = "--basic-user NAME --basic-password-file FILE (or --basic-password-env NAME)";

/// Flags of one-line commands, k6, hey, oha and wrk, and what is said instead of them where there is a plan.
const SAID_BY_THE_PLAN: [(&[&str], &str); 12] = [
    (&["-z", "-d", "--duration", "--measurement"], "phases.measurement=30s"),
    (&["--warm-up", "--warmup"], "phases.warm_up=5s"),
    (&["-q", "--rate", "--qps", "--rps"], "'workloads.NAME.load={rate: 500/s}'"),
    (&["-c", "-u", "--users", "--vus", "--connections"], "'workloads.NAME.load={users: 50}'"),
    (&["-n", "--operations", "--requests", "--iterations"], "workloads.NAME.load.operations=10000"),
    (&["-t", "--timeout"], "workloads.NAME.timeout=10s"),
    (&["--threshold", "--thresholds"], "'thresholds=[\"p99(response) < 500ms\"]'"),
    (&["--authorized"], "target.authorized=WHO"),
    (&["-k", "--insecure"], "target.tls.insecure=true"),
    (&["--cacert"], "'target.tls.roots=[ca.pem]'"),
    (&["-X", "--request", "--method"], "workloads.NAME.http.method=POST"),
    (&["-H", "--header"], "'workloads.NAME.http.headers={x-name: \"value\"}'"),
];

/// What a library said, without the words that mean nothing to who writes no Rust: alone, or behind the last colon.
pub(crate) fn in_plain_words(said: &str) -> String {
    let said = of_base64(&without_numbers(said));
    with_place(&PLAIN.iter().fold(said, |said, (words, plain)| instead(&said, words, plain)))
}

/// The error that is the cause of all others.
fn root<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root
}

/// The same with `plain` in place of `words`, where these start it or what stands behind its last colon.
fn instead(said: &str, words: &str, plain: &str) -> String {
    let at = match said.starts_with(words) {
        true => Some(0),
        false => said.rfind(&format!(": {words}")).map(|colon| colon + 2),
    };
    match at.map(|at| (&said[..at], &said[at + words.len()..])) {
        Some((before, behind)) if words.ends_with(": ") || !behind.contains(": ") => {
            [before, plain, behind].concat()
        }
        _ => said.to_owned(),
    }
}

/// Without the numbers by which the kernel calls its errors.
fn without_numbers(said: &str) -> String {
    let mut parts = said.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |said, part| match part.split_once(')') {
        Some((number, rest)) if number.bytes().all(|digit| digit.is_ascii_digit()) => said + rest,
        _ => said + " (os error " + part,
    })
}

/// Without what a reader of base64 calls what is none.
fn of_base64(said: &str) -> String {
    match said.split_once("base64 decode error: ") {
        Some((before, rest)) => {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            format!("{before}what stands between BEGIN and END is no base64{}", &rest[end..])
        }
        None => said.to_owned(),
    }
}

/// `expected 1 to 65535` in place of `0 is not in 1..65536`, or of `0 is not in 1..=65535`; the one bound that matters where the last of them is
/// as large as numbers go.
fn range(said: &str) -> Option<String> {
    let (number, range) = said.split_once(" is not in ")?;
    let (least, most) = range.split_once("..")?;
    let last = match most.strip_prefix('=') {
        Some(last) => last.to_owned(),
        None if most.is_empty() => String::new(),
        None => most.parse::<u64>().ok()?.saturating_sub(1).to_string(),
    };
    let is_above = |last| number.parse::<i128>().is_ok_and(|number| number > i128::from(last));
    Some(match last.parse::<u64>() {
        Ok(last) if last < NO_BOUND => format!("expected {least} to {last}"),
        Ok(last) if is_above(last) => format!("it must be {last} at most"),
        _ => format!("it must be {least} at least"),
    })
}

/// With a comma and no `at` before the place in JSON that ends it, and of an empty text without one.
fn with_place(said: &str) -> String {
    let Some((before, place)) = said.rsplit_once(" at line ") else { return said.to_owned() };
    let is_place = place.split_once(" column ").is_some_and(|(line, column)| {
        [line, column].iter().all(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
    });
    match is_place {
        true if place == "1 column 0" => before.to_owned(),
        true => format!("{before}, line {place}"),
        false => said.to_owned(),
    }
}

/// The last number that a count of anything can be, from which on nothing bounds it.
const NO_BOUND: u64 = u32::MAX as u64 - 1;

/// What is said, and what is said instead.
const PLAIN: [(&str, &str); 22] = [
    ("missing field `", "it lacks `"),
    ("invalid digit found in string", "expected a whole number"),
    ("cannot parse integer from empty string", "expected a whole number"),
    ("invalid float literal", "expected a number"),
    ("cannot parse float from empty string", "expected a number"),
    ("number too large to fit in target type", "no number here is as large"),
    ("number too small to fit in target type", "no number here is as small"),
    ("stream did not contain valid UTF-8", "it is no text in UTF-8"),
    ("EOF while parsing a value at line 1 column 0", "it is empty"),
    ("EOF while parsing a value", "it ends in the middle"),
    ("EOF while parsing a list", "it ends in the middle"),
    ("EOF while parsing an object", "it ends in the middle"),
    ("EOF while parsing a string", "it ends in the middle"),
    ("expected value at line", "it is no JSON at line"),
    ("expected ident at line", "it is no JSON at line"),
    ("key must be a string at line", "it is no JSON at line"),
    ("trailing characters at line", "more than one value at line"),
    ("I/O error: ", ""),
    ("no items found", "there is none in it"),
    ("keys may not be consistent: KeyMismatch", "the key is that of another certificate"),
    ("empty string", "it is empty"),
    ("invalid uri character", "it has a character that no URL has, as a space"),
];

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn what_libraries_say_is_told_without_types_and_numbers_of_errors() {
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap_err().to_string();
        for (said, plain) in [
            ("x".parse::<u8>().unwrap_err().to_string(), "expected a whole number"),
            ("300".parse::<u8>().unwrap_err().to_string(), "no number here is as large"),
            ("x".parse::<f64>().unwrap_err().to_string(), "expected a number"),
            (io::Error::from_raw_os_error(2).to_string(), "No such file or directory"),
            (format!("a: {}; b", io::Error::from_raw_os_error(2)), "a: No such file or directory; b"),
            (
                "a: base64 decode error: InvalidCharacter(33)\nb".to_owned(),
                "a: what stands between BEGIN and END is no base64\nb",
            ),
            (json(""), "it is empty"),
            (json("{\"a\": "), "it ends in the middle, line 1 column 6"),
            (json("words"), "it is no JSON, line 1 column 1"),
            (format!("use a.json: {}", json("words")), "use a.json: it is no JSON, line 1 column 1"),
        ] {
            assert_eq!(in_plain_words(&said), plain, "{said}");
        }
    }

    #[test]
    fn a_range_is_told_by_the_first_and_the_last_that_is_in_it() {
        for (said, plain) in [
            ("0 is not in 1..65536", Some("expected 1 to 65535")),
            ("300 is not in 0..=255", Some("expected 0 to 255")),
            ("0 is not in 1..", Some("it must be 1 at least")),
            ("0 is not in 1..18446744073709551615", Some("it must be 1 at least")),
            ("0 is not in 1..=4294967295", Some("it must be 1 at least")),
            ("99999999999 is not in 1..4294967296", Some("it must be 4294967295 at most")),
            ("-1 is not in 0..", Some("it must be 0 at least")),
            ("12 is not here", None),
        ] {
            assert_eq!(range(said).as_deref(), plain, "{said}");
        }
    }

    #[test]
    fn what_reads_like_a_library_and_is_none_stays() {
        #[derive(Debug, thiserror::Error)]
        #[error("failed to read {name}: {source}")]
        struct Unread {
            name: &'static str,
            source: io::Error,
        }
        let unread = |name| Unread { name, source: io::Error::from_raw_os_error(2) };
        for name in ["no such at line 3.yaml", "12 is not in 3..9", "missing field `a`", "I/O error: a"] {
            assert_eq!(told(&unread(name)), format!("failed to read {name}: No such file or directory"));
        }
        let ours = "the file `EOF while parsing a value` is not there";
        assert_eq!(in_plain_words(ours), ours);
    }
}
