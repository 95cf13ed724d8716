//! Texts as operations have them: what stands in them already, and what follows from an operation's numbers or was taken from an answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use hammer_core::draw::Draws;
use hammer_measure::credential::is_credential_parameter;

use crate::error::{HttpError, ValueFault};
use crate::picks::Turn;
use crate::pool::Pool;
use crate::template::{Encoding, Piece, Placeholder, PlaceholderKind, Template, hex_digit};

/// The pools of a workload by their names.
pub(crate) type Pools = BTreeMap<String, Arc<Pool>>;

/// A column of a pool.
pub(crate) type PooledColumn = (Arc<Pool>, usize);

/// A text that is the same for all operations, or that each has filled.
#[derive(Debug)]
pub(crate) enum Text {
    /// As it stands.
    Fixed(Bytes),
    /// Parts, one behind the other.
    Filled(Vec<Part>),
}

/// A part of a text.
#[derive(Debug)]
pub(crate) enum Part {
    Text(Box<[u8]>),
    Made(Variable, Encoding),
}

/// What differs from operation to operation.
#[derive(Debug)]
pub(crate) enum Variable {
    Seq,
    Uuid(Draws),
    Random(u64, Draws),
    Hex(usize, Draws),
    /// A column of a pool.
    Pooled(Arc<Pool>, usize),
    /// What was taken from an answer, by its place.
    Extracted(usize),
}

/// What texts are filled by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filler<'a> {
    /// The operation's numbers.
    pub(crate) turn: Turn,
    /// What was taken from its answers so far.
    pub(crate) extracted: &'a [Vec<u8>],
}

/// What texts of a flow are made with.
#[derive(Debug)]
pub(crate) struct TextMaker<'a> {
    pools: &'a Pools,
    draws: Draws,
    /// The names of what is taken from answers, at their places.
    slots: Vec<String>,
    /// The pools of which hot and cold values are told apart, of those that texts have used.
    hot: Vec<Arc<Pool>>,
    /// Those and their columns that are called like a credential.
    secret: Vec<PooledColumn>,
}

impl<'a> TextMaker<'a> {
    /// With these values; draws follow from `draws`.
    pub(crate) fn new(pools: &'a Pools, draws: Draws) -> Self {
        Self { pools, draws, slots: Vec::new(), hot: Vec::new(), secret: Vec::new() }
    }

    /// The place of what is taken from an answer by that name.
    pub(crate) fn slot(&mut self, name: &str) -> usize {
        if let Some(place) = self.slots.iter().position(|slot| slot == name) {
            return place;
        }
        self.slots.push(name.to_owned());
        self.slots.len() - 1
    }

    /// How many places there are.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The pools whose hot values are told apart, and those, with their columns, that nobody may read in a report.
    pub(crate) fn into_pools(self) -> (Vec<Arc<Pool>>, Vec<PooledColumn>) {
        (self.hot, self.secret)
    }

    /// The text at `key`, which was found to be one as the plan was read.
    pub(crate) fn text(&mut self, key: &'static str, text: &str, plain: Encoding) -> Result<Text, HttpError> {
        let Ok(template) = Template::parse(text) else { return Ok(Text::Fixed(text.to_owned().into())) };
        if let Some(fixed) = template.fixed() {
            return Ok(Text::Fixed(fixed.to_owned().into()));
        }
        let mut parts = Vec::new();
        for piece in template.pieces() {
            parts.push(match piece {
                Piece::Text(text) => Part::Text(text.as_bytes().into()),
                Piece::Placeholder(Placeholder { encoding, of }) => {
                    let made = self.variable(of);
                    let refused = |fault| HttpError::Placeholder { key, name: of.to_string(), fault };
                    Part::Made(made.map_err(refused)?, encoding.unwrap_or(plain))
                }
            });
        }
        Ok(Text::Filled(parts))
    }

    fn variable(&mut self, of: &PlaceholderKind) -> Result<Variable, ValueFault> {
        // The same placeholder is the same value wherever an operation has it.
        let draws = || Draws::new(self.draws.bits(label(&of.to_string())), 0);
        Ok(match of {
            PlaceholderKind::Seq => Variable::Seq,
            PlaceholderKind::Uuid => Variable::Uuid(draws()),
            PlaceholderKind::Random(below) => Variable::Random(*below, draws()),
            PlaceholderKind::Hex(digits) => Variable::Hex(*digits, draws()),
            PlaceholderKind::Named { name, column: column_name } => {
                let column = column_name;
                let Some(pool) = self.pools.get(name) else {
                    return match column {
                        Some(column) => Err(ValueFault::NoColumns { column: column.clone() }),
                        None => Ok(Variable::Extracted(self.slot(name))),
                    };
                };
                let column = pool.column(column.as_deref())?;
                let is_secret = is_credential_parameter(name)
                    || column_name.as_deref().is_some_and(is_credential_parameter);
                if is_secret
                    && self.secret.iter().all(|(known, of)| !Arc::ptr_eq(known, pool) || *of != column)
                {
                    self.secret.push((Arc::clone(pool), column));
                }
                if pool.picks().has_cold() && self.hot.iter().all(|hot| !Arc::ptr_eq(hot, pool)) {
                    self.hot.push(Arc::clone(pool));
                }
                Variable::Pooled(Arc::clone(pool), column)
            }
        })
    }
}

impl Text {
    /// The text, where it is the same for all operations.
    pub(crate) fn fixed(&self) -> Option<&Bytes> {
        match self {
            Self::Fixed(text) => Some(text),
            Self::Filled(_) => None,
        }
    }

    /// Whether what an answer gave is a part of it.
    pub(crate) fn has_extracted(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Filled(parts) => {
                parts.iter().any(|part| matches!(part, Part::Made(Variable::Extracted(_), _)))
            }
        }
    }

    /// Appends it as the operation has it.
    pub(crate) fn write(&self, filler: Filler<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Fixed(text) => out.extend_from_slice(text),
            Self::Filled(parts) => parts.iter().for_each(|part| match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Made(variable, Encoding::Plain) => variable.write(filler, out),
                Part::Made(variable, encoding) => {
                    let mut plain = Vec::new();
                    variable.write(filler, &mut plain);
                    encoding.write(&plain, out);
                }
            }),
        }
    }
}

impl Variable {
    fn write(&self, Filler { turn, extracted }: Filler<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Seq => out.extend_from_slice(turn.seq.to_string().as_bytes()),
            Self::Uuid(draws) => write_uuid([draws.bits(2 * turn.seq), draws.bits(2 * turn.seq + 1)], out),
            Self::Random(below, draws) => {
                out.extend_from_slice((draws.bits(turn.seq) % below).to_string().as_bytes());
            }
            Self::Hex(digits, draws) => {
                let own = Draws::new(draws.bits(turn.seq), 0);
                let nibble = |place: u64| (own.bits(place / 16) >> (place % 16 * 4)) as u8 & 15;
                out.extend((0..*digits as u64).map(|place| hex_digit(nibble(place))));
            }
            Self::Pooled(pool, column) => pool.write(turn, *column, out),
            Self::Extracted(slot) => out.extend_from_slice(extracted.get(*slot).map_or(&[], Vec::as_slice)),
        }
    }
}

/// With the version 4 and the variant of RFC 9562 in the place of what was drawn.
fn write_uuid(drawn: [u64; 2], out: &mut Vec<u8>) {
    let high = drawn[0] & !0xf000 | 0x4000;
    let low = drawn[1] & !(0b11 << 62) | 0b10 << 62;
    for place in 0..32 {
        if [8, 12, 16, 20].contains(&place) {
            out.push(b'-');
        }
        let half = if place < 16 { high } else { low };
        out.push(hex_digit((half >> (60 - place % 16 * 4)) as u8 & 15));
    }
}

/// FNV-1a (draft-eastlake-fnv), so that what is drawn for a placeholder follows from how it is written.
pub(crate) fn label(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, seq: u64) -> String {
        let pool = Pool::read(&serde_json::from_str(r#"{"list":["a b","c\"d"]}"#).unwrap(), Draws::new(1, 1));
        let pools = Pools::from([("item".to_owned(), Arc::new(pool.unwrap()))]);
        let mut maker = TextMaker::new(&pools, Draws::new(7, 1));
        let slot = maker.slot("id");
        let text = maker.text("body", text, Encoding::Plain).unwrap();
        let extracted = vec![b"4711".to_vec(); slot + 1];
        let mut out = Vec::new();
        text.write(Filler { turn: Turn { seq, rank: seq }, extracted: &extracted }, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_an_operation_has_follows_from_its_number() {
        assert_eq!(filled("${seq}/${id}", 7), "7/4711");
        assert_eq!(filled("${url:item} ${json:item}", 1), "c%22d c\\\"d");
        assert_eq!(filled("${item}", 2), "a b");
        let twice = filled("${uuid} ${uuid} ${random:1000} ${hex:40}", 3);
        let words: Vec<&str> = twice.split(' ').collect();
        assert_eq!(words[0], words[1]);
        assert!(words[2].parse::<u64>().unwrap() < 1000 && words[3].len() == 40, "{twice}");
        assert_eq!(twice, filled("${uuid} ${uuid} ${random:1000} ${hex:40}", 3));
        assert_ne!(twice, filled("${uuid} ${uuid} ${random:1000} ${hex:40}", 4));
    }

    #[test]
    fn a_uuid_is_one_of_version_4() {
        for seq in 0..200 {
            let uuid = filled("${uuid}", seq);
            let groups: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(groups, [8, 4, 4, 4, 12], "{uuid}");
            assert!(uuid.as_bytes()[14] == b'4' && b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
        }
    }
}
