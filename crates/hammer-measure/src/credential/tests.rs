use hammer_mutate::{Mutator, cases};

use super::*;

#[test]
fn the_credentials_of_a_query_are_found_by_the_names_of_their_parameters() {
    let found = |text: &'static str| -> Vec<&str> {
        credentials_of_queries(text).into_iter().map(|at| &text[at]).collect()
    };
    assert_eq!(found("/a?access_token=canary"), ["canary"]);
    assert_eq!(
        found("GET /a?q=1&sig=a%2Fb&x=2#key=3 and http://b/?Code=c&API_KEY=d"),
        ["a%2Fb", "3", "c", "d"]
    );
    assert_eq!(found("https://a/back#access_token=canary&state=1"), ["canary"]);
    assert_eq!(found("path: \"/a?X-Amz-Security-Token=canary\", key=1"), ["canary"]);
    assert!(found("/a?logIndex=7&page=2, why? key=1 token=").is_empty());
    assert!(found("/a/token=1&key=2?").is_empty());
    assert_eq!(
        found("/a?X-Amz-Credential=a&X-Amz-Signature=b&X-Goog-Signature=c&Signature=d"),
        ["a", "b", "c", "d"]
    );
}

#[test]
fn a_credential_is_found_in_a_query_within_a_query_and_however_it_is_encoded() {
    for (text, secret) in [
        ("/a?next=/b?token=canary", "canary"),
        ("/a?next=/b?key=canary&page=2", "canary"),
        ("/a?/b?key=canary", "canary"),
        ("/a?state=key=canary", "canary"),
        ("/a?to%6ben=canary", "canary"),
        ("/a?to%256Ben=canary", "canary"),
        ("/a?%6bey=can%26ary#end", "can%26ary"),
        ("/a?next=%2Fb%3Fq%3D1%26key%3Dcanary%26page%3D2&page=3", "canary"),
        ("/a?next=%2Fb%3Fto%256ben%3Dcan%2526ary", "can%2526ary"),
        ("/a?next=%2Fb%3Fkey%3Dcan%20ary", "can%20ary"),
        ("/a?%2Fb%3Fkey%3Dc\u{e9}nary", "c\u{e9}nary"),
        ("/a?c%C3%A9=%C3%A9&%6bey=%C3%A9", "%C3%A9"),
        ("/a?next=/b?q=%3Fkey%3Dcanary", "canary"),
        ("/a?next=%2Fb%3Fkey%3Dcan?token=ary", "can?token=ary"),
        (r"/a?page=1\u0026key=canary", "canary"),
        ("/a?page=1&amp;key=canary", "canary"),
    ] {
        let found = credentials_of_queries(text).into_iter().map(|at| &text[at]);
        assert_eq!(found.collect::<Vec<_>>(), [secret], "{text}");
    }
    for text in
        ["/a?next=%2Fb%3Fpage%3D2", "/a?ke%79%=1&ke%+1=2&ke%\u{e9}=3", "/a?next=/b?key=", "/%3Fkey%3D1?q=%"]
    {
        assert!(credentials_of_queries(text).is_empty(), "{text}");
    }
}

#[test]
fn a_credential_ends_where_another_pair_follows() {
    for (text, secret) in [
        ("/a?token=a;b", "a;b"),
        ("/a?token=a;b;page=2", "a;b"),
        ("/a?page=1;token=a;b&page=2", "a;b"),
        ("/a?token=a;", "a;"),
        ("/a?token=a;b==", "a;b=="),
        ("/a?token=a;=b", "a;=b"),
        ("/a?token=abc=canary-secret", "abc=canary-secret"),
        ("/a?token=a?b=c&d=e", "a?b=c"),
    ] {
        let found = credentials_of_queries(text).into_iter().map(|at| &text[at]);
        assert_eq!(found.collect::<Vec<_>>(), [secret], "{text}");
    }
}

#[test]
fn what_is_found_is_text_of_its_own_whatever_the_queries_hold() {
    let mut mutator = Mutator::new(1);
    for text in [
        "/a?next=%2Fb%3Fto%256ben%3Dc\u{e9}%2526ary;key=b",
        r"?a=?key=1\u0026sig=%3Fkey%3Db#c ?\u{e9}=1&pwd=2;3",
    ] {
        for _ in 0..cases(2_000) {
            let altered = mutator.bytes(text.as_bytes(), b"%3F?key=token%3D;&\\u003d#");
            let text = String::from_utf8_lossy(&altered).into_owned();
            let mut end = 0;
            for at in credentials_of_queries(&text) {
                assert!(
                    at.start > end && !text.get(at.clone()).unwrap_or_default().is_empty(),
                    "{text} {at:?}"
                );
                end = at.end;
            }
        }
    }
}

#[test]
fn what_is_found_of_members_is_text_whatever_stands_around_them() {
    let mut mutator = Mutator::new(1);
    for text in [
        "1 | \u{2026}`\u{2026}\":\"\u{e9}\", \"access_token\" : \"can\\\"ary\u{2026}\"",
        "{'\u{2026}token': '\u{f6}', \"{\\\"password\\\":\\\"can\\\\\\\"ary\u{2026}",
        "bearer \u{2026}Basic can12345== ://\u{e9}:ary@\u{2026} Bearer ar12345678",
    ] {
        let masked = without_credentials(text);
        assert!(masked.contains("***") && !masked.contains("ary"), "{masked}");
        for _ in 0..cases(2_000) {
            let altered = mutator.bytes(text.as_bytes(), "\"':\\token\u{2026}".as_bytes());
            let text = String::from_utf8_lossy(&altered).into_owned();
            for at in credentials_of_members(&text) {
                assert!(!text.get(at.clone()).unwrap_or_default().is_empty(), "{text} {at:?}");
            }
            without_credentials(&text);
        }
    }
}

#[test]
fn a_member_of_json_by_the_name_of_a_credential_is_masked_wherever_it_stands() {
    for (text, masked) in [
        (r#"{"access_token":"canary","token_type":"mac"}"#, r#"{"access_token":"***","token_type":"mac"}"#),
        (r#"{"a":{"clientSecret" : "can\"ary"},"b":1}"#, r#"{"a":{"clientSecret" : "***"},"b":1}"#),
        (r#"{"refresh-token":"canary, cut off"#, r#"{"refresh-token":"***"#),
        (r#""{\"id_token\":\"canary\",\"n\":1}""#, r#""{\"id_token\":\"***\",\"n\":1}""#),
        (r#"{"password":"can\\\"ary","n":1}"#, r#"{"password":"***","n":1}"#),
        (r#"{"password":"canary\\","n":"x"}"#, r#"{"password":"***","n":"x"}"#),
        (r#""{\"password\":\"can\\\"ary\",\"n\":1}""#, r#""{\"password\":\"***\",\"n\":1}""#),
        ("{'password': 'canary', 'user': 'ann'}", "{'password': '***', 'user': 'ann'}"),
        (
            r#"{"error":"invalid_token","token":null,"author":"ann"}"#,
            r#"{"error":"invalid_token","token":null,"author":"ann"}"#,
        ),
        ("\u{e4}\":\"\u{f6}: token: none", "\u{e4}\":\"\u{f6}: token: none"),
        (r#"{"password":""}"#, r#"{"password":""}"#),
        (r#"{"pwd": 123456, "n": 7}"#, r#"{"pwd": ***, "n": 7}"#),
        (r#"{"token":[ "canary", "can\"ary" ],"n":["a"]}"#, r#"{"token":[ "***", "***" ],"n":["a"]}"#),
        (r#"{"token":["canary, cut off"#, r#"{"token":["***"#),
        (r#"{"token":[],"password":true}"#, r#"{"token":[],"password":true}"#),
        ("<a:Password Type='x'>canary</a:Password><n>1</n>", "<a:Password Type='x'>***</a:Password><n>1</n>"),
        ("<access-token>canary, cut off", "<access-token>***"),
        ("<token/><b>1</b><password></password>", "<token/><b>1</b><password></password>"),
    ] {
        assert_eq!(without_credentials(text), masked);
    }
}

#[test]
fn what_follows_a_scheme_and_a_password_in_a_url_are_masked() {
    for (text, masked) in [
        ("no: Authorization: Bearer canary12", "no: Authorization: Bearer ***"),
        ("\"bearer abcdefghijklmnop.qrst==\", refused", "\"bearer ***\", refused"),
        ("Basic dXNlcjpjYW5hcnk= is not known", "Basic *** is not known"),
        (
            "Bearer realm=\"veraison\", error=\"invalid_token\"",
            "Bearer realm=\"veraison\", error=\"invalid_token\"",
        ),
        (r#"got "Basic am9lOnNlY3JldHM=" for joe"#, r#"got "Basic ***" for joe"#),
        (r#"{"h":"Bearer abc123def456="}"#, r#"{"h":"Bearer ***"}"#),
        ("/a?h=Bearer%20canary12", "/a?h=Bearer%20***"),
        ("Basic\tam9lOnNlY3JldHM=, Bearer: abc123def456", "Basic\t***, Bearer: ***"),
        ("Bearer abcDefGhiJklMno", "Bearer ***"),
        (r"https:\/\/joe:hunter22@host\/", r"https:\/\/joe:***@host\/"),
        ("GET /\r\nCookie: session=canary; a=b\r\nAccept: */*", "GET /\r\nCookie: ***\r\nAccept: */*"),
        (r#"["set-cookie: sid=canary", 1]"#, r#"["set-cookie: ***", 1]"#),
        ("x-api-key: abc12345", "x-api-key: ***"),
        ("Cookie: sid=\"canary\"; Path=/\nX-Api-Key: \"canary\"\n.", "Cookie: ***\nX-Api-Key: ***\n."),
        ("<p>Cookie: a='canary'</p>", "<p>Cookie: ***</p>"),
        ("headers.Cookie: it is no header's value", "headers.Cookie: it is no header's value"),
        ("Bearer authentication is required", "Bearer authentication is required"),
        ("Basic dXNlcjpwYXNz", "Basic ***"),
        (
            "/search?q=basic+chemistry101 or forbearer abc12345678",
            "/search?q=basic+chemistry101 or forbearer abc12345678",
        ),
        ("Bearer token-authentication failed", "Bearer token-authentication failed"),
        (
            r#"{"e":"Bearer error_description=\"expired\""}"#,
            r#"{"e":"Bearer error_description=\"expired\""}"#,
        ),
        ("Bearer authorization_uri=https://a", "Bearer authorization_uri=https://a"),
        ("Bearer insufficient_scope, JsonWebTokenError", "Bearer insufficient_scope, JsonWebTokenError"),
        ("bearer TokenExpiredException thrown", "bearer TokenExpiredException thrown"),
        ("Basic authentication/authorization", "Basic authentication/authorization"),
        ("Bearer abc%2Bdef12 is unknown", "Bearer *** is unknown"),
        ("curl -u ann:canary --data x", "curl -u ann:*** --data x"),
        ("PASSWORD=canary psql --password='can ary' -u ann", "PASSWORD=*** psql --password='***' -u ann"),
        ("TOKEN=$TOKEN run; api_key=canary, n=1", "TOKEN=$TOKEN run; api_key=***, n=1"),
        ("<a password=\"can ary\" n=\"1\"/>", "<a password=\"***\" n=\"1\"/>"),
        ("pass=12 fail=0 token=3", "pass=12 fail=0 token=3"),
        ("date -u +%H:%M; git push -u origin:main", "date -u +%H:%M; git push -u origin:main"),
        ("Basic HTTP/1.1 is spoken", "Basic HTTP/1.1 is spoken"),
        ("secret==canary and -u ann:$PW or bus -u: a", "secret==canary and -u ann:$PW or bus -u: a"),
        ("basically, bearers of 12345678", "basically, bearers of 12345678"),
        (
            "from http://jane:can:ary@a.b/?c=d and https://a@b",
            "from http://jane:***@a.b/?c=d and https://a@b",
        ),
        ("at \u{e9}://\u{e9}:\u{e9}@ or http://a:80/@b:c", "at \u{e9}://\u{e9}:***@ or http://a:80/@b:c"),
    ] {
        assert_eq!(without_credentials(text), masked);
    }
}

#[test]
fn a_body_may_be_a_form_and_what_is_none_has_no_pairs() {
    for (body, found) in [
        ("user=ann&password=can%26ary&remember=1\n", &["can%26ary"] as &[_]),
        ("password=canary", &["canary"]),
        (r#"{"user":"ann","password":"canary"}"#, &["canary"]),
        (r#"{"next":"/a?token=canary"}"#, &["canary"]),
        ("user=&password=canary", &["canary"]),
        ("csrf&password=canary", &["canary"]),
        ("a+b=1&password=canary", &["canary"]),
        ("user=jane doe&password=canary", &["canary"]),
        ("a=1\npassword=canary\n", &["canary"]),
        ("user: ann\npassword: canary words\n", &["canary words"]),
        (r#"{"new_password":"canary","secret-key":"canary2"}"#, &["canary", "canary2"]),
        ("a text, in which no password stands", &[]),
        ("page=1&size=2", &[]),
    ] {
        let values: Vec<_> = credentials_of_body(body).into_iter().map(|at| &body[at]).collect();
        assert_eq!(values, found, "{body}");
    }
}

#[test]
fn a_header_carries_a_credential_where_its_name_says_so() {
    for name in [
        "Authorization",
        "proxy-authorization",
        "Cookie",
        "X-Api-Key",
        "apikey",
        "X-Auth-Token",
        "Private-Token",
        "X-Client-Secret",
        "X-Password",
        "X-Credential",
        "Ocp-Apim-Subscription-Key",
        "x-functions-key",
        "X-Access-Key",
        "X-Hub-Signature-256",
        "X-Session-Id",
        "DPoP",
    ] {
        assert!(is_credential(name), "{name}");
    }
    for name in ["accept", "content-type", "user-agent", "x-request-id", "idempotency-key", "traceparent"] {
        assert!(!is_credential(name), "{name}");
    }
}
