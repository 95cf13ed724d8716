//! A page that is served to whoever asks for `/metrics`: of what this machine uses, or of a run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hammer_lab::clock::Clock;
use hammer_lab::handle::{LabConfig, LabHandle, LabTarget};
use hammer_lab::serve::answer::{self, AnswerBody};
use hammer_lab::serve::{ServePlan, Target};
use hammer_lab::{FaultScript, LabError};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use tokio::sync::watch;

/// Where a page comes from.
pub(crate) trait ServedPage: fmt::Debug + Send + Sync + 'static {
    /// The name of the server's threads.
    const THREAD: &'static str;
    /// How often it is asked for beside requests; never without it.
    const LOOK_EVERY: Option<Duration>;

    /// The page as it is now, in Prometheus's text format; `is_asked` where somebody is given it.
    fn text(&self, is_asked: bool) -> String;
}

/// A server of a page that runs.
pub(crate) type PageServer<P> = LabHandle<PageTarget<P>>;

/// Everything that the server of a page needs to start.
#[derive(Debug)]
pub(crate) struct PageConfig<P> {
    serve: ServePlan,
    /// Nothing goes wrong on purpose.
    faults: FaultScript,
    page: P,
}

/// What serves the page.
#[derive(Debug)]
pub(crate) struct PageTarget<P> {
    page: P,
    clock: Arc<dyn Clock>,
}

impl<P> PageConfig<P> {
    /// The page, served as that says.
    pub(crate) fn new(serve: ServePlan, page: P) -> Self {
        Self { serve, faults: FaultScript::default(), page }
    }
}

impl<P: ServedPage> LabConfig for PageConfig<P> {
    type Target = PageTarget<P>;

    const THREAD: &'static str = P::THREAD;

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn path(&self) -> String {
        PAGE.to_owned()
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<PageTarget<P>, LabError> {
        let target = PageTarget { page: self.page, clock: clock.clone() };
        // From here on what is looked at counts.
        target.page.text(false);
        Ok(target)
    }
}

impl<P: ServedPage> LabTarget for PageTarget<P> {}

impl<P: ServedPage> Target for PageTarget<P> {
    const ENDPOINTS: &'static [&'static str] = &["metrics", "other"];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        if path == PAGE { "metrics" } else { "other" }
    }

    async fn answer(self: Arc<Self>, endpoint: &'static str, parts: Parts, _: Bytes) -> Response<AnswerBody> {
        match (endpoint, &parts.method) {
            ("metrics", &Method::GET) => answer::ok(FORMAT, self.page.text(true)),
            ("metrics", &Method::HEAD) => answer::ok(FORMAT, self.page.text(false)),
            ("metrics", _) => answer::error(StatusCode::METHOD_NOT_ALLOWED, "the page is there to be read"),
            _ => answer::error(StatusCode::NOT_FOUND, "the page is /metrics"),
        }
    }

    async fn work(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        let Some(every) = P::LOOK_EVERY else { return };
        loop {
            let next = self.clock.elapsed() + every;
            tokio::select! {
                () = self.clock.sleep_until(next) => drop(self.page.text(false)),
                _ = stopped.wait_for(|stop| *stop) => return,
            }
        }
    }
}

const PAGE: &str = "/metrics";
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
