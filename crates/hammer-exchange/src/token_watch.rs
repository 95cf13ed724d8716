//! Who looks after the tokens beside the load: reads a file again that has changed, mints again what is soon over, and tells when there was none that is good.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;
use hammer_net::Secret;

use crate::minted::TokenMint;
use crate::stock::{StockedToken, TokenStock, TokenSubject};
use crate::wall::WallTime;

/// A file with a token, which may be replaced while a run lasts, as those of service accounts are.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    subject: TokenSubject,
    /// Whether a token that is over by its own word is shown all the same: whoever it is shown to says what that is worth.
    shown_when_over: bool,
    /// When it was written that was read last; none where the file system does not say.
    written: Option<SystemTime>,
}

impl TokenFile {
    /// The file at `path`, which is about to be read for the first time.
    pub fn at(path: &Path, subject: TokenSubject) -> Self {
        Self { path: path.to_owned(), subject, shown_when_over: false, written: written(path) }
    }

    /// Its token is shown also when it is over by its own word.
    #[must_use]
    pub fn shown_when_over(self) -> Self {
        Self { shown_when_over: true, ..self }
    }

    /// The token of the file, where the file has changed since it was read.
    ///
    /// # Errors
    /// What keeps it from being used, told once for each change.
    fn changed(&mut self) -> Option<Result<StockedToken, String>> {
        // A file that is just being replaced is looked for again.
        let found = written(&self.path).filter(|found| Some(*found) != self.written)?;
        let read = Secret::from_file(&self.path).map_err(|error| format!("failed to {error}"));
        Some(read.and_then(|token| {
            let stocked = StockedToken::of(token, &self.subject, None);
            let stocked = stocked.map(|token| if self.shown_when_over { token.without_end() } else { token });
            // What is just being written is looked at again, whatever its time says then.
            self.written = stocked.is_ok().then_some(found).or(self.written);
            stocked.map_err(|error| format!("failed to {error}"))
        }))
    }
}

fn written(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|file| file.modified()).ok()
}

/// Looks after a stock over a run.
#[derive(Debug)]
pub struct TokenWatch {
    stock: Arc<TokenStock>,
    wall: WallTime,
    file: Option<TokenFile>,
    mint: Option<TokenMint>,
    /// What follows `no token` where there are others; nothing where there are none.
    of: String,
    told: usize,
    /// What was told of the file last.
    trouble: Option<String>,
    gap: Option<TokenGap>,
}

/// A time without a token that is good.
#[derive(Clone, Copy, Debug)]
struct TokenGap {
    since: Nanos,
    /// Operations that had gone without before.
    without: u64,
}

impl TokenWatch {
    /// Of that stock.
    pub fn new(stock: Arc<TokenStock>, wall: WallTime) -> Self {
        Self { stock, wall, file: None, mint: None, of: String::new(), told: 0, trouble: None, gap: None }
    }

    /// The tokens are of this file.
    #[must_use]
    pub fn of_file(self, file: TokenFile) -> Self {
        Self { file: Some(file), ..self }
    }

    /// The tokens are of this mint.
    #[must_use]
    pub fn of_mint(self, mint: TokenMint) -> Self {
        Self { mint: Some(mint), ..self }
    }

    /// The tokens have that name, by which they are told from others of the run.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { of: format!(" of {name}"), ..self }
    }

    /// Looks at `now`; what there is to tell.
    fn look(&mut self, now: Nanos) -> Vec<String> {
        let mut notes = Vec::new();
        let unix_ms = self.wall.unix_ms(now);
        match self.mint.as_mut().and_then(|mint| mint.renewed(unix_ms)) {
            Some(Ok(tokens)) => self.stock.replace(tokens),
            Some(Err(error)) => self.stock.hindered(format!("failed to {error}")),
            None => {}
        }
        match self.file.as_mut().and_then(TokenFile::changed) {
            Some(Ok(token)) => {
                tracing::info!("the file of the token has changed, and was read again");
                self.stock.replace(vec![token]);
            }
            Some(Err(trouble)) => {
                tracing::warn!(%trouble, "the file of the token has changed, and is of no use");
                if self.trouble.as_ref() != Some(&trouble) {
                    notes.push(format!("{trouble}: the token{} before is sent on", self.of));
                    self.trouble = Some(trouble.clone());
                }
                self.stock.hindered(trouble);
            }
            None => {}
        }
        match (self.stock.has_good_at(self.wall.unix_ms(now)), self.gap) {
            (false, None) => {
                tracing::warn!(at = %now, "no token is valid any more");
                self.gap = Some(TokenGap { since: self.since(now), without: self.stock.without() });
            }
            (true, Some(gap)) => {
                notes.extend(self.told_gap(gap, Some(now)));
                self.gap = None;
            }
            _ => {}
        }
        notes
    }

    /// Since when there is none, which is known by the second.
    fn since(&self, now: Nanos) -> Nanos {
        let end = self.stock.last_end().map_or(now, |end| self.wall.instant_of(end));
        end.min(now)
    }

    /// What is told of a time without a token, which is over at `until` or lasts on.
    fn told_gap(&mut self, gap: TokenGap, until: Option<Nanos>) -> Option<String> {
        self.told += 1;
        if self.told > MOST_TOLD {
            return None;
        }
        let flows = self.stock.without() - gap.without;
        let until =
            until.map_or_else(|| "to the end".to_owned(), |until| format!("to {:.1} s", until.as_secs_f64()));
        let trouble = match (self.stock.trouble(), &self.file) {
            (Some(trouble), _) => trouble,
            (None, Some(file)) => format!("{} had no other", file.path.display()),
            (None, None) => "it could not be replaced in time".to_owned(),
        };
        let operations = if flows == 1 { "1 operation".to_owned() } else { format!("{flows} operations") };
        let of = &self.of;
        Some(format!(
            "no token{of} was valid from {:.1} s {until}: {operations} went without and sent nothing (abandoned, \"no valid token\"); {trouble}",
            gap.since.as_secs_f64(),
        ))
    }
}

impl Observer for TokenWatch {
    fn observe(
        mut self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        mut ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(async move {
            loop {
                let now = clock.now();
                self.look(now).into_iter().for_each(|note| sink.note(now, note));
                tokio::select! {
                    () = &mut ending => break,
                    () = clock.sleep_until(now.saturating_add(LOOK_EVERY)) => {}
                }
            }
            let now = clock.now();
            self.look(now).into_iter().for_each(|note| sink.note(now, note));
            if let Some(gap) = self.gap.take() {
                self.told_gap(gap, None).into_iter().for_each(|note| sink.note(now, note));
            }
        })
    }
}

const LOOK_EVERY: Nanos = Nanos::from_millis(500);
/// A report has room for so many sentences about one thing.
const MOST_TOLD: usize = 20;

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::*;

    fn token(text: &str, expires_at: Option<i64>) -> StockedToken {
        StockedToken::of(Secret::new(text).unwrap(), &TokenSubject::Unasked, expires_at).unwrap()
    }

    #[test]
    fn a_time_without_a_token_is_one_sentence_with_its_operations() {
        let stock = TokenStock::new(vec![token("a", Some(110))]);
        let mut watch = TokenWatch::new(stock.clone(), WallTime { epoch_unix_ms: 100_000 });
        let at = Nanos::from_millis;
        assert!(watch.look(at(9_000)).is_empty() && watch.look(at(10_200)).is_empty());
        stock.without.fetch_add(7, Ordering::Relaxed);
        stock.hindered("the issuer answered 503");
        assert!(watch.look(at(12_000)).is_empty());
        stock.replace(vec![token("b", Some(130))]);
        stock.hindered("the issuer answered 503");
        let told = watch.look(at(13_000));
        assert_eq!(
            told,
            [
                "no token was valid from 10.0 s to 13.0 s: 7 operations went without and sent nothing (abandoned, \
              \"no valid token\"); the issuer answered 503"
            ]
        );
        assert!(watch.look(at(14_000)).is_empty() && watch.gap.is_none());
        let mut watch = watch.named("oauth-api");
        assert!(watch.look(at(31_000)).is_empty());
        stock.replace(vec![token("c", Some(150))]);
        assert!(
            watch.look(at(32_000))[0]
                .starts_with("no token of oauth-api was valid from 30.0 s to 32.0 s: 0 op")
        );
    }

    #[test]
    fn a_file_that_changes_is_read_again_and_one_that_is_of_no_use_changes_nothing() {
        let folder = std::env::temp_dir().join(format!("hammer-token-watch-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("token");
        let write = |text: &str, age: u64| {
            fs::write(&path, text).unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + age);
            File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
        };
        write("first", 0);
        let stock = TokenStock::new(vec![token("first", None)]);
        let file = TokenFile::at(&path, TokenSubject::Unasked);
        let mut watch = TokenWatch::new(stock.clone(), WallTime { epoch_unix_ms: 0 }).of_file(file);
        let now = |watch: &mut TokenWatch| {
            let notes = watch.look(Nanos::ZERO);
            assert!(
                notes.iter().all(|note| note.ends_with("empty token: the token before is sent on")),
                "{notes:?}"
            );
            watch.stock.tokens()[0].token.expose().to_owned()
        };
        write("unchanged by its time", 0);
        assert_eq!(now(&mut watch), "first");
        write("second", 1);
        assert_eq!(now(&mut watch), "second");
        write("  ", 2);
        assert_eq!(now(&mut watch), "second");
        assert!(stock.trouble().unwrap().contains("empty token"));
        fs::remove_file(&path).unwrap();
        assert_eq!(now(&mut watch), "second");
        write("third", 3);
        assert_eq!(now(&mut watch), "third");
        assert_eq!(stock.trouble(), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
