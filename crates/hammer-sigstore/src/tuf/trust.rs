//! What clients of an instance trust, as its TUF repository says before a run.

use std::fmt;
use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::connection::ConnectionLog;
use hammer_net::{Answer, Client, ClientConfig, Request};
use hammer_tuf::{Refresh, RefreshedTarget, Role};

use crate::error::SigstoreError;
use crate::plan::TufTargetPlan;
use crate::trust::TrustedRoot;

impl TufTargetPlan {
    /// The root that clients come with.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn first_root(&self) -> Result<Vec<u8>, SigstoreError> {
        std::fs::read(&self.root).map_err(|source| SigstoreError::Read {
            key: "tuf.root",
            path: self.root.clone(),
            source,
        })
    }

    /// Refreshes a client that has nothing but the first root, file by file, each verified before the next is asked for; at
    /// `unix_seconds`, which is now. Its target is what is trusted.
    ///
    /// # Errors
    /// What of it cannot be had or is not believed, and where.
    pub async fn trusted_root(
        &self,
        client: ClientConfig,
        clock: Rc<dyn Clock>,
        unix_seconds: u64,
    ) -> Result<TrustedRoot, SigstoreError> {
        let late = clock.sleep_until(clock.now().saturating_add(LONGEST_REFRESH));
        let refreshed = tokio::select! {
            refreshed = self.refreshed(client, clock.clone(), unix_seconds) => refreshed?,
            () = late => return Err(self.failed("whole refresh", &"it took more than 30 s")),
        };
        let text = std::str::from_utf8(&refreshed.body).map_err(|why| self.failed(&self.target, &why))?;
        TrustedRoot::parse(text).map_err(|why| self.failed(&self.target, &why))
    }

    async fn refreshed(
        &self,
        client: ClientConfig,
        clock: Rc<dyn Clock>,
        unix_seconds: u64,
    ) -> Result<RefreshedTarget, SigstoreError> {
        let client = Client::new(client, clock, ConnectionLog::default());
        let client = client.map_err(|why| self.failed("metadata", &why))?;
        let mut refresh = Refresh::new(&self.first_root()?, &self.target).map_err(SigstoreError::TufRoot)?;
        let mut answer = Answer::default();
        while let Some(wanted) = refresh.wanted() {
            let (role, path) = (wanted.role, wanted.path.clone());
            let what = format!("{role} ({path})");
            let path = client.path(&path).map_err(|why| self.failed(&what, &why))?;
            client.send(&Request::get(path), &mut answer).await.map_err(|why| self.failed(&what, &why))?;
            let body = match (role, answer.status.as_u16()) {
                (_, 200) => Some(answer.body.as_slice()),
                (Role::Root, 403 | 404) => None,
                (_, status) => return Err(self.failed(&what, &format!("it was answered with {status}"))),
            };
            let believed = refresh.answer(body, unix_seconds);
            believed.map_err(|why| self.failed(&what, &format!("failed to {why}")))?;
        }
        refresh.finish().ok_or_else(|| self.failed("target", &"the refresh has no end"))
    }

    fn failed(&self, what: &str, reason: &dyn fmt::Display) -> SigstoreError {
        let url = self.url.as_slice().first().map(ToString::to_string).unwrap_or_default();
        SigstoreError::TufRepository { what: what.to_owned(), url, reason: reason.to_string() }
    }
}

/// A refresh is a handful of requests.
const LONGEST_REFRESH: Nanos = Nanos(30_000_000_000);
