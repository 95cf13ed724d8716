//! The echo behind the gateway.

mod sessions;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use hammer_lab::{
    clock::Clock,
    fault::{Latency, draw},
};
use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{ALLOW, AUTHORIZATION, COOKIE, LOCATION, SET_COOKIE},
};
use serde_json::{Value, json};

use crate::answer::{GatewayAnswer, WritingStyle};
use crate::plan::BackendPlan;
use sessions::{SessionFault, SessionStore, SessionView};

/// What echoes, and has sessions.
#[derive(Debug)]
pub(crate) struct Backend {
    body: Bytes,
    latency: Option<Latency>,
    /// Of the draws of the latency.
    seed: u64,
    requests: AtomicU64,
    sessions: SessionStore,
    style: WritingStyle,
    /// The URL of the gateway.
    url: String,
    clock: Arc<dyn Clock>,
}

/// A request as the backend has it from the gateway.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackendRequest<'a> {
    pub(crate) method: &'a Method,
    pub(crate) headers: &'a HeaderMap,
    /// What stood before the path, and was taken away.
    pub(crate) prefix: &'a str,
    /// The path, without the query.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) body: &'a Bytes,
    /// The subject of the token, where one was validated.
    pub(crate) user: Option<&'a str>,
}

impl BackendRequest<'_> {
    /// The id of the session that it reads.
    pub(crate) fn session_read(&self) -> Option<&str> {
        self.path.strip_prefix(SESSIONS).filter(|_| self.method == Method::GET)
    }
}

impl Backend {
    pub(crate) fn new(
        plan: BackendPlan,
        seed: u64,
        style: WritingStyle,
        url: &str,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            body: plan.body.into(),
            latency: plan.latency,
            seed,
            requests: AtomicU64::new(0),
            sessions: SessionStore::new(plan.max_sessions.get()),
            style,
            url: url.to_owned(),
            clock,
        }
    }

    pub(crate) async fn answer(&self, request: BackendRequest<'_>) -> GatewayAnswer {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        if let Some(latency) = self.latency {
            let draw = |purpose| draw::uniform(self.seed, number, purpose);
            let latency = latency.sample(draw(LATENCY), draw(LATENCY + 1));
            self.clock.sleep_until(self.clock.elapsed() + latency).await;
        }
        if request.path.starts_with("/echo/") {
            return GatewayAnswer::json(StatusCode::OK, echo(&request));
        }
        match (request.path, request.path.strip_prefix(SESSIONS)) {
            ("/sessions", _) if request.method == Method::POST => self.start_session(&request),
            ("/sessions", _) => not_allowed("POST"),
            (_, Some(id)) if request.method == Method::GET => {
                match self.sessions.read(id, secret(&request)) {
                    Ok(view) => GatewayAnswer::json(StatusCode::OK, shown(&view)),
                    Err(fault) => fault.answer(),
                }
            }
            (_, Some(id)) if request.method == Method::DELETE => {
                let ended = self.sessions.end(id, secret(&request));
                ended.map_or_else(SessionFault::answer, |()| GatewayAnswer::empty(StatusCode::NO_CONTENT))
            }
            (_, Some(_)) => not_allowed("GET, DELETE"),
            _ => GatewayAnswer::ok("text/plain; charset=utf-8", self.body.clone()),
        }
    }

    /// Another session than this one, as it would be read; none where there is none.
    pub(crate) fn another_session(&self, id: &str) -> Option<Value> {
        self.sessions.another(id).map(|view| shown(&view))
    }

    /// How many sessions are there.
    pub(crate) fn open_sessions(&self) -> usize {
        self.sessions.count()
    }

    /// Forgets all sessions.
    pub(crate) fn forget(&self) {
        self.sessions.clear();
    }

    fn start_session(&self, request: &BackendRequest<'_>) -> GatewayAnswer {
        let Ok(started) = self.sessions.start(request.user) else {
            return GatewayAnswer::error(StatusCode::INTERNAL_SERVER_ERROR, "server_error", "no randomness");
        };
        let path = format!("{}{SESSIONS}{}", request.prefix, started.id);
        // A URI reference (RFC 9110 section 10.2.2), which may be each of these.
        let location = match (self.style, started.number % 2) {
            (WritingStyle::Usual, _) => path.clone(),
            (WritingStyle::Odd, 0) => format!("{}{path}", self.url),
            // Relative to `/sessions`, whatever stands before it.
            (WritingStyle::Odd, _) => format!("sessions/{}", started.id),
        };
        let cookie = format!("{SESSION_COOKIE}={}; Path=/; HttpOnly", started.secret);
        let items: Vec<Value> =
            (1..=ITEMS).map(|item| json!({ "id": format!("{}-{item}", started.id) })).collect();
        let shown = json!({ "id": started.id, "links": { "self": path }, "items": items });
        let mut answer = GatewayAnswer::json(StatusCode::CREATED, shown);
        let headers = [(LOCATION, location), (SET_COOKIE, cookie)];
        // Hexadecimal digits and what came as a path are always a value.
        let headers = headers.map(|(name, value)| Some((name, HeaderValue::try_from(value).ok()?)));
        answer.headers.extend(headers.into_iter().flatten());
        answer
    }
}

impl SessionFault {
    fn answer(self) -> GatewayAnswer {
        match self {
            Self::Unknown => {
                GatewayAnswer::error(StatusCode::NOT_FOUND, "not_found", "there is no such session")
            }
            Self::Forbidden => GatewayAnswer::error(
                StatusCode::FORBIDDEN,
                "forbidden",
                "the cookie is not that of the session",
            ),
        }
    }
}

fn not_allowed(methods: &'static str) -> GatewayAnswer {
    let description = "the path has no such method";
    let mut answer = GatewayAnswer::error(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", description);
    answer.headers.insert(ALLOW, HeaderValue::from_static(methods));
    answer
}

/// A session as it is read.
fn shown(view: &SessionView) -> Value {
    json!({ "id": view.id, "reads": view.reads, "user": view.user })
}

/// All that came with a request. The token is the gateway's own affair: where it was validated, it is left out.
fn echo(request: &BackendRequest<'_>) -> Value {
    let mut headers = BTreeMap::<&str, String>::new();
    for (name, value) in request.headers {
        if name == AUTHORIZATION && request.user.is_some() {
            continue;
        }
        let value = String::from_utf8_lossy(value.as_bytes());
        headers
            .entry(name.as_str())
            .and_modify(|before| *before = format!("{before}, {value}"))
            .or_insert_with(|| value.clone().into_owned());
    }
    json!({
        "method": request.method.as_str(),
        "path": request.path,
        "query": request.query,
        "headers": headers,
        "body": String::from_utf8_lossy(request.body),
        "user": request.user,
    })
}

/// What the cookie of the session holds (RFC 6265 section 4.2).
fn secret<'a>(request: &BackendRequest<'a>) -> Option<&'a str> {
    let values = request.headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut cookies =
        values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    cookies.find(|(name, _)| *name == SESSION_COOKIE).map(|(_, value)| value)
}

/// What stands before the id of a session.
const SESSIONS: &str = "/sessions/";
const SESSION_COOKIE: &str = "session";
/// Items of a session as it starts.
const ITEMS: usize = 3;
/// The purpose of the draws of latencies; a script of faults uses low numbers, and authorization others.
const LATENCY: u64 = 2 << 32;
