//! How fast the link to the target is: as the plan says, as an embedded target has it before itself, or as a plain upload and download find
//! before the run.

use std::rc::Rc;

use hammer_core::clock::MonotonicClock;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::connection::ConnectionLog;
use hammer_net::{Answer, Balancing, BodySink, Client, ClientConfig, Request};
use hammer_report::report::link::bits_per_second;
use hammer_report::report::{LinkRates, LinkSource};
use hammer_values::BitRate;
use http::{StatusCode, Uri};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::before_run::ask;
use crate::error::{CliError, TargetError};
use crate::plan::Plan;
use crate::plan::client_fault::unusable;
use crate::plan::error::PlanFault;
use crate::plan::link::{LEAST_BYTES, LinkPlan, MeasuredLinkPlan};
use crate::plan::path::PlanPath;
use crate::plan::target_url::TargetUrl;
use crate::protocol::lab::Lab;
use crate::protocol::service::permitted;

/// The rates of a run's link.
#[derive(Clone, Debug)]
pub(crate) struct KnownLink {
    /// Who says so.
    pub(crate) source: LinkSource,
    /// The rates.
    pub(crate) rates: LinkRates,
    /// How they were found, where they were measured.
    pub(crate) note: Option<String>,
}

/// What of a link is known before a run: of the plan, else of the one link that is before the embedded targets.
///
/// # Errors
/// When it is to be measured and cannot be.
pub(crate) fn known(plan: &Plan, labs: &[Box<dyn Lab>]) -> Result<Option<KnownLink>, CliError> {
    let embedded = of_labs(labs);
    if embedded.is_some() && plan.target.link.is_some() {
        return Err(PlanFault::Misfit(KNOWN.to_owned()).at(PlanPath::of("target").key("link")).into());
    }
    match plan.target.link.as_deref() {
        None => Ok(embedded),
        Some(LinkPlan { measure: Some(measured), .. }) => Ok(Some(self::measured(plan, measured)?)),
        Some(LinkPlan { up, down, .. }) => {
            Ok(Some(KnownLink { source: LinkSource::Plan, rates: rates((*up, *down)), note: None }))
        }
    }
}

/// That of embedded targets, where all that have one have the same: of several links no total could be told.
fn of_labs(labs: &[Box<dyn Lab>]) -> Option<KnownLink> {
    let [only] = labs else { return None };
    let link = only.link()?;
    Some(KnownLink { source: LinkSource::Lab, rates: rates((link.up, link.down)), note: None })
}

fn rates((up, down): (Option<BitRate>, Option<BitRate>)) -> LinkRates {
    LinkRates { up: up.map(BitRate::bits_per_s), down: down.map(BitRate::bits_per_s) }
}

/// An upload, and then a download, as the plan says.
fn measured(plan: &Plan, measured: &MeasuredLinkPlan) -> Result<KnownLink, CliError> {
    let urls = measured.upload.iter().chain(&measured.download).map(TargetUrl::url);
    permitted(urls, plan.target.authorized.as_deref())?;
    let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::starting_now());
    let found = ask(async {
        let probe = LinkProbe { plan, within: Nanos::from(measured.timeout.duration()), clock: &clock };
        let mut found = Vec::new();
        if let Some(url) = &measured.upload {
            found.push(probe.upload(url.url(), measured.size.in_memory()).await?);
        }
        if let Some(url) = &measured.download {
            found.push(probe.download(url.url()).await?);
        }
        Ok::<_, CliError>(found)
    })??;
    let rate = |way: Way| found.iter().find(|crossed| crossed.way == way).map(Crossed::bits_per_s);
    let told: Vec<String> = found.iter().map(Crossed::words).collect();
    Ok(KnownLink {
        source: LinkSource::Measured,
        rates: LinkRates { up: rate(Way::Up), down: rate(Way::Down) },
        note: Some(format!("the link was measured before the run: {}", told.join(", "))),
    })
}

/// Which way bytes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

/// Bytes that crossed a link alone.
#[derive(Clone, Copy, Debug)]
struct Crossed {
    way: Way,
    bytes: u64,
    taken: Nanos,
}

impl Crossed {
    fn bits_per_s(&self) -> u64 {
        let seconds = self.taken.max(Nanos(1)).as_secs_f64();
        BitRate::nearest(self.bytes as f64 * 8.0 / seconds).bits_per_s()
    }

    fn words(&self) -> String {
        let way = if self.way == Way::Up { "up" } else { "down" };
        format!("{} bytes {way} in {}, {}", self.bytes, self.taken, bits_per_second(self.bits_per_s()))
    }
}

/// Sends one request by a connection of its own, on the thread that asks.
struct LinkProbe<'a> {
    plan: &'a Plan,
    within: Nanos,
    clock: &'a Rc<dyn Clock>,
}

impl LinkProbe<'_> {
    /// From the first byte of a body of random bytes, which nothing on the way makes shorter, to the answer's last.
    async fn upload(&self, url: &Uri, size: usize) -> Result<Crossed, CliError> {
        let mut body = vec![0; size];
        let failed = |why: &str| TargetError::link("POST", url, why);
        SystemRandom::new().fill(&mut body).map_err(|_| failed("there are no random bytes"))?;
        let client = self.client(url)?;
        let path = client.path("").map_err(|error| unusable(&self.plan.target, None, error))?;
        let answer = self.exchange(&client, Request::post(path, bytes::Bytes::from(body)), url).await?;
        let taken = taken(&answer).ok_or_else(|| failed("nothing was sent"))?;
        if answer.bytes_out < size as u64 {
            return Err(failed("the answer came before all of it was read").into());
        }
        Ok(Crossed { way: Way::Up, bytes: size as u64, taken })
    }

    /// From the first byte of the request to the answer's last.
    async fn download(&self, url: &Uri) -> Result<Crossed, CliError> {
        let client = self.client(url)?;
        let path = client.path("").map_err(|error| unusable(&self.plan.target, None, error))?;
        let request = Request { sink: BodySink::Discard, limit: Some(usize::MAX), ..Request::get(path) };
        let answer = self.exchange(&client, request, url).await?;
        let bytes = answer.body_length as u64;
        let failed = |why: &str| TargetError::link("GET", url, why);
        if bytes < LEAST_BYTES {
            return Err(failed(&format!("the body has {bytes} bytes, and 64 KiB are the least")).into());
        }
        let taken = taken(&answer).ok_or_else(|| failed("nothing was sent"))?;
        Ok(Crossed { way: Way::Down, bytes, taken })
    }

    fn client(&self, url: &Uri) -> Result<Client, CliError> {
        let client = ClientConfig {
            balancing: Balancing::RoundRobin,
            connections: 1,
            per_address: None,
            read_within: std::time::Duration::ZERO,
            ..self.plan.target.client(None, vec![url.clone()], 1, self.plan.seed)?
        };
        let client = Client::new(client, self.clock.clone(), ConnectionLog::default());
        Ok(client.map_err(|error| unusable(&self.plan.target, None, error))?)
    }

    async fn exchange(&self, client: &Client, request: Request, url: &Uri) -> Result<Answer, CliError> {
        let mut answer = Answer::new();
        let failed = |why: String| TargetError::link(request.method.as_str(), url, &why);
        let too_late = self.clock.sleep_until(self.clock.now().saturating_add(self.within));
        tokio::select! {
            sent = client.send(&request, &mut answer) => {
                sent.map_err(|failure| failed(format!("failed to {failure}")))?;
            }
            () = too_late => return Err(failed(format!("it took longer than {}", self.within)).into()),
        }
        match answer.status {
            status if status.is_success() => Ok(answer),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(failed(format!("the answer is {}, and no token is sent", answer.status.as_u16())).into())
            }
            status => Err(failed(format!("the answer is {}", status.as_u16())).into()),
        }
    }
}

const KNOWN: &str = "the embedded target has a link of its own before it, whose rates are known";

fn taken(answer: &Answer) -> Option<Nanos> {
    Some(answer.wire.done?.since(answer.wire.sent?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_crossed_alone_has_a_rate() {
        let crossed = Crossed { way: Way::Up, bytes: 4 << 20, taken: Nanos::from_millis(5_592) };
        assert_eq!(crossed.bits_per_s(), 6_000_435);
        assert_eq!(crossed.words(), "4194304 bytes up in 5.59s, 6 Mbit/s");
        assert_eq!(Crossed { taken: Nanos::ZERO, ..crossed }.bits_per_s(), 1_000_000_000_000);
    }
}
