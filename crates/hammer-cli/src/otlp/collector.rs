//! The collector of a command line.

use std::time::Duration;

use hammer_measure::Nanos;
use hammer_messages::otlp;
use hammer_net::{ClientConfig, Resend, TlsConfig};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};

use super::header_file;
use crate::args::OtlpArgs;
use crate::error::{CliError, TargetError, UsageError};
use crate::plan::contact::nameless;
use crate::plan::target_url::TargetUrl;
use crate::protocol::service::permitted;

/// Whom metrics are sent to, how, and how often.
#[derive(Clone, Debug)]
pub(crate) struct Collector {
    pub(super) client: ClientConfig,
    /// Behind the URL.
    pub(super) path: &'static str,
    /// The values of a file among them are sensitive, and not printed.
    pub(super) headers: HeaderMap,
    pub(super) every: Nanos,
}

impl Collector {
    /// That of the command line, where it names one.
    ///
    /// # Errors
    /// A URL that is none, or of a peer that is neither loopback nor private; a file of headers or roots that cannot be used.
    pub(crate) fn of(args: &OtlpArgs) -> Result<Option<Self>, CliError> {
        let Some(url) = &args.otlp else { return Ok(None) };
        let url = TargetUrl::try_from(url.clone());
        let url = url.map_err(|source| UsageError::Value { flag: OTLP, source })?.url().clone();
        match permitted([&url], None) {
            Err(TargetError::Unauthorized(peer)) => return Err(UsageError::PublicCollector(peer.addr).into()),
            permitted => permitted?,
        }
        let mut headers = match &args.otlp_header_file {
            Some(path) => header_file::read(path)?,
            None => HeaderMap::new(),
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(otlp::CONTENT_TYPE));
        let path = if matches!(url.path(), "" | "/") { otlp::METRICS } else { "" };
        let client = ClientConfig {
            connections: 1,
            read_within: Duration::ZERO,
            // What arrived twice is the same: all sums are cumulative.
            resend: Resend::Idle,
            response_limit: MOST_BYTES,
            tls: TlsConfig { roots: args.otlp_cacert.iter().cloned().collect(), ..TlsConfig::default() },
            user_agent: Some(nameless()),
            ..ClientConfig::new(url)
        };
        client.check().map_err(UsageError::Collector)?;
        let every = args.otlp_interval.map_or(EVERY, |every| Nanos::from(every.duration()));
        Ok(Some(Self { client, path, headers, every }))
    }
}

const OTLP: &str = "--otlp";
const EVERY: Nanos = Nanos::from_secs(10);
/// Of an answer.
const MOST_BYTES: usize = 64 << 10;
