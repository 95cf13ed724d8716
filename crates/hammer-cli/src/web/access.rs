//! Who may look on, and who may steer.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, StatusCode, Uri};
use ring::digest::{SHA256, digest};

/// What a door asks of who comes. It holds no token, but what tells whether one is right.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    /// What tells whether a token is the right one.
    pub(super) token: Option<TokenTest>,
    /// Whether who looks on needs it, as where others can reach the door.
    pub(super) guards_views: bool,
    /// Whether commands are taken.
    pub(super) can_steer: bool,
}

/// What tells whether a token is the right one, or a cookie that stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenTest {
    /// SHA-256 of the token.
    digest: [u8; 32],
    /// The cookie, from which the token does not follow: a browser sends it to every port of this host.
    cookie: String,
}

impl TokenTest {
    /// That of a token.
    pub(super) fn of(token: &str) -> Self {
        let cookie = sha256(&format!("hammer looks on: {token}"));
        Self { digest: sha256(token), cookie: URL_SAFE_NO_PAD.encode(cookie) }
    }
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// A page of another origin sent it, by the browser of who looks at both.
    #[error("this door is not for pages of another origin")]
    OtherOrigin,
    /// A name that leads here is not this machine's: a page of that name could read along (DNS rebinding).
    #[error("this door is reached as localhost, or by its address")]
    OtherHost,
    /// It needs a token.
    #[error("the token of this door is missing, or another one")]
    NoToken,
    /// Nobody steers.
    #[error("this door is read-only: the run was started without --control")]
    ReadOnly,
}

impl Refusal {
    /// The status that says so.
    pub(super) const fn status(self) -> StatusCode {
        match self {
            Self::NoToken => StatusCode::UNAUTHORIZED,
            Self::OtherOrigin | Self::OtherHost | Self::ReadOnly => StatusCode::FORBIDDEN,
        }
    }
}

impl Access {
    /// Whether who sent these headers may look on.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn may_look(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        self.is_at_home(headers)?;
        let has_token = || bearer(headers).is_some_and(|token| self.is_token(token));
        let shows = || has_token() || cookies(headers).any(|cookie| self.is_cookie(cookie));
        if self.guards_views && !shows() { Err(Refusal::NoToken) } else { Ok(()) }
    }

    /// Whether who sent these headers may steer: a cookie, which a browser sends by itself, is not enough.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn may_steer(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        self.is_at_home(headers)?;
        if !self.can_steer {
            return Err(Refusal::ReadOnly);
        }
        if bearer(headers).is_some_and(|token| self.is_token(token)) { Ok(()) } else { Err(Refusal::NoToken) }
    }

    /// Whether a page that this door served, or no page at all, sent these headers.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn is_at_home(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = text(headers, &HOST).unwrap_or_default();
        if let Some(origin) = headers.get(ORIGIN) {
            let own = ["http://", "https://"].map(|scheme| format!("{scheme}{host}"));
            if !own.iter().any(|own| origin.as_bytes().eq_ignore_ascii_case(own.as_bytes())) {
                return Err(Refusal::OtherOrigin);
            }
        }
        // Where a token is needed, another name brings nobody further.
        if self.guards_views || is_this_machine(host) { Ok(()) } else { Err(Refusal::OtherHost) }
    }

    /// Whether that is the token; it takes as long where it is nearly.
    pub(super) fn is_token(&self, shown: &str) -> bool {
        self.token.as_ref().is_some_and(|token| token.digest == sha256(shown))
    }

    /// The cookie of whoever has shown the token.
    pub(super) fn cookie(&self) -> Option<&str> {
        self.token.as_ref().map(|token| token.cookie.as_str())
    }

    fn is_cookie(&self, shown: &str) -> bool {
        self.cookie().is_some_and(|cookie| sha256(cookie) == sha256(shown))
    }
}

fn sha256(text: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
    bytes
}

/// The cookie of a browser that has shown the token.
pub(super) const COOKIE_NAME: &str = "hammer_token";

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = text(headers, &AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(COOKIE).into_iter().filter_map(|cookies| cookies.to_str().ok());
    let each = all.flat_map(|cookies| cookies.split(';'));
    each.filter_map(|cookie| cookie.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a host names this machine alone: `localhost`, or a loopback address.
fn is_this_machine(host: &str) -> bool {
    let Ok(host) = host.parse::<Uri>() else { return false };
    let name = host.host().unwrap_or_default();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const TOKEN: &str = "a-token-of-some-length";

    fn access(guards_views: bool, can_steer: bool) -> Access {
        Access { token: Some(TokenTest::of(TOKEN)), guards_views, can_steer }
    }

    fn headers(all: &[(HeaderName, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect()
    }

    #[test]
    fn who_comes_from_elsewhere_neither_looks_nor_steers() {
        let bearer = format!("Bearer {TOKEN}");
        let own = |host: &str, origin: Option<&str>| {
            let mut all = headers(&[(HOST, host), (AUTHORIZATION, &bearer)]);
            all.extend(origin.map(|origin| (ORIGIN, HeaderValue::from_str(origin).unwrap())));
            all
        };
        let access = access(false, true);
        for host in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "127.3.2.1", "LOCALHOST"] {
            assert_eq!(access.may_steer(&own(host, None)), Ok(()), "{host}");
            assert_eq!(access.may_steer(&own(host, Some(&format!("http://{host}")))), Ok(()), "{host}");
        }
        for host in
            ["evil.example:8080", "localhost.evil.example", "10.0.0.1:8080", "", "127.0.0.1.evil.example"]
        {
            assert_eq!(access.may_look(&own(host, None)), Err(Refusal::OtherHost), "{host}");
        }
        for origin in
            ["http://evil.example", "null", "http://localhost:8081", "http://localhost:8080.evil.example"]
        {
            assert_eq!(
                access.may_look(&own("localhost:8080", Some(origin))),
                Err(Refusal::OtherOrigin),
                "{origin}"
            );
            assert_eq!(
                access.may_steer(&own("localhost:8080", Some(origin))),
                Err(Refusal::OtherOrigin),
                "{origin}"
            );
        }
    }

    #[test]
    fn commands_need_the_token_itself_and_a_door_that_takes_any() {
        let with = |name: HeaderName, value: &str| headers(&[(HOST, "localhost:1"), (name, value)]);
        let bearer = with(AUTHORIZATION, &format!("bearer {TOKEN}"));
        let shown = TokenTest::of(TOKEN).cookie;
        let cookie = with(COOKIE, &format!("a=b; hammer_token={shown}"));
        let raw = with(COOKIE, &format!("hammer_token={TOKEN}"));
        let as_bearer = with(AUTHORIZATION, &format!("Bearer {shown}"));
        assert_eq!(access(true, true).may_look(&raw), Err(Refusal::NoToken));
        assert_eq!(access(true, true).may_steer(&as_bearer), Err(Refusal::NoToken));
        let wrong = with(AUTHORIZATION, "Bearer another");
        assert_eq!(access(false, true).may_steer(&bearer), Ok(()));
        assert_eq!(access(false, true).may_steer(&cookie), Err(Refusal::NoToken));
        assert_eq!(access(false, true).may_steer(&wrong), Err(Refusal::NoToken));
        assert_eq!(access(false, false).may_steer(&bearer), Err(Refusal::ReadOnly));
        assert_eq!(access(true, false).may_look(&cookie), Ok(()));
        assert_eq!(access(true, false).may_look(&wrong), Err(Refusal::NoToken));
        let nobody = Access { token: None, guards_views: true, can_steer: true };
        assert_eq!(nobody.may_steer(&with(AUTHORIZATION, "Bearer ")), Err(Refusal::NoToken));
    }
}
