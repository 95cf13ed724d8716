//! The values that plans are written in: times, rates, sizes, percentages, shares, counts and names, one or many of them;
//! and keys that have another name by now. Each value is what it may be once it was read, and prints as text that reads
//! back as the same. Nothing here knows a plan, a protocol or a file.

mod count;
mod error;
mod one_or_many;
mod percent;
mod rate;
mod renamed;
mod scalar;
mod share;
mod size;
mod time;
mod word;

pub use count::Count;
pub use error::ValueError;
pub use one_or_many::OneOrMany;
pub use percent::{Percent, WholePercent};
pub use rate::Rate;
pub use renamed::RenamedKey;
pub use share::Share;
pub use size::ByteSize;
pub use time::TimeSpan;
pub use word::Word;
