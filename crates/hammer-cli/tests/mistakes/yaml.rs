//! Files that are no plan.

use crate::row::{Row, asked, edit, plan};

pub(crate) const ROWS: &[Row] = &[
    plan("TOML for a plan", "[target]\nurl = 'http://127.0.0.1:9'\n"),
    asked("a plan that is not there", &["run", "nowhere.yaml"]),
    asked("a folder for a plan", &["run", "folder"]),
    asked("a plan that is no text", &["run", "text.bin"]),
    asked("a report for a plan", &["run", "other.json"]),
    plan("an empty file", ""),
    plan("a file of comments alone", "# nothing yet\n"),
    plan("words", "just words\n"),
    plan("a list", "- a\n- b\n"),
    plan("a number", "5\n"),
    edit("a tab that indents", "  url:", "\turl:"),
    edit("a key that stands twice", "phases:", "seed: 1\nseed: 2\nphases:"),
    edit(
        "a list in brackets that is not closed",
        "load: { rate: 10/s }",
        "load: { rate: 10/s }\n    thresholds: [ a",
    ),
    edit("keys in braces that are not closed", "{ rate: 10/s }", "{ rate: 10/s"),
    edit("a bracket that closes nothing", "{ rate: 10/s }", "{ rate: 10/s }]"),
    edit("a quote that is not closed", "name: web", "name: \"web"),
    edit("a colon in a text without quotes", "name: web", "name: web: site"),
    edit("a key without its colon", "    http: {}", "    http"),
    edit("a line that is not indented as its neighbours are", "    http: {}", "   http: {}"),
    edit("an anchor that is not there", "{ rate: 10/s }", "*fast"),
    edit("a second document", "phases:", "---\nphases:"),
    edit("a text that starts with a sign of YAML", "name: web", "name: @web"),
    edit("a dash where no list is", "  measurement: 500ms", "  measurement: 500ms\n  - a"),
    edit("an unknown escape", "name: web", "name: \"we\\qb\""),
];
