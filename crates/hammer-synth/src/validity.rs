//! The window in which a certificate is valid.

use crate::der::{Der, Field, GENERALIZED_TIME, UTC_TIME};
use crate::error::Error;

/// Both ends in seconds since the Unix epoch, both included (RFC 5280 section 4.1.2.5). The end of leaves may be spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    not_before: u64,
    not_after: u64,
    /// How many seconds later the last leaf's end is.
    spread: u64,
}

impl Validity {
    /// A window from `not_before` to `not_after`, in seconds since the Unix epoch.
    ///
    /// # Errors
    /// [`Error::Validity`] when it ends before it starts, or after the year 9999.
    pub fn new(not_before: u64, not_after: u64) -> Result<Self, Error> {
        let reason = match (not_before, not_after) {
            (from, to) if to < from => "it ends before it starts",
            (_, to) if to > LAST_SECOND_OF_9999 => "it ends after the year 9999",
            _ => return Ok(Self { not_before, not_after, spread: 0 }),
        };
        Err(Error::Validity { not_before, not_after, reason })
    }

    /// The same window for leaves whose ends are drawn from its own end through `last`, in seconds since the Unix epoch.
    ///
    /// # Errors
    /// [`Error::Validity`] when `last` comes before the end, after the year 9999, or when the dates between are written in
    /// two forms: one before 2050, the other from then on.
    pub fn spread_to(self, last: u64) -> Result<Self, Error> {
        let Self { not_before, not_after, .. } = self;
        let reason = match last {
            last if last < not_after => "its last end comes before its first",
            last if last > LAST_SECOND_OF_9999 => "it ends after the year 9999",
            last if is_utc(not_after) != is_utc(last) => "its ends are on both sides of 2050",
            _ => return Ok(Self { spread: last - not_after, ..self }),
        };
        Err(Error::Validity { not_before, not_after: last, reason })
    }

    /// The last valid second of the leaf for which this was drawn, since the Unix epoch.
    pub const fn not_after_by(self, draw: u64) -> u64 {
        self.not_after + draw % (self.spread + 1)
    }

    /// The first valid second, since the Unix epoch.
    pub const fn not_before(self) -> u64 {
        self.not_before
    }

    /// The last valid second, since the Unix epoch; the first of them where they are spread.
    pub const fn not_after(self) -> u64 {
        self.not_after
    }

    /// The last of the last valid seconds, since the Unix epoch.
    pub const fn last_not_after(self) -> u64 {
        self.not_after + self.spread
    }

    /// Writes it, with that end; where ends are spread its place is marked.
    pub(crate) fn write(self, der: &mut Der, not_after: u64) {
        der.sequence(|der| {
            write_time(der, self.not_before);
            if self.spread == 0 {
                return write_time(der, not_after);
            }
            let mut text = [0; TIME];
            let text = time_text(not_after, &mut text);
            der.nested(time_tag(not_after), |der| der.field(Field::NotAfter, text));
        });
    }
}

/// Whether the time is written as UTCTime: through 2049 (RFC 5280 section 4.1.2.5).
fn is_utc(unix_seconds: u64) -> bool {
    unix_seconds < FIRST_SECOND_OF_2050
}

fn time_tag(unix_seconds: u64) -> u8 {
    if is_utc(unix_seconds) { UTC_TIME } else { GENERALIZED_TIME }
}

/// Two digits at a time, of the year two or all four.
pub(crate) fn time_text(unix_seconds: u64, out: &mut [u8; TIME]) -> &[u8] {
    let (year, month, day) = civil_date(unix_seconds / SECONDS_A_DAY);
    let second = unix_seconds % SECONDS_A_DAY;
    let pairs = [year / 100, year % 100, month, day, second / 3600, second / 60 % 60, second % 60];
    for (place, pair) in out.chunks_exact_mut(2).zip(pairs) {
        place.copy_from_slice(&[b'0' + (pair / 10) as u8, b'0' + (pair % 10) as u8]);
    }
    out[TIME - 1] = b'Z';
    &out[if is_utc(unix_seconds) { 2 } else { 0 }..]
}

fn write_time(der: &mut Der, unix_seconds: u64) {
    der.primitive(time_tag(unix_seconds), time_text(unix_seconds, &mut [0; TIME]));
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar. Years run from March here,
/// so that the leap day is a year's last.
fn civil_date(days_since_epoch: u64) -> (u64, u64, u64) {
    let days = days_since_epoch + DAYS_FROM_MARCH_0000_TO_EPOCH;
    let (era, day_of_era) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Bytes of a GeneralizedTime to the second.
pub(crate) const TIME: usize = 15;
const SECONDS_A_DAY: u64 = 86_400;
const DAYS_FROM_MARCH_0000_TO_EPOCH: u64 = 719_468;
const DAYS_IN_400_YEARS: u64 = 146_097;
const FIRST_SECOND_OF_2050: u64 = 2_524_608_000;
const LAST_SECOND_OF_9999: u64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use super::*;

    fn time(unix_seconds: u64) -> Vec<u8> {
        Der::build(|der| write_time(der, unix_seconds))[2..].to_vec()
    }

    #[test]
    fn times_are_utc_through_2049_and_generalized_after() {
        assert_eq!(time(0), b"700101000000Z");
        assert_eq!(time(951_827_696), b"000229123456Z");
        assert_eq!(time(2_524_607_999), b"491231235959Z");
        assert_eq!(time(2_524_608_000), b"20500101000000Z");
        assert_eq!(time(LAST_SECOND_OF_9999), b"99991231235959Z");
    }

    #[test]
    fn a_window_must_end_after_it_starts_and_before_the_year_10000() {
        assert!(Validity::new(10, 9).is_err());
        assert!(Validity::new(10, LAST_SECOND_OF_9999 + 1).is_err());
        assert!(Validity::new(10, 10).is_ok());
    }

    #[test]
    fn spread_ends_are_in_their_range_and_of_one_form() {
        let window = Validity::new(10, 20).unwrap();
        let spread = window.spread_to(29).unwrap();
        assert_eq!((spread.not_after(), spread.last_not_after()), (20, 29));
        assert_eq!([0, 9, 10, u64::MAX].map(|draw| spread.not_after_by(draw)), [20, 29, 20, 25]);
        assert_eq!(window.not_after_by(7), 20);
        assert!(window.spread_to(19).is_err());
        assert!(window.spread_to(FIRST_SECOND_OF_2050 - 1).is_ok());
        assert!(window.spread_to(FIRST_SECOND_OF_2050).is_err());
        let late = Validity::new(10, FIRST_SECOND_OF_2050).unwrap();
        assert!(late.spread_to(LAST_SECOND_OF_9999).is_ok());
        assert!(late.spread_to(LAST_SECOND_OF_9999 + 1).is_err());
    }
}
