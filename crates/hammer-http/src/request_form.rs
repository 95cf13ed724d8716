//! Requests as they are made for each operation.

use bytes::BytesMut;
use hammer_core::workload::Ended;
use hammer_exchange::ServiceClient;
use hammer_measure::Outcome;
use hammer_net::grpc::{frame, unary_request};
use hammer_net::{Body, BodySink, Request};
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::uri::PathAndQuery;

use crate::error::HttpError;
use crate::extraction::Taken;
use crate::filling::{Filler, Text, TextMaker};
use crate::judgement::Judgement;
use crate::plan::{GrpcMethod, HttpPlan};
use crate::template::Encoding;

/// A request, and what is asked of its answer.
#[derive(Debug)]
pub(crate) struct RequestForm {
    /// What is the same for all operations; the path is that of the plan alone where it is among that.
    same: Request,
    path: Text,
    /// Those headers that differ.
    headers: Vec<(HeaderName, Text)>,
    /// The body, where it differs.
    body: Option<Text>,
    is_call: bool,
    pub(crate) judgement: Judgement,
    /// What is taken from its answer.
    pub(crate) taken: Vec<Taken>,
}

/// A request of a shard's session, with its whole path where that is the same for all operations.
#[derive(Debug)]
pub(crate) struct OpenedRequest {
    request: Request,
}

impl RequestForm {
    /// The request of a plan, of whose answer this is taken.
    pub(crate) fn new(
        plan: &HttpPlan,
        taken: Vec<Taken>,
        texts: &mut TextMaker<'_>,
    ) -> Result<Self, HttpError> {
        let path = plan.grpc.as_ref().map_or(plan.path.as_str(), GrpcMethod::as_str);
        let path = texts.text("path", path, Encoding::Path)?;
        let (mut same, mut headers) = (HeaderMap::new(), Vec::new());
        for (name, values) in &plan.headers {
            let mut made = Vec::new();
            for value in values.as_slice() {
                made.push((value, texts.text("headers", value.text(), Encoding::Plain)?));
            }
            // Values of one name stay in their order.
            let is_same = made.iter().all(|(_, text)| text.fixed().is_some());
            for (value, text) in made {
                match text.fixed() {
                    Some(fixed) if is_same => {
                        let fixed = HeaderValue::from_maybe_shared(fixed.clone());
                        same.append(name.name(), fixed.unwrap_or_else(|_| value.value().clone()));
                    }
                    _ => headers.push((name.name().clone(), text)),
                }
            }
        }
        if let Some(basic) = &plan.basic {
            same.append(AUTHORIZATION, basic.authorization().map_err(HttpError::Password)?);
        }
        let body = plan.body.as_ref().map(|text| texts.text("body", text, Encoding::Plain)).transpose()?;
        let of_file = plan.body_of_file()?;
        let judgement = Judgement::of(plan, texts)?;
        let reads_body = judgement.reads_body() || taken.iter().any(Taken::is_of_json);
        let at_first = body.as_ref().and_then(Text::fixed).cloned().unwrap_or(of_file);
        let at_root = PathAndQuery::from_static("/");
        let request = match &plan.grpc {
            None => Request {
                method: plan.method.method().clone(),
                headers: same.into(),
                body: at_first.into(),
                ..Request::get(at_root)
            },
            Some(_) => {
                let message = frame(&at_first, &mut BytesMut::new()).map_err(HttpError::Message)?;
                of_call(unary_request(at_root, message), &same, &headers)
            }
        };
        let request =
            Request { sink: if reads_body { BodySink::Keep } else { BodySink::Discard }, ..request };
        let looked_at = judgement.headers().cloned().chain(taken.iter().filter_map(Taken::header));
        let same = looked_at.fold(request, Request::keep_header);
        let body = body.filter(|text| text.fixed().is_none());
        Ok(Self { same, path, headers, body, is_call: plan.grpc.is_some(), judgement, taken })
    }

    /// Whether it is a call of gRPC.
    pub(crate) fn is_call(&self) -> bool {
        self.is_call
    }

    /// Its method, in small letters.
    pub(crate) fn method(&self) -> String {
        self.same.method.as_str().to_ascii_lowercase()
    }

    /// What is the same for all operations.
    pub(crate) fn same_mut(&mut self) -> &mut Request {
        &mut self.same
    }

    /// Whether its answer's body is read as JSON.
    pub(crate) fn reads_json(&self) -> bool {
        self.judgement.reads_json() || self.taken.iter().any(Taken::is_of_json)
    }

    /// The request as a shard sends it to `service`.
    pub(crate) fn open(&self, service: &ServiceClient) -> Result<OpenedRequest, HttpError> {
        let mut request = self.same.clone();
        if let Some(path) = self.path.fixed() {
            request.path = service.path(&String::from_utf8_lossy(path))?;
        }
        Ok(OpenedRequest { request })
    }

    /// The request of an operation, in `out` where it differs from others.
    ///
    /// # Errors
    /// How the operation ends whose values make no request.
    pub(crate) fn fill<'a>(
        &self,
        opened: &'a OpenedRequest,
        service: &ServiceClient,
        filler: Filler<'_>,
        (text, out): (&mut Vec<u8>, &'a mut Option<Request>),
    ) -> Result<&'a Request, Ended> {
        if self.path.fixed().is_some() && self.headers.is_empty() && self.body.is_none() {
            return Ok(&opened.request);
        }
        let request = out.insert(opened.request.clone());
        if self.path.fixed().is_none() {
            text.clear();
            self.path.write(filler, text);
            let path = std::str::from_utf8(text).map_err(|_| NO_PATH)?;
            let starts = path.is_empty() || path.starts_with(['/', '?']);
            let unfit = if self.path.has_extracted() { EXTRACTED_NO_PATH } else { NO_PATH };
            request.path = service.path(path).ok().filter(|_| starts).ok_or(unfit)?;
        }
        for (name, value) in &self.headers {
            text.clear();
            value.write(filler, text);
            let unfit = if value.has_extracted() { EXTRACTED_NO_HEADER } else { NO_HEADER };
            let mut filled = HeaderValue::from_bytes(text).map_err(|_| unfit)?;
            // What a server gave is shown to no other one that a redirect leads to.
            filled.set_sensitive(value.has_extracted());
            let value = filled;
            request.headers.append(name, value);
        }
        if let Some(body) = &self.body {
            text.clear();
            body.write(filler, text);
            request.body = match self.is_call {
                // Given away: a body of megabytes is not held twice.
                false => Body::from(std::mem::take(text)),
                true => frame(text, &mut BytesMut::new()).map_err(|_| NO_MESSAGE)?.into(),
            };
        }
        Ok(request)
    }
}

/// The plan's headers stand for those of the call of the same name.
fn of_call(mut call: Request, same: &HeaderMap, differing: &[(HeaderName, Text)]) -> Request {
    for name in same.keys().chain(differing.iter().map(|(name, _)| name)) {
        call.headers.remove(name);
    }
    for (name, value) in same {
        call.headers.append(name, value.clone());
    }
    call
}

/// Values that cannot be sent: nothing was.
const NO_PATH: Ended = Ended::failed(Outcome::Abandoned, "values make no path");
const NO_HEADER: Ended = Ended::failed(Outcome::Abandoned, "values make no header");
/// The server gave what cannot be sent.
const EXTRACTED_NO_PATH: Ended = Ended::failed(Outcome::Malformed, "extracted value makes no path");
const EXTRACTED_NO_HEADER: Ended = Ended::failed(Outcome::Malformed, "extracted value makes no header");
const NO_MESSAGE: Ended = Ended::failed(Outcome::Abandoned, "values make no message");
