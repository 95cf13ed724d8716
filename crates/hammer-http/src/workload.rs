//! Requests, sent again and again: one, or several kinds and sequences of them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hammer_core::compose::{Route as _, WeightedMix};
use hammer_core::draw::Draws;
use hammer_core::record::{OperationRecord, StepGuard};
use hammer_core::runtime::Clock;
use hammer_core::workload::{Ended, FatalError, SeriesSpec, ShardContext, Workload};
use hammer_exchange::stock::{ShardTokens, TokenStock};
use hammer_exchange::{SentSecrets, ServiceClient, ServiceConfig, WallTime};
use hammer_measure::Outcome;
use hammer_net::grpc::tell_timeout;
use hammer_net::{Answer, Request};
use hammer_values::{Agreed, Word};
use http::HeaderValue;
use serde_json::Value;

use crate::error::HttpError;
use crate::extraction::Taken;
use crate::filling::{Filler, PooledColumn, Pools, TextMaker, label};
use crate::picks::{Picks, Turn};
use crate::plan::{DrawPlan, FlowPlan, HttpFlowsPlan, HttpPlan, ValuePlan};
use crate::pool::Pool;
use crate::request_form::{OpenedRequest, RequestForm};
use crate::step_think::StepThink;

/// Where a request goes, and whose tokens it has.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The service. Those of one name are one.
    pub service: ServiceConfig,
    /// The tokens that requests take in turn, and the run's wall clock; without them a request has the client's own, if any.
    pub tokens: Option<(Arc<TokenStock>, WallTime)>,
}

/// Sends requests, which follow from a seed and the operation's number, and from earlier answers of the same operation.
#[derive(Debug)]
pub struct HttpWorkload {
    flows: Vec<Flow>,
    mix: WeightedMix,
    services: Vec<ServiceConfig>,
    tokens: Vec<RequestTokens>,
    /// The values of which each operation has a row, where there is one pool of them.
    rows: Option<Arc<Pool>>,
}

/// The tokens of requests.
#[derive(Clone, Debug)]
struct RequestTokens {
    stock: Arc<TokenStock>,
    wall: WallTime,
    /// How an operation's is drawn, and which one it so has; without them the next in turn.
    drawn: Option<DrawPlan>,
    picks: Option<Arc<Picks>>,
}

/// A kind of operation.
#[derive(Debug)]
struct Flow {
    steps: Vec<Step>,
    /// Whether each step has a series of its own.
    is_sequence: bool,
    /// Places for what is taken from answers.
    slots: usize,
    /// Those of them that nobody may read in a report.
    secrets: Vec<usize>,
    /// The same of values, and their columns.
    secret_values: Vec<PooledColumn>,
    /// Values of which hot and cold ones are told apart.
    hot: Vec<Arc<Pool>>,
    /// The same of tokens.
    hot_tokens: Vec<Arc<Picks>>,
    name: String,
    /// The first of its series: hot and cold ones, or all.
    series: usize,
}

/// A request of a flow.
#[derive(Debug)]
struct Step {
    form: RequestForm,
    name: String,
    /// How long a user thinks before it, where it does.
    think: Option<StepThink>,
    /// Its series, where the flow is a sequence.
    series: usize,
    /// The place of its service.
    service: usize,
    /// The place of its tokens.
    tokens: Option<usize>,
}

/// The room for what an operation is answered and sends.
#[derive(Debug, Default)]
pub struct HttpOp {
    answer: Answer,
    /// What was taken from answers.
    extracted: Vec<Vec<u8>>,
    text: Vec<u8>,
    request: Option<Request>,
}

/// A shard's clients, and the requests with their whole paths.
pub struct HttpSession {
    clock: Rc<dyn Clock>,
    services: Vec<ServiceClient>,
    tokens: Vec<(ShardTokens, Option<Arc<Picks>>)>,
    /// By flow and step.
    requests: Vec<Vec<OpenedRequest>>,
}

impl HttpWorkload {
    /// One request; what it is filled with follows from `seed`. The service's connections are those of the whole run and are split over the
    /// shards.
    ///
    /// # Errors
    /// A body or values that cannot be read; a call of gRPC by a client of HTTP/1.1 alone.
    pub fn of_request(plan: &Agreed<HttpPlan>, to: Destination, seed: u64) -> Result<Self, HttpError> {
        let mut parts = Parts::new(&plan.values, "values", seed)?;
        let mut texts = TextMaker::new(&parts.pools, parts.draws);
        let form = RequestForm::new(plan, Vec::new(), &mut texts)?;
        let (hot, secret_values) = texts.into_pools();
        let name = if form.is_call() { "call".to_owned() } else { form.method() };
        let step = parts.step((form, plan.tokens.as_deref()), name.clone(), to)?;
        let flow = Flow { secret_values, ..Flow::new(name, vec![step], hot) };
        Ok(parts.workload(vec![flow], &[1]))
    }

    /// Several kinds of requests, and sequences of them; `to` are the destinations of [`HttpFlowsPlan::requests`], in their order.
    ///
    /// # Errors
    /// As [`HttpWorkload::of_request`].
    pub fn of_flows(
        plan: &Agreed<HttpFlowsPlan>,
        to: impl IntoIterator<Item = Destination>,
        seed: u64,
    ) -> Result<Self, HttpError> {
        let mut parts = Parts::new(&plan.values, "values", seed)?;
        let mut to = to.into_iter();
        let mut flows = Vec::new();
        for (place, flow) in plan.flows.iter().enumerate() {
            let made = parts.flow(flow, &mut to);
            flows.push(made.map_err(|error| error.below(&format!("flows[{place}]")))?);
        }
        let weights: Vec<u16> = plan.flows.iter().map(|flow| flow.weight).collect();
        let made = parts.workload(flows, &weights);
        let mut names: Vec<String> = Vec::new();
        for (place, flow) in made.flows.iter().enumerate() {
            let steps = flow.steps.iter().filter(|_| flow.is_sequence).map(|step| step.name.clone());
            for series in flow.classes().into_iter().chain(steps) {
                if names.contains(&series) {
                    return Err(HttpError::SeriesTwice { series }.below(&format!("flows[{place}]")));
                }
                names.push(series);
            }
        }
        Ok(made)
    }

    /// An operation has so long: the server is told where it is a call of gRPC.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        let steps = self.flows.iter_mut().flat_map(|flow| &mut flow.steps);
        for step in steps.filter(|step| step.form.is_call()) {
            tell_timeout(step.form.same_mut(), timeout);
        }
        self
    }

    fn turn(&self, seq: u64) -> (&Flow, usize, Turn) {
        if let [flow] = self.flows.as_slice() {
            return (flow, 0, Turn { seq, rank: seq });
        }
        let (place, rank) = self.mix.of(seq);
        (&self.flows[place], place, Turn { seq, rank })
    }
}

/// What a workload is made of, while it is made.
struct Parts {
    pools: Pools,
    draws: Draws,
    services: Vec<ServiceConfig>,
    tokens: Vec<RequestTokens>,
}

impl Parts {
    fn new(values: &BTreeMap<Word, Agreed<ValuePlan>>, key: &str, seed: u64) -> Result<Self, HttpError> {
        let draws = Draws::new(seed, label("http"));
        let pools = values.iter().map(|(name, plan)| {
            let pool = Pool::read(plan, Draws::new(draws.bits(label(name.as_str())), 1));
            let pool = pool.map_err(|error| error.below(&format!("{key}.{name}")))?;
            Ok((name.to_string(), Arc::new(pool)))
        });
        Ok(Self {
            pools: pools.collect::<Result<_, HttpError>>()?,
            draws,
            services: Vec::new(),
            tokens: Vec::new(),
        })
    }

    fn flow(
        &mut self,
        plan: &FlowPlan,
        to: &mut impl Iterator<Item = Destination>,
    ) -> Result<Flow, HttpError> {
        let pools = self.pools.clone();
        let mut texts = TextMaker::new(&pools, self.draws);
        let mut next = || to.next().expect("each request has a destination");
        let mut steps = Vec::new();
        if let Some(http) = &plan.http {
            let form = RequestForm::new(http, Vec::new(), &mut texts).map_err(|error| error.below("http"))?;
            steps.push(
                self.step((form, http.tokens.as_deref()), plan.name.to_string(), next())
                    .map_err(|error| error.below("http"))?,
            );
        }
        for (place, step) in plan.steps.iter().enumerate() {
            let below = |error: HttpError| error.below(&format!("steps[{place}].http"));
            let taken = step.extract.iter();
            let taken = taken
                .map(|(name, from)| Taken::new(name.as_str(), from, texts.slot(name.as_str())))
                .collect();
            let form = RequestForm::new(&step.http, taken, &mut texts).map_err(below)?;
            let made = self.step((form, step.http.tokens.as_deref()), step.name.to_string(), next());
            // What a plan agreed to think was held against itself.
            let think = step.think().ok().flatten();
            let draws = Draws::new(self.draws.bits(label("think")), label(step.name.as_str()));
            let think = think.map(|think| StepThink::new(think, draws));
            steps.push(Step { think, ..made.map_err(below)? });
        }
        let slots = texts.slots();
        let taken = steps.iter().flat_map(|step| &step.form.taken);
        let secrets = taken.filter(|taken| taken.is_secret).map(|taken| taken.slot).collect();
        let (hot, secret_values) = texts.into_pools();
        let flow = Flow::new(plan.name.to_string(), steps, hot);
        Ok(Flow { is_sequence: plan.http.is_none(), slots, secrets, secret_values, ..flow })
    }

    fn step(
        &mut self,
        (form, drawn): (RequestForm, Option<&DrawPlan>),
        name: String,
        to: Destination,
    ) -> Result<Step, HttpError> {
        let mut service = to.service;
        if form.is_call() {
            service.client.version = service.client.version.of_calls().ok_or(HttpError::GrpcOverHttp1)?;
        }
        let is_it = |known: &ServiceConfig| {
            known.name == service.name && known.client.version == service.client.version
        };
        let known = self.services.iter().position(is_it);
        let service = known.unwrap_or_else(|| {
            self.services.push(service);
            self.services.len() - 1
        });
        let tokens = to.tokens.map(|(stock, wall)| {
            let is_it =
                |known: &RequestTokens| Arc::ptr_eq(&known.stock, &stock) && known.drawn.as_ref() == drawn;
            if let Some(known) = self.tokens.iter().position(is_it) {
                return Ok(known);
            }
            let draws = Draws::new(self.draws.bits(label("tokens")), 0);
            let picks = drawn.map(|plan| Picks::new(stock.len() as u64, plan, draws));
            let picks = picks.transpose().map_err(|error| error.below("tokens"))?.map(Arc::new);
            self.tokens.push(RequestTokens { stock, wall, drawn: drawn.cloned(), picks });
            Ok::<_, HttpError>(self.tokens.len() - 1)
        });
        let tokens = tokens.transpose()?;
        Ok(Step { form, name, think: None, series: 0, service, tokens })
    }

    /// The series are numbered: those of flows, then those of steps.
    fn workload(self, mut flows: Vec<Flow>, weights: &[u16]) -> HttpWorkload {
        let mut next = 0;
        for flow in &mut flows {
            let tokens = flow.steps.iter().filter_map(|step| self.tokens[step.tokens?].picks.clone());
            flow.hot_tokens = tokens.filter(|picks| picks.has_cold()).collect();
            flow.series = next;
            next += flow.classes().len();
        }
        for flow in flows.iter_mut().filter(|flow| flow.is_sequence) {
            for step in &mut flow.steps {
                step.series = next;
                next += 1;
            }
        }
        let mix = WeightedMix::new(weights, Draws::new(self.draws.bits(label("flows")), 0));
        let rows =
            Some(self.pools).filter(|pools| pools.len() == 1).and_then(|pools| pools.into_values().next());
        HttpWorkload { flows, mix, services: self.services, tokens: self.tokens, rows }
    }
}

impl Flow {
    fn new(name: String, steps: Vec<Step>, hot: Vec<Arc<Pool>>) -> Self {
        Self {
            steps,
            is_sequence: false,
            slots: 0,
            secrets: Vec::new(),
            secret_values: Vec::new(),
            hot,
            hot_tokens: Vec::new(),
            name,
            series: 0,
        }
    }

    /// The names of its series.
    fn classes(&self) -> Vec<String> {
        match self.hot.is_empty() && self.hot_tokens.is_empty() {
            true => vec![self.name.clone()],
            false => ["hot", "cold"].map(|class| format!("{}-{class}", self.name)).into(),
        }
    }

    /// What of its requests nobody may read in a report.
    fn secrets(&self, filler: Filler<'_>) -> Vec<String> {
        let taken = self.secrets.iter().map(|slot| filler.extracted[*slot].clone());
        let of_values = self.secret_values.iter().map(|(pool, column)| {
            let mut value = Vec::new();
            pool.write(filler.turn, *column, &mut value);
            value
        });
        let all = taken.chain(of_values).filter_map(|secret| String::from_utf8(secret).ok());
        all.filter(|secret| !secret.is_empty()).collect()
    }

    /// An operation all of whose values are hot is one.
    fn series_of(&self, turn: Turn) -> usize {
        let picks = self.hot.iter().map(|pool| pool.picks()).chain(self.hot_tokens.iter().map(Arc::as_ref));
        let is_cold = picks.into_iter().any(|picks| picks.is_cold(turn));
        self.series + usize::from(is_cold)
    }
}

impl HttpSession {
    /// The token of a step, where it has one.
    /// Steps of one operation have the same one, where it is good as long.
    async fn token(&self, step: &Step, turn: Turn) -> Result<Option<HeaderValue>, Ended> {
        let Some(place) = step.tokens else { return Ok(None) };
        let (tokens, picks) = &self.tokens[place];
        let picked = picks.as_ref().map_or(turn.rank, |picks| picks.place(turn));
        let taken = tokens.take_at(picked).await?;
        Ok(Some(taken.bearer))
    }

    /// Sends the request of a step and judges its answer; takes what later steps need of it.
    async fn carry_out(
        &self,
        (flow, step, opened): (&Flow, &Step, &OpenedRequest),
        (turn, bearer): (Turn, Option<HeaderValue>),
        op: &mut HttpOp,
        exchange: &mut StepGuard<'_>,
    ) -> Ended {
        let HttpOp { answer, extracted, text, request } = op;
        let service = &self.services[step.service];
        let filler = Filler { turn, extracted };
        let request = match step.form.fill(opened, service, filler, (text, request)) {
            Ok(request) => request,
            Err(ended) => return ended,
        };
        let said = flow.secrets(filler);
        let taken: Vec<&str> = said.iter().map(String::as_str).collect();
        let secrets = SentSecrets { bearer: bearer.as_ref(), tokens: &taken };
        let (sent, judgement) = ((request, secrets), &step.form.judgement);
        let judges = |status| judgement.looks_beyond(status);
        if let Err(ended) = service.send_judged(exchange, sent, judges, answer).await {
            return ended;
        }
        let is_read = step.form.reads_json() && judgement.takes(answer.status.as_u16());
        let json: Option<Value> = if is_read { serde_json::from_slice(&answer.body).ok() } else { None };
        let ended = judgement.judge(answer, json.as_ref(), filler);
        if ended.outcome != Outcome::Accepted {
            let said = || judgement.said(ended.outcome, answer, json.as_ref(), filler);
            service.tell_said(exchange, ended, sent, said);
            return ended;
        }
        for taken in &step.form.taken {
            let place = &mut extracted[taken.slot];
            if !taken.take(answer, json.as_ref(), (service, &request.path), place) {
                service.tell_said(exchange, LACKING, sent, || format!("it has no {}", taken.name));
                return LACKING;
            }
        }
        ended
    }
}

impl Workload for HttpWorkload {
    // Boxed, since it is moved from hand to hand for each operation.
    type Op = Box<HttpOp>;
    type Session = HttpSession;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        let flows = self.flows.iter().flat_map(Flow::classes).map(|name| SeriesSpec::new(name, true));
        let sequences = self.flows.iter().filter(|flow| flow.is_sequence);
        let steps = sequences.flat_map(|flow| &flow.steps);
        flows.chain(steps.map(|step| SeriesSpec::new(step.name.clone(), false))).collect()
    }

    fn series_of(&self, seq: u64) -> usize {
        let (flow, _, turn) = self.turn(seq);
        flow.series_of(turn)
    }

    fn prepare(&self, (): &mut (), _seq: u64, reuse: Option<Box<HttpOp>>) -> Box<HttpOp> {
        reuse.unwrap_or_default()
    }

    async fn open(&self, context: ShardContext) -> Result<HttpSession, FatalError> {
        let mut services = Vec::with_capacity(self.services.len());
        for service in &self.services {
            services.push(service.open(&context).await?);
        }
        let tokens = self.tokens.iter();
        let tokens = tokens.map(|RequestTokens { stock, wall, picks, .. }| {
            (ShardTokens::new(stock.clone(), context.clock.clone(), *wall), picks.clone())
        });
        let opened = |step: &Step| step.form.open(&services[step.service]);
        let requests = self.flows.iter().map(|flow| flow.steps.iter().map(opened).collect());
        let requests = requests.collect::<Result<_, HttpError>>()?;
        Ok(HttpSession { tokens: tokens.collect(), requests, services, clock: context.clock })
    }

    async fn execute(
        &self,
        session: &HttpSession,
        (): &(),
        op: &mut Box<HttpOp>,
        record: &OperationRecord,
    ) -> Ended {
        let (flow, place, turn) = self.turn(record.seq());
        if let Some(rows) = &self.rows {
            record.is_of("row", || rows.picks().place(turn));
        }
        let op = op.as_mut();
        op.extracted.resize_with(flow.slots, Vec::new);
        op.extracted.iter_mut().for_each(Vec::clear);
        let mut last = NOTHING;
        for (step, opened) in flow.steps.iter().zip(&session.requests[place]) {
            if let Some(think) = &step.think {
                think.pass(session.clock.as_ref(), record.seq()).await;
            }
            // Nobody's answer is waited for while a token is.
            let bearer = match session.token(step, turn).await {
                Ok(bearer) => bearer,
                Err(ended) => return ended,
            };
            let mut exchange = if flow.is_sequence { record.step(step.series) } else { record.exchange() };
            last = session.carry_out((flow, step, opened), (turn, bearer), op, &mut exchange).await;
            exchange.end(last);
            if last.outcome != Outcome::Accepted {
                break;
            }
        }
        // A slot waits for its next operation with what it needs to start it, and not with megabytes of the last one.
        op.request = None;
        op.text.shrink_to(KEPT_TEXT);
        last
    }
}

const LACKING: Ended = Ended::failed(Outcome::Malformed, "nothing to extract");
/// A flow has one step at least.
const NOTHING: Ended = Ended::failed(Outcome::Abandoned, "nothing to send");
/// Bytes.
const KEPT_TEXT: usize = 64 << 10;
