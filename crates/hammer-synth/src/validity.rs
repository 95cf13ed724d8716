//! The window in which a certificate is valid.

use crate::Error;
use crate::der::{Der, GENERALIZED_TIME, UTC_TIME};

/// Both ends in seconds since the Unix epoch, both included (RFC 5280 section 4.1.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    not_before: u64,
    not_after: u64,
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
            _ => return Ok(Self { not_before, not_after }),
        };
        Err(Error::Validity { not_before, not_after, reason })
    }

    /// The first valid second, since the Unix epoch.
    pub const fn not_before(self) -> u64 {
        self.not_before
    }

    /// The last valid second, since the Unix epoch.
    pub const fn not_after(self) -> u64 {
        self.not_after
    }

    pub(crate) fn write(self, der: &mut Der) {
        der.sequence(|der| {
            write_time(der, self.not_before);
            write_time(der, self.not_after);
        });
    }
}

/// UTCTime through 2049 and GeneralizedTime from 2050 on (RFC 5280 section 4.1.2.5).
fn write_time(der: &mut Der, unix_seconds: u64) {
    let (year, month, day) = civil_date(unix_seconds / SECONDS_A_DAY);
    let second = unix_seconds % SECONDS_A_DAY;
    let rest = format!("{month:02}{day:02}{:02}{:02}{:02}Z", second / 3600, second / 60 % 60, second % 60);
    if year < 2050 {
        der.primitive(UTC_TIME, format!("{:02}{rest}", year % 100).as_bytes());
    } else {
        der.primitive(GENERALIZED_TIME, format!("{year:04}{rest}").as_bytes());
    }
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

const SECONDS_A_DAY: u64 = 86_400;
const DAYS_FROM_MARCH_0000_TO_EPOCH: u64 = 719_468;
const DAYS_IN_400_YEARS: u64 = 146_097;
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
}
