//! PEM (RFC 7468) as Sigstore's services write it: certificates, one behind the other.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The text of the first certificate, its lines of begin and end included, without what stands behind it.
pub(crate) fn first_certificate(text: &str) -> Option<&str> {
    let start = text.find(BEGIN)?;
    let end = start + text[start..].find(END)? + END.len();
    Some(&text[start..end])
}

/// Whether the lines of a certificate are as Go's encoding/pem has them: of 64 letters, but for the last one, with a line feed alone between.
pub(crate) fn has_usual_lines(certificate: &str) -> bool {
    let mut body = certificate.split('\n').skip(1).take_while(|line| *line != END).peekable();
    let mut is_usual = true;
    while let Some(line) = body.next() {
        let length = line.len();
        is_usual &= if body.peek().is_some() { length == LINE } else { (1..=LINE).contains(&length) };
    }
    is_usual && !certificate.contains('\r')
}

/// The DER of every certificate, in order; none where one of them is no base64, or has no beginning or no end.
pub(crate) fn certificates(text: &str) -> Option<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(BEGIN) {
        if rest[..start].contains(END) {
            return None;
        }
        let body = &rest[start + BEGIN.len()..];
        let end = body.find(END)?;
        let digits: String = body[..end].split_ascii_whitespace().collect();
        found.push(STANDARD.decode(digits).ok()?);
        rest = &body[end + END.len()..];
    }
    // Whatever else stands between certificates, no end of one does.
    if rest.contains(END) { None } else { Some(found) }
}

/// Letters of a line.
const LINE: usize = 64;
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

#[cfg(test)]
mod tests {
    use hammer_synth::write_pem;

    use super::*;

    #[test]
    fn what_is_written_is_read_again_one_behind_the_other() {
        let (first, second) = (vec![7; 100], vec![9; 48]);
        let mut text = String::new();
        write_pem(&mut text, "CERTIFICATE", &first);
        let alone = text.trim_end().to_owned();
        write_pem(&mut text, "CERTIFICATE", &second);
        assert_eq!(first_certificate(&text), Some(alone.as_str()));
        assert_eq!(certificates(&text), Some(vec![first, second]));
        assert!(text.lines().all(|line| line.len() <= 64), "{text}");
    }

    #[test]
    fn what_has_no_beginning_or_no_end_is_no_certificate() {
        assert_eq!(first_certificate("-----BEGIN CERTIFICATE-----\nAAAA\n"), None);
        assert_eq!(certificates("-----BEGIN CERTIFICATE-----\nAAAA\n"), None);
        assert_eq!(certificates("-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----"), None);
        assert_eq!(certificates("nothing"), Some(Vec::new()));
        let mut text = String::new();
        (0..3).for_each(|byte| write_pem(&mut text, "CERTIFICATE", &[byte; 48]));
        assert_eq!(certificates(&text).map(|all| all.len()), Some(3));
        for place in text.match_indices("BEGIN").map(|(place, _)| place) {
            let mut altered = text.clone();
            altered.replace_range(place..=place, "C");
            assert_eq!(certificates(&altered), None, "{altered}");
        }
    }
}
