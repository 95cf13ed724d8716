//! A file of headers, whose values are secrets.

use std::fs;
use std::path::Path;

use hammer_measure::masked::keep_secret;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::UsageError;

/// Reads them, a line each; empty lines are left out. Each value is masked in whatever peers write from then on, and so is what follows the
/// scheme of an `Authorization`.
///
/// # Errors
/// A file that cannot be read, or a line that is no header, which is named by its number alone.
pub(super) fn read(path: &Path) -> Result<HeaderMap, UsageError> {
    let text = fs::read_to_string(path);
    let text =
        text.map_err(|source| UsageError::FlaggedFile { flag: FLAG, path: path.to_owned(), source })?;
    headers(&text).map_err(|line| UsageError::HeaderLine { flag: FLAG, path: path.to_owned(), line })
}

/// The headers, or the number of the first line that is none.
fn headers(text: &str) -> Result<HeaderMap, usize> {
    let mut headers = HeaderMap::new();
    for (number, line) in (1_usize..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let (name, value) = line.split_once(':').ok_or(number)?;
        let (name, value) = (HeaderName::try_from(name.trim()), value.trim());
        let mut header = HeaderValue::try_from(value).map_err(|_| number)?;
        header.set_sensitive(true);
        headers.append(name.map_err(|_| number)?, header);
        keep_secret(value);
        value.split_once(' ').iter().for_each(|(_, credentials)| keep_secret(credentials.trim()));
    }
    Ok(headers)
}

const FLAG: &str = "--otlp-header-file";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_header_and_its_value_is_not_printed() {
        let read = headers("Authorization: Bearer canary-of-otlp\n\nX-Tenant:a:b\r\n").unwrap();
        assert_eq!(read["authorization"], "Bearer canary-of-otlp");
        assert_eq!(read["x-tenant"], "a:b");
        let printed = format!("{read:?}");
        assert!(!printed.contains("canary") && !printed.contains("a:b"), "{printed}");
        assert_eq!(headers("A: b\nno header\n"), Err(2));
        assert_eq!(headers("a name: b"), Err(1));
        assert_eq!(headers("name: \u{7f}"), Err(1));
    }
}
