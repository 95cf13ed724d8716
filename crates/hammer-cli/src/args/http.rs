//! `hammer http`: requests to one server.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::line::LineArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum HttpCommand {
    /// Send GET requests
    Get(HttpArgs),
    /// Send POST requests
    Post(HttpArgs),
    /// Send PUT requests
    Put(HttpArgs),
    /// Send PATCH requests
    Patch(HttpArgs),
    /// Send DELETE requests
    Delete(HttpArgs),
    /// Send HEAD requests, whose answers have no body
    Head(HttpArgs),
    /// Send OPTIONS requests
    Options(HttpArgs),
}

impl HttpCommand {
    /// The method, and the rest of the line.
    pub(crate) const fn parts(&self) -> (&'static str, &HttpArgs) {
        match self {
            Self::Get(args) => ("GET", args),
            Self::Post(args) => ("POST", args),
            Self::Put(args) => ("PUT", args),
            Self::Patch(args) => ("PATCH", args),
            Self::Delete(args) => ("DELETE", args),
            Self::Head(args) => ("HEAD", args),
            Self::Options(args) => ("OPTIONS", args),
        }
    }
}

/// One server.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("basic_password").args(["basic_password_file", "basic_password_env"])))]
pub(crate) struct HttpArgs {
    /// The URL; `http://` is assumed
    #[arg(required_unless_present = "urls")]
    pub(crate) url: Option<String>,
    /// Send to the URLs in this file, one a line, one after another and again from the first: all of one server, or all of them paths
    /// (`/cart?a=b`) of URL. A line that starts with `#` is a comment
    #[arg(long, value_name = "FILE")]
    pub(crate) urls: Option<PathBuf>,
    /// Connections: users who wait for their answers, or with --rate the most operations in flight; no more than operations in all
    #[arg(short = 'c', long, default_value_t = 50, value_name = "N")]
    pub(crate) connections: usize,
    /// Operations in all; 200 unless -z is given. Of both, what comes first ends it. Not with --warm-up
    #[arg(short = 'n', long = "requests", value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// How long to send (10s, 2m)
    #[arg(short = 'z', long, value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// Send by plan, open loop: so many a second whatever the answers (1000/s, or 1000)
    #[arg(long, short = 'q', value_name = "RATE")]
    pub(crate) rate: Option<String>,
    /// Space the arrivals of --rate as a Poisson process instead of evenly
    #[arg(long, requires = "rate")]
    pub(crate) poisson: bool,
    /// A header, "Name: value"; again for each further one
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// The body, in which `${...}` stands for values as in a plan (`${seq}`, say), or @FILE, which is sent as it is
    #[arg(short = 'd', long = "data", value_name = "TEXT|@FILE")]
    pub(crate) data: Option<String>,
    /// Send the lines of this file (JSON lines, say) as they are as bodies, one after another and again from the first
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub(crate) bodies: Option<PathBuf>,
    /// How long one operation may take
    #[arg(short = 't', long, default_value = "20s", value_name = "TIME")]
    pub(crate) timeout: String,
    /// Statuses that are accepted instead of every 2xx (200,404)
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    // Wider than a status, so that the plan says which there are.
    pub(crate) expect: Vec<u32>,
    /// HTTP/2: negotiated over TLS, by prior knowledge without it
    #[arg(long)]
    pub(crate) http2: bool,
    /// Call this unary method of gRPC instead (/package.Service/Method), with -d or an empty message; HTTP/2 by itself
    #[arg(long, value_name = "METHOD")]
    pub(crate) grpc: Option<String>,
    /// A new connection for every operation
    #[arg(long)]
    pub(crate) disable_keepalive: bool,
    /// Send the bearer token in this file
    #[arg(long, value_name = "FILE", conflicts_with = "bearer_env")]
    pub(crate) bearer_file: Option<PathBuf>,
    /// Send the bearer token in this environment variable
    #[arg(long, value_name = "NAME")]
    pub(crate) bearer_env: Option<String>,
    /// Send this user with a password (RFC 7617), which never stands on a command line
    #[arg(long, value_name = "NAME", requires = "basic_password", conflicts_with_all = ["bearer_file", "bearer_env"])]
    pub(crate) basic_user: Option<String>,
    /// The file that holds the password
    #[arg(long, value_name = "FILE", requires = "basic_user")]
    pub(crate) basic_password_file: Option<PathBuf>,
    /// The environment variable that holds the password
    #[arg(long, value_name = "NAME", requires = "basic_user")]
    pub(crate) basic_password_env: Option<String>,
    /// Follow so many redirects in a row
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) redirects: u32,
    /// Trust the roots in this PEM file as well
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// Dial this address or name, and port, in place of those of the URL, which `Host` and TLS keep
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "unix_socket")]
    pub(crate) connect_to: Option<String>,
    /// Dial this Unix socket
    #[arg(long, value_name = "PATH")]
    pub(crate) unix_socket: Option<PathBuf>,
    /// Show this client certificate (and those above it) in a PEM file, by --key
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// The PEM file of the key of --cert
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Do not verify TLS; the report says so
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Who allowed load on a peer that is neither loopback nor private
    #[arg(long, value_name = "WHO")]
    pub(crate) authorized: Option<String>,
    /// Threads that send; by default one for each core, or one alone with --rate up to 20000/s
    #[arg(long, value_name = "N")]
    pub(crate) shards: Option<usize>,
    #[command(flatten)]
    pub(crate) line: LineArgs,
}
