//! Media types (RFC 9110 section 8.3.1), compared by what they mean and not by how they are written.

/// A media type and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MediaType {
    /// Type and subtype, in lower case.
    essence: String,
    /// Names in lower case, in the order of names.
    parameters: Vec<(String, String)>,
}

impl MediaType {
    /// Reads a media type.
    ///
    /// # Errors
    /// What Go's package `mime` says of it.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let end = text.find(';').unwrap_or(text.len());
        let (essence, mut rest) = text.split_at(end);
        let essence = essence.trim().to_ascii_lowercase();
        check_essence(&essence)?;
        let mut parameters = Vec::new();
        while !rest.trim_start().is_empty() {
            let Some((name, value, behind)) = parameter(rest.trim_start()) else {
                // A semicolon at the end is let pass.
                if rest.trim() == ";" {
                    break;
                }
                return Err("mime: invalid media parameter");
            };
            if parameters.iter().any(|(other, _)| *other == name) {
                return Err("mime: duplicate parameter name");
            }
            parameters.push((name, value));
            rest = behind;
        }
        parameters.sort();
        Ok(Self { essence, parameters })
    }

    pub(crate) fn essence(&self) -> &str {
        &self.essence
    }

    /// The value of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let named = self.parameters.iter().find(|(other, _)| other == name);
        named.map(|(_, value)| value.as_str())
    }
}

fn check_essence(essence: &str) -> Result<(), &'static str> {
    let (kind, rest) = token(essence);
    if kind.is_empty() {
        return Err("mime: no media type");
    }
    if rest.is_empty() {
        return Ok(());
    }
    let subtype = rest.strip_prefix('/').ok_or("mime: expected slash after first token")?;
    match token(subtype) {
        ("", _) => Err("mime: expected token after slash"),
        (_, "") => Ok(()),
        _ => Err("mime: unexpected content after media subtype"),
    }
}

/// Name and value of `; name=value`, and what follows.
fn parameter(text: &str) -> Option<(String, String, &str)> {
    let (name, rest) = token(text.strip_prefix(';')?.trim_start());
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let (value, rest) = value(rest)?;
    (!name.is_empty()).then(|| (name.to_ascii_lowercase(), value, rest))
}

fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = token(text);
        return (!value.is_empty()).then(|| (value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            '\r' | '\n' => return None,
            _ => value.push(character),
        }
    }
    None
}

/// The token at the start (RFC 9110 section 5.6.2), and what follows.
fn token(text: &str) -> (&str, &str) {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let end = text.bytes().position(|byte| !is_token(byte)).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_case_spaces_and_order_make_no_difference_and_values_do() {
        let parsed = |text: &str| MediaType::parse(text).unwrap();
        let plain = parsed(r#"application/eat-cwt; profile="http://arm.com/psa/2.0.0""#);
        for same in [
            r#"Application/EAT-cwt;PROFILE="http://arm.com/psa/2.0.0""#,
            r#" application/eat-cwt ;  profile = "http:\//arm.com/psa/2.0.0" ; "#,
        ] {
            assert_eq!(parsed(same), plain);
        }
        assert_eq!(plain.parameter("profile"), Some("http://arm.com/psa/2.0.0"));
        assert_eq!(parsed("a/b; x=1; y=2"), parsed("a/b; y=\"2\"; x=1"));
        assert_ne!(parsed("a/b; x=a"), parsed("a/b; x=A"));
        assert_ne!(parsed("a/b"), parsed("a/b; x=a"));
    }

    #[test]
    fn what_is_none_is_refused_in_the_words_of_go() {
        for (text, error) in [
            ("", "mime: no media type"),
            ("; a=b", "mime: no media type"),
            ("a b", "mime: expected slash after first token"),
            ("a/", "mime: expected token after slash"),
            ("a/b c", "mime: unexpected content after media subtype"),
            ("a/b; profile", "mime: invalid media parameter"),
            ("a/b; profile=\"x", "mime: invalid media parameter"),
            ("a/b; x=http://a", "mime: invalid media parameter"),
            ("a/b; x=1; X=2", "mime: duplicate parameter name"),
        ] {
            assert_eq!(MediaType::parse(text), Err(error), "{text}");
        }
    }
}
