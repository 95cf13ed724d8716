//! The server of a door: the page, what is new on it (server-sent events), how the run stands, and commands.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hammer_core::background::make_way;
use hammer_html::{LivePage, token_page};
use hammer_lab::clock::Clock;
use hammer_lab::handle::{LabConfig, LabHandle, LabTarget};
use hammer_lab::serve::answer::{self, AnswerBody};
use hammer_lab::serve::{ServePlan, Target};
use hammer_lab::{FaultScript, LabError};
use http::header::{
    ALLOW, CACHE_CONTROL, HOST, LOCATION, REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc, watch};

use super::access::{Access, COOKIE_NAME, Refusal};
use super::door::{Door, Unanswered};
use super::steering::AskedCommand;

/// A server of a door that runs.
pub(super) type DoorServer = LabHandle<DoorTarget>;

/// Everything that it needs to start.
#[derive(Debug)]
pub(super) struct DoorConfig {
    serve: ServePlan,
    /// Nothing goes wrong on purpose.
    faults: FaultScript,
    door: Arc<Door>,
}

/// What answers.
#[derive(Debug)]
pub(super) struct DoorTarget {
    door: Arc<Door>,
    clock: Arc<dyn Clock>,
    /// For those who look on.
    seats: Arc<Semaphore>,
}

impl DoorConfig {
    pub(super) fn new(serve: ServePlan, door: Arc<Door>) -> Self {
        Self { serve, faults: FaultScript::default(), door }
    }
}

impl LabConfig for DoorConfig {
    type Target = DoorTarget;

    const THREAD: &'static str = "web";

    fn serve(&self) -> &ServePlan {
        &self.serve
    }

    fn faults(&self) -> &FaultScript {
        &self.faults
    }

    fn path(&self) -> String {
        PAGE.to_owned()
    }

    fn target(self, clock: &Arc<dyn Clock>, _: &str) -> Result<DoorTarget, LabError> {
        Ok(DoorTarget { door: self.door, clock: Arc::clone(clock), seats: Arc::new(Semaphore::new(SEATS)) })
    }
}

impl LabTarget for DoorTarget {}

impl Target for DoorTarget {
    const ENDPOINTS: &'static [&'static str] = &["page", "live", "status", "commands", "session", "other"];

    fn endpoint(&self, _: &Method, path: &str) -> &'static str {
        match path {
            PAGE => "page",
            "/live" => "live",
            "/status" => "status",
            "/commands" => "commands",
            "/session" => "session",
            _ => "other",
        }
    }

    async fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        mut parts: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        // HTTP/2 names the host there (RFC 9113 section 8.3.1).
        if let (None, Some(host)) = (parts.headers.get(HOST), parts.uri.authority()) {
            let host = HeaderValue::from_str(host.as_str());
            parts.headers.extend(host.ok().map(|host| (HOST, host)));
        }
        let allowed: &[Method] = match endpoint {
            "commands" | "session" => &[Method::POST],
            _ => &[Method::GET, Method::HEAD],
        };
        let mut answer = if allowed.contains(&parts.method) {
            self.answered(endpoint, &parts, &body).await
        } else {
            let mut answer = refused(StatusCode::METHOD_NOT_ALLOWED, "this is not asked for by that method");
            let allowed: Vec<&str> = allowed.iter().map(Method::as_str).collect();
            answer
                .headers_mut()
                .extend(HeaderValue::try_from(allowed.join(", ")).map(|allow| (ALLOW, allow)));
            answer
        };
        for (name, value) in [
            (CACHE_CONTROL, "no-store"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (X_FRAME_OPTIONS, "DENY"),
            // With none at all, browsers say of a form of the page itself that it is of no origin.
            (REFERRER_POLICY, "same-origin"),
        ] {
            answer.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        answer
    }

    async fn work(self: Arc<Self>, _: watch::Receiver<bool>) {
        // It is the server's one thread that gets here; those that make pages are started by it.
        make_way();
    }
}

impl DoorTarget {
    async fn answered(&self, endpoint: &str, parts: &Parts, body: &Bytes) -> Response<AnswerBody> {
        let Some(access) = self.door.access() else {
            return refused(StatusCode::SERVICE_UNAVAILABLE, "the door is about to be opened");
        };
        let headers = &parts.headers;
        let access_to = |may: Result<(), Refusal>| may.err();
        match endpoint {
            "session" => return session(access, headers, body),
            "commands" => {
                if let Some(refusal) = access_to(access.may_steer(headers)) {
                    return refused(refusal.status(), &refusal.to_string());
                }
                return self.command(body).await;
            }
            _ => {}
        }
        match (endpoint, access_to(access.may_look(headers))) {
            // A person is asked for the token.
            ("page", Some(Refusal::NoToken)) => html(StatusCode::UNAUTHORIZED, token_page(false)),
            (_, Some(refusal)) => refused(refusal.status(), &refusal.to_string()),
            ("page", None) => html(StatusCode::OK, self.page().await.document()),
            ("live", None) => self.live(),
            ("status", None) => match self.door.status() {
                Some(status) => answer::json(json_line(&json!(status))),
                None => refused(StatusCode::CONFLICT, &Unanswered::NoRun.to_string()),
            },
            (_, None) => refused(StatusCode::NOT_FOUND, "there are /, /live, /status and /commands"),
        }
    }

    async fn command(&self, body: &Bytes) -> Response<AnswerBody> {
        let asked = match serde_json::from_slice::<AskedCommand>(body) {
            Ok(asked) => asked,
            Err(error) => return refused(StatusCode::BAD_REQUEST, &format!("this is no command: {error}")),
        };
        match self.door.steer(asked).await {
            Ok(said) => {
                let mut answer = answer::json(json_line(&json!(said)));
                if !said.is_done {
                    *answer.status_mut() = StatusCode::CONFLICT;
                }
                answer
            }
            Err(Unanswered::Misfit(why)) => refused(StatusCode::UNPROCESSABLE_ENTITY, &why),
            Err(why) => refused(StatusCode::CONFLICT, &why.to_string()),
        }
    }

    /// The page as it is now, made on a thread of its own, so that it holds up nobody else.
    async fn page(&self) -> Arc<LivePage> {
        let door = Arc::clone(&self.door);
        tokio::task::spawn_blocking(move || door.page()).await.unwrap_or_default()
    }

    /// What is new on the page, until nothing will be any more or the client goes away.
    fn live(&self) -> Response<AnswerBody> {
        let Ok(seat) = Arc::clone(&self.seats).try_acquire_owned() else {
            return refused(StatusCode::SERVICE_UNAVAILABLE, "there are too many who look on");
        };
        let (send, body) = mpsc::channel(1);
        let (door, clock) = (Arc::clone(&self.door), Arc::clone(&self.clock));
        let follower = Self { door, clock, seats: Arc::clone(&self.seats) };
        tokio::spawn(async move {
            follower.follow(send).await;
            drop(seat);
        });
        let mut answer = answer::ok("text/event-stream", Bytes::new());
        *answer.body_mut() = AnswerBody::as_it_comes(body);
        answer
    }

    async fn follow(self, send: mpsc::Sender<Bytes>) {
        let mut news = self.door.news();
        let mut earlier = Arc::new(LivePage::default());
        loop {
            let seen = *news.borrow();
            let started = self.clock.elapsed();
            let page = self.page().await;
            let made = self.clock.elapsed();
            let name = if seen.is_over { "end" } else { "parts" };
            let event = format!("event: {name}\ndata: {}\n\n", page.update(&earlier));
            earlier = page;
            let is_over = async {
                let over = news.wait_for(|news| news.is_over).await.is_ok();
                // Whoever reads nothing any more holds up no end.
                self.clock.sleep_until(self.clock.elapsed() + LEAST_PAUSE).await;
                over
            };
            tokio::select! {
                sent = send.send(event.into()) => if sent.is_err() || seen.is_over { return },
                _ = is_over => return,
            }
            // Whoever looks on must not take the processor from who sends.
            let next = made + LEAST_PAUSE.max(made.saturating_sub(started) * SHARE);
            tokio::select! {
                () = self.clock.sleep_until(next) => {}
                _ = news.wait_for(|news| news.is_over) => {}
                () = send.closed() => return,
            }
            tokio::select! {
                told = news.wait_for(|news| *news != seen) => if told.is_err() { return },
                () = send.closed() => return,
            }
        }
    }
}

/// Takes a token from a form, and leaves a cookie for it.
fn session(access: &Access, headers: &HeaderMap, body: &Bytes) -> Response<AnswerBody> {
    if let Err(refusal) = access.is_at_home(headers) {
        return refused(refusal.status(), &refusal.to_string());
    }
    let shown = std::str::from_utf8(body).ok().and_then(|body| body.trim().strip_prefix("token="));
    let is_right = shown.is_some_and(|token| access.is_token(token.trim()));
    let Some(cookie) = access.cookie().filter(|_| is_right) else {
        return html(StatusCode::UNAUTHORIZED, token_page(true));
    };
    let mut answer = answer::ok("text/plain; charset=utf-8", Bytes::new());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    answer.headers_mut().insert(LOCATION, HeaderValue::from_static("./"));
    let cookie = format!("{COOKIE_NAME}={cookie}; HttpOnly; SameSite=Strict; Path=/");
    answer.headers_mut().extend(HeaderValue::try_from(cookie).map(|cookie| (SET_COOKIE, cookie)));
    answer
}

fn html(status: StatusCode, document: String) -> Response<AnswerBody> {
    let mut answer = answer::ok("text/html; charset=utf-8", document);
    *answer.status_mut() = status;
    answer
}

/// A refusal, for a program.
fn refused(status: StatusCode, why: &str) -> Response<AnswerBody> {
    let mut answer = answer::json(json_line(&json!({ "error": why })));
    *answer.status_mut() = status;
    answer
}

fn json_line(value: &serde_json::Value) -> String {
    format!("{value}\n")
}

const PAGE: &str = "/";
/// Each has a whole page made into events of its own.
const SEATS: usize = 16;
/// Between two updates of a page.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// How many times as long as an update takes there is none.
const SHARE: u32 = 20;
