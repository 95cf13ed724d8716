//! Values that operations have by turns: read once, and drawn by an operation's numbers alone.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use hammer_core::draw::Draws;
use serde_json::Value;

use crate::error::{HttpError, ValueFault};
use crate::picks::{Picks, Turn};
use crate::plan::ValuePlan;

/// The values of a name, and which of them an operation has.
#[derive(Debug)]
pub(crate) struct Pool {
    values: Values,
    picks: Picks,
}

#[derive(Debug)]
enum Values {
    /// Whole numbers from 0, below that.
    Numbers(u64),
    /// Rows of as many values as there are columns.
    Rows { columns: Vec<String>, values: Vec<Box<[u8]>> },
}

impl Pool {
    /// Reads the values of `plan`; draws follow from `draws`.
    pub(crate) fn read(plan: &ValuePlan, draws: Draws) -> Result<Self, HttpError> {
        let values = Values::read(plan)?;
        let picks = Picks::new(values.count(), &plan.draw(), draws)?;
        Ok(Self { values, picks })
    }

    /// Which of its values operations have.
    pub(crate) fn picks(&self) -> &Picks {
        &self.picks
    }

    /// The column of that name; of a pool without columns the values themselves, where none is named.
    pub(crate) fn column(&self, column: Option<&str>) -> Result<usize, ValueFault> {
        match (&self.values, column) {
            (Values::Rows { columns, .. }, Some(name)) if !columns.is_empty() => {
                let place = columns.iter().position(|known| known == name);
                place.ok_or_else(|| ValueFault::NoColumn {
                    column: name.to_owned(),
                    columns: columns.join(", "),
                })
            }
            (Values::Rows { columns, .. }, None) if columns.len() > 1 => {
                Err(ValueFault::WhichColumn { columns: columns.join(", ") })
            }
            (_, Some(name)) => Err(ValueFault::NoColumns { column: name.to_owned() }),
            (_, None) => Ok(0),
        }
    }

    /// Appends what an operation has of `column`.
    pub(crate) fn write(&self, turn: Turn, column: usize, out: &mut Vec<u8>) {
        let place = self.picks.place(turn);
        match &self.values {
            Values::Numbers(_) => out.extend_from_slice(place.to_string().as_bytes()),
            Values::Rows { columns, values } => {
                let width = columns.len().max(1);
                out.extend_from_slice(&values[place as usize * width + column]);
            }
        }
    }
}

impl Values {
    fn read(plan: &ValuePlan) -> Result<Self, HttpError> {
        let read = match plan {
            ValuePlan { count: Some(count), .. } => Ok(Self::Numbers(count.get() as u64)),
            ValuePlan { csv: Some(path), .. } => of_csv(path),
            ValuePlan { jsonl: Some(path), .. } => of_json_lines(path),
            ValuePlan { lines: Some(path), .. } => of_lines(path),
            ValuePlan { list, files, .. } => {
                let listed = list.iter().map(|value| Ok(text_of(value)));
                let read = |path: &std::path::PathBuf| {
                    std::fs::read(path).map(Vec::into_boxed_slice).map_err(|error| unread(path, error))
                };
                listed.chain(files.iter().map(read)).collect::<Result<_, _>>().map(Self::single)
            }
        };
        let read = read.and_then(|values: Self| match values.count() {
            0 => Err(ValueFault::Empty { of: plan.file() }),
            _ => Ok(values),
        });
        read.map_err(|fault| HttpError::Value { key: plan.source(), fault })
    }

    fn single(values: Vec<Box<[u8]>>) -> Self {
        Self::Rows { columns: Vec::new(), values }
    }

    fn count(&self) -> u64 {
        match self {
            Self::Numbers(count) => *count,
            Self::Rows { columns, values } => (values.len() / columns.len().max(1)) as u64,
        }
    }
}

fn of_csv(path: &Path) -> Result<Values, ValueFault> {
    let refused = |error: csv::Error| ValueFault::Line {
        path: path.to_owned(),
        line: error.position().map_or(1, csv::Position::line),
        reason: error.to_string(),
    };
    let text = std::fs::read(path).map_err(|error| unread(path, error))?;
    // One that is not closed takes everything behind it into its value (RFC 4180 section 2).
    if memchr::memchr_iter(b'"', &text).count() % 2 == 1 {
        let reason = "a quotation mark of it is not closed".to_owned();
        return Err(ValueFault::Content { path: path.to_owned(), reason });
    }
    let mut reader = csv::Reader::from_reader(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text));
    let columns: Vec<String> =
        reader.headers().map_err(refused)?.iter().map(|name| name.trim().to_owned()).collect();
    if let Some(twice) = (1..columns.len()).find(|place| columns[..*place].contains(&columns[*place])) {
        let reason = format!("it has two columns `{}`", columns[twice]);
        return Err(ValueFault::Content { path: path.to_owned(), reason });
    }
    let mut values = Vec::new();
    for record in reader.byte_records() {
        values.extend(record.map_err(refused)?.iter().map(Box::from));
    }
    Ok(Values::Rows { columns, values })
}

/// Members of the first object are the columns; every line has them.
fn of_json_lines(path: &Path) -> Result<Values, ValueFault> {
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (line, text) in (1..).zip(lines(path)?) {
        let text = text.map_err(|error| unread(path, error))?;
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let refused = |reason: String| ValueFault::Line { path: path.to_owned(), line, reason };
        let value: Value =
            serde_json::from_slice(&text).map_err(|error| refused(format!("it is no JSON: {error}")))?;
        match &value {
            Value::Object(members) => {
                if values.is_empty() {
                    columns = members.keys().cloned().collect();
                }
                if columns.is_empty() {
                    return Err(refused("it is an object, and the lines before are none".to_owned()));
                }
                for column in &columns {
                    let missing = || refused(format!("it has no `{column}`, which the first line has"));
                    values.push(text_of(members.get(column).ok_or_else(missing)?));
                }
            }
            _ if !columns.is_empty() => {
                return Err(refused("it is no object, and the lines before are".to_owned()));
            }
            value => values.push(text_of(value)),
        }
    }
    Ok(Values::Rows { columns, values })
}

fn of_lines(path: &Path) -> Result<Values, ValueFault> {
    let read = lines(path)?.map(|line| line.map(Vec::into_boxed_slice));
    let values: Result<Vec<_>, _> =
        read.filter(|line| line.as_ref().map_or(true, |line| !line.is_empty())).collect();
    values.map(Values::single).map_err(|error| unread(path, error))
}

/// Without their ends.
fn lines(path: &Path) -> Result<impl Iterator<Item = std::io::Result<Vec<u8>>>, ValueFault> {
    let file = File::open(path).map_err(|error| unread(path, error))?;
    Ok(BufReader::new(file).split(b'\n').enumerate().map(|(place, line)| {
        line.map(|mut line| {
            if place == 0 && line.starts_with(BYTE_ORDER_MARK) {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            line
        })
    }))
}

fn unread(path: &Path, source: std::io::Error) -> ValueFault {
    ValueFault::File { path: path.to_owned(), source }
}

/// That of UTF-8, which is no part of the first value.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A text as it is, and anything else as its JSON.
pub(crate) fn text_of(value: &Value) -> Box<[u8]> {
    match value {
        Value::String(text) => text.as_bytes().into(),
        value => value.to_string().into_bytes().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(plan: &str) -> Result<Pool, HttpError> {
        Pool::read(&serde_json::from_str(plan).unwrap(), Draws::new(7, 1))
    }

    fn drawn(pool: &Pool, turns: u64) -> Vec<String> {
        let one = |turn| {
            let mut out = Vec::new();
            pool.write(Turn { seq: turn, rank: turn }, 0, &mut out);
            String::from_utf8(out).unwrap()
        };
        (0..turns).map(one).collect()
    }

    #[test]
    fn values_come_in_turn_or_are_drawn() {
        let in_turn = read(r#"{"list":["a",2,true]}"#).unwrap();
        assert_eq!(drawn(&in_turn, 4), ["a", "2", "true", "a"]);
        let random = read(r#"{"count":10,"order":"random"}"#).unwrap();
        let found = drawn(&random, 10_000);
        for value in 0..10 {
            let count = found.iter().filter(|text| **text == value.to_string()).count();
            assert!((850..1_150).contains(&count), "{value}: {count}");
        }
        assert_eq!(found, drawn(&random, 10_000), "it follows from the seed");
        let zipf = drawn(&read(r#"{"count":50,"order":"zipf"}"#).unwrap(), 10_000);
        let (first, tenth) = ["0", "9"].map(|value| zipf.iter().filter(|text| *text == value).count()).into();
        assert!(first > 8 * tenth && tenth > 100, "{first}, {tenth}");
    }

    #[test]
    fn hot_values_have_exactly_their_share_and_cold_ones_come_in_turn() {
        let pool = read(r#"{"count":1000,"hot":{"values":10,"share":"90%"}}"#).unwrap();
        let found = drawn(&pool, 1_000);
        let hot: Vec<bool> = (0..1_000).map(|seq| !pool.picks().is_cold(Turn { seq, rank: seq })).collect();
        assert_eq!(hot.iter().filter(|hot| **hot).count(), 900);
        let mut next_cold = 10;
        for (text, hot) in found.iter().zip(hot) {
            let value: u64 = text.parse().unwrap();
            assert_eq!(value < 10, hot);
            if !hot {
                assert_eq!(value, next_cold);
                next_cold += 1;
            }
        }
        let error = read(r#"{"list":["a","b"],"hot":{"values":2,"share":"50%"}}"#).unwrap_err();
        assert_eq!(
            (error.key().as_deref(), error.to_string().as_str()),
            (Some("hot.values"), "find cold values: 2 of 2 are hot")
        );
    }

    #[test]
    fn rows_of_files_have_columns() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let csv = write("users.csv", "name, mail\nann,\"a,b\"\nbob,c\n");
        let of_csv = read(&format!(r#"{{"csv":"{csv}"}}"#)).unwrap();
        let mail = of_csv.column(Some("mail")).unwrap();
        let mut out = Vec::new();
        of_csv.write(Turn { seq: 0, rank: 0 }, mail, &mut out);
        assert_eq!(out, b"a,b");
        for (column, part) in
            [(Some("x"), "no column `x`: name, mail"), (None, "one of its columns: name, mail")]
        {
            let fault = of_csv.column(column).unwrap_err().to_string();
            assert!(fault.contains(part), "{fault}");
        }
        let ragged = write("ragged.csv", "a,b\n1,2\n3\n");
        let error = read(&format!(r#"{{"csv":"{ragged}"}}"#)).unwrap_err().to_string();
        assert!(error.contains("ragged.csv:3: ") && error.contains("found record with 1 field"), "{error}");
        let json =
            write("rows.jsonl", "{\"id\": 7, \"tag\": \"x\"}\n\n{\"tag\": \"y\", \"id\": 8, \"more\": 1}\n");
        let of_json = read(&format!(r#"{{"jsonl":"{json}"}}"#)).unwrap();
        out.clear();
        of_json.write(Turn { seq: 1, rank: 1 }, of_json.column(Some("id")).unwrap(), &mut out);
        assert_eq!(out, b"8");
        for (text, part) in [
            ("{\"a\":1}\n{}\n", ":2: it has no `a`"),
            ("1\nx\n", ":2: it is no JSON"),
            ("", "it has no value"),
        ] {
            let path = write("bad.jsonl", text);
            let error = read(&format!(r#"{{"jsonl":"{path}"}}"#)).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        for (text, part) in [
            ("id\n1\n2,\"b\n3\n", "a quotation mark of it is not closed"),
            ("id,id\n1,2\n", "two columns `id`"),
            ("id\n", "empty.csv: it has no value"),
        ] {
            let path = write("empty.csv", text);
            let error = read(&format!(r#"{{"csv":"{path}"}}"#)).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let marked = write("marked.csv", "\u{feff}id\n7\n");
        assert_eq!(drawn(&read(&format!(r#"{{"csv":"{marked}"}}"#)).unwrap(), 1), ["7"]);
        let lines = write("paths", "/a\r\n/b\n\n");
        assert_eq!(drawn(&read(&format!(r#"{{"lines":"{lines}"}}"#)).unwrap(), 3), ["/a", "/b", "/a"]);
        let error = read(r#"{"files":["/no/such"]}"#).unwrap_err();
        assert!(error.key().as_deref() == Some("files") && error.to_string().contains("/no/such"), "{error}");
    }
}
