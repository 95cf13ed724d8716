//! The lies of the gateway, of its backend's answers.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use hammer_lab::lie_rule::{AnswerLies, LieRule};
use http::{Method, StatusCode};
use serde::Serialize;
use serde_json::Value;

use crate::answer::{AnswerContent, GatewayAnswer, JSON, WritingStyle};
use crate::backend::{Backend, BackendRequest};
use crate::plan::GatewayLieKind;

/// A lie that was told, and whom it was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToldGatewayLie {
    /// What the lie was.
    pub kind: GatewayLieKind,
    /// The method of the request.
    pub method: String,
    /// Its path behind that of the hop, without the query.
    pub path: String,
}

/// What lies by rules. An honest one remembers no answers.
#[derive(Debug)]
pub(crate) struct GatewayLies {
    lies: Option<AnswerLies<GatewayLieKind, ToldGatewayLie>>,
    style: WritingStyle,
    recent: Mutex<VecDeque<RecentAnswer>>,
}

/// An answer that can be told for that of another path.
#[derive(Debug)]
struct RecentAnswer {
    path: String,
    answer: GatewayAnswer,
}

/// What could be told in the place of an answer.
struct PossibleLies {
    is_json: bool,
    another_answer: Option<GatewayAnswer>,
    another_session: Option<Value>,
}

impl GatewayLies {
    pub(crate) fn new(rules: &[LieRule<GatewayLieKind>], style: WritingStyle, elapsed: Duration) -> Self {
        let lies = (!rules.is_empty()).then(|| AnswerLies::new(rules, elapsed));
        Self { lies, style, recent: Mutex::default() }
    }

    /// Counts the times of the rules from `elapsed`.
    pub(crate) fn restart(&self, elapsed: Duration) {
        self.lies.iter().for_each(|lies| lies.restart(elapsed));
    }

    /// The lies that were told, in order, and the count of those beyond the listed ones.
    pub(crate) fn told(&self) -> (Vec<ToldGatewayLie>, u64) {
        self.lies.as_ref().map_or((Vec::new(), 0), AnswerLies::told)
    }

    /// The answer that is told in the place of the right one: mostly that one itself.
    pub(crate) fn answer(
        &self,
        request: &BackendRequest<'_>,
        right: GatewayAnswer,
        backend: &Backend,
        elapsed: Duration,
    ) -> GatewayAnswer {
        let Some(lies) = self.lies.as_ref().filter(|_| right.status.is_success()) else { return right };
        let session = request.session_read().filter(|_| right.status == StatusCode::OK);
        let possible = PossibleLies {
            is_json: matches!(right.content, AnswerContent::Json(_)),
            another_answer: self.another_answer(request, &right),
            another_session: session.and_then(|id| backend.another_session(id)),
        };
        let Some(kind) = lies.next_of(elapsed, |kind| possible.has(kind)) else { return right };
        let Some(lie) = possible.told(kind, &right, self.style) else { return right };
        let (method, path) = (request.method.to_string(), request.path.to_owned());
        lies.tell(ToldGatewayLie { kind, method, path });
        lie
    }

    /// The youngest answer to a GET of another path that differs from the right one, which is remembered as well.
    fn another_answer(&self, request: &BackendRequest<'_>, right: &GatewayAnswer) -> Option<GatewayAnswer> {
        if request.method != Method::GET {
            return None;
        }
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let is_other =
            |kept: &&RecentAnswer| kept.path != request.path && kept.answer.content != right.content;
        let another = recent.iter().rev().find(is_other).map(|kept| kept.answer.clone());
        recent.retain(|kept| kept.path != request.path);
        if recent.len() == MOST_RECENT {
            recent.pop_front();
        }
        recent.push_back(RecentAnswer { path: request.path.to_owned(), answer: right.clone() });
        another
    }
}

impl PossibleLies {
    fn has(&self, kind: GatewayLieKind) -> bool {
        match kind {
            GatewayLieKind::LoginPage => true,
            GatewayLieKind::AnotherAnswer => self.another_answer.is_some(),
            GatewayLieKind::CutJson => self.is_json,
            GatewayLieKind::StaleSession => self.another_session.is_some(),
        }
    }

    fn told(self, kind: GatewayLieKind, right: &GatewayAnswer, style: WritingStyle) -> Option<GatewayAnswer> {
        match kind {
            GatewayLieKind::LoginPage => {
                Some(GatewayAnswer::ok("text/html; charset=utf-8", Bytes::from_static(LOGIN_PAGE.as_bytes())))
            }
            GatewayLieKind::AnotherAnswer => self.another_answer,
            GatewayLieKind::CutJson => {
                let AnswerContent::Json(value) = &right.content else { return None };
                let whole = style.json(value);
                let content =
                    AnswerContent::Bytes { media_type: JSON, bytes: whole.slice(..whole.len() / 2) };
                Some(GatewayAnswer { content, ..right.clone() })
            }
            GatewayLieKind::StaleSession => {
                let content = AnswerContent::Json(self.another_session?);
                Some(GatewayAnswer { content, ..right.clone() })
            }
        }
    }
}

/// Answers that are remembered.
const MOST_RECENT: usize = 64;
const LOGIN_PAGE: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head><title>Log in</title></head>
<body>
<form method=\"post\" action=\"/oauth/start\">
<label>User <input name=\"username\"></label>
<label>Password <input name=\"password\" type=\"password\"></label>
<button>Log in</button>
</form>
</body>
</html>
";
