//! The files that a plan names, wherever it does.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Whether two paths are of one file, which need not be there yet, or of two names of it.
pub(crate) fn is_same_place(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| path.canonicalize().ok();
    if file(one).is_some_and(|file_of_one| file(other) == Some(file_of_one)) {
        return true;
    }
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((folder.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    one == other || place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one))
}

/// The key of a plan, as `workloads[0].ct_submit.roots`, at which that file stands; none where none does. What only looks like a path is one
/// here: a text that leads to the file by chance, in a key that is no name.
pub(crate) fn key_of_file(plan: &Value, file: &Path) -> Option<String> {
    fn search(value: &Value, at: &str, file: &Path) -> Option<String> {
        match value {
            Value::Object(map) => map.iter().find_map(|(key, value)| {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                // What an output is itself called, and names that are none of files.
                let is_other = matches!(at.as_str(), "output.report" | "output.events" | "output.samples");
                let is_name = matches!(key.as_str(), "name" | "workload");
                (!is_other && !is_name).then(|| search(value, &at, file)).flatten()
            }),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .find_map(|(place, item)| search(item, &format!("{at}[{place}]"), file)),
            Value::String(text) => is_same_place(Path::new(text), file).then(|| at.to_owned()),
            _ => None,
        }
    }
    search(plan, "", file)
}

/// A file that a run of the plan writes (`bundles.file`) and that another key names too: that file, its key, and the other one.
pub(crate) fn written_over(plan: &Value) -> Option<(PathBuf, String, String)> {
    fn written<'a>(value: &'a Value, at: &str, found: &mut Vec<(String, &'a str)>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                    written(value, &at, found);
                }
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(place, item)| written(item, &format!("{at}[{place}]"), found)),
            Value::String(text) if at.ends_with(".bundles.file") => found.push((at.to_owned(), text)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    written(plan, "", &mut found);
    found.into_iter().find_map(|(at, file)| {
        let mut others = plan.clone();
        // Everything but this key.
        *others.pointer_mut(&pointer(&at))? = Value::Null;
        let other = key_of_file(&others, Path::new(file))?;
        Some((PathBuf::from(file), at, other))
    })
}

/// A key as JSON Pointer has it (RFC 6901): no key of a plan has a character that needs an escape, but the names of maps.
fn pointer(at: &str) -> String {
    let parts = at.split(['.', '[']).map(|part| part.trim_end_matches(']'));
    parts.map(|part| format!("/{part}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_found_by_whichever_key_names_it_however_its_path_is_written() {
        let folder = std::env::temp_dir();
        let file = folder.join("corpus.jsonl");
        let plan = json!({
            "name": file,
            "output": { "report": file },
            "workloads": [{ "name": file, "a": [{}, { "corpus": folder.join(".").join("corpus.jsonl") }] }],
        });
        assert_eq!(key_of_file(&plan, &file).as_deref(), Some("workloads[0].a[1].corpus"));
        assert_eq!(key_of_file(&plan, &folder.join("report.json")), None);
        assert_eq!(key_of_file(&json!({ "url": "http://127.0.0.1:1/a" }), &file), None);
    }

    #[test]
    fn a_bundle_is_not_written_over_what_the_plan_reads() {
        let folder = std::env::temp_dir();
        let [one, other] = ["one", "other"].map(|name| folder.join(name).display().to_string());
        let plan = |bundle: &str| {
            json!({
                "target": { "sigstore": { "trusted_root": one } },
                "workloads": [{ "sigstore_sign": { "bundles": { "file": bundle } } }],
            })
        };
        assert_eq!(written_over(&plan(&other)), None);
        let at = "workloads[0].sigstore_sign.bundles.file".to_owned();
        let expected = (PathBuf::from(&one), at, "target.sigstore.trusted_root".to_owned());
        assert_eq!(written_over(&plan(&one)), Some(expected));
    }

    #[test]
    fn a_link_to_a_file_is_that_file() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, other] = ["file", "link", "other"].map(|name| folder.path().join(name));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(is_same_place(&file, &link) && is_same_place(&link, &file));
        assert!(!is_same_place(&other, &link) && is_same_place(&other, &folder.path().join("./other")));
    }
}
