//! Characters that a terminal does not draw.

/// Whether a terminal does something else with it than to draw it: control characters, soft hyphens, and marks of direction and of no width
/// (Unicode Standard Annex 9, section 2).
pub(crate) fn is_obeyed(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
