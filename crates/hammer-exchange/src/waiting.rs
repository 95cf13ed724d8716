//! What an exchange waited for that was cut off.

use hammer_measure::Nanos;
use hammer_net::{Answer, WireTimes};

/// What the exchange of `answer` was waiting for as of `now`, since when, and of which address, as far as one was known.
#[cold]
pub(crate) fn waited_for(answer: &Answer, now: Nanos) -> String {
    let peer = match answer.wire.peer.or(answer.peer) {
        Some(peer) => peer.to_string(),
        None if answer.wire == WireTimes::default() => return "no address was known yet".to_owned(),
        // It is at no address, as one behind a Unix socket is.
        None => "the server".to_owned(),
    };
    let for_so_long = |since: Nanos| now.since(since);
    match answer.wire {
        WireTimes { first_byte: Some(first), .. } => format!(
            "the answer of {peer} had started {} before, and was not whole after {} bytes on the wire",
            for_so_long(first),
            answer.bytes_in
        ),
        WireTimes { sent: Some(sent), .. } => {
            format!(
                "no answer had started to come from {peer} since the request was sent {} before",
                for_so_long(sent)
            )
        }
        WireTimes { tls_done: Some(done), .. } => {
            format!("nothing could be sent to {peer} since TLS was agreed on {} before", for_so_long(done))
        }
        WireTimes { connected: Some(connected), .. } => {
            format!("{peer} had said nothing since TCP was connected {} before", for_so_long(connected))
        }
        WireTimes { dial_started: Some(started), .. } => {
            format!("{peer} had not taken the connection that was dialled {} before", for_so_long(started))
        }
        WireTimes { dial_started: None, .. } => format!("no connection to {peer} was free"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(wire: WireTimes) -> String {
        let peer = Some(([127, 0, 0, 1], 80).into());
        waited_for(&Answer { wire, peer, bytes_in: 7, ..Answer::new() }, Nanos::from_secs(5))
    }

    #[test]
    fn whose_connection_carries_the_request_is_named_and_nobody_where_that_is_no_address() {
        let preferred = Some(([127, 0, 0, 1], 80).into());
        let mut wire = WireTimes { sent: Some(Nanos::from_secs(3)), ..WireTimes::default() };
        let told = |wire, peer| waited_for(&Answer { wire, peer, ..Answer::new() }, Nanos::from_secs(5));
        assert_eq!(
            told(wire, None),
            "no answer had started to come from the server since the request was sent 2.00s before"
        );
        wire.peer = Some(([127, 0, 0, 2], 80).into());
        let of_connection =
            "no answer had started to come from 127.0.0.2:80 since the request was sent 2.00s before";
        assert_eq!(told(wire, preferred), of_connection);
    }

    #[test]
    fn the_last_thing_that_was_reached_says_what_is_waited_for() {
        assert_eq!(waited_for(&Answer::new(), Nanos::ZERO), "no address was known yet");
        let mut wire = WireTimes::default();
        let mut all = vec![told(wire)];
        let second = |at| Some(Nanos::from_secs(at));
        wire.dial_started = second(1);
        all.push(told(wire));
        wire.connected = second(2);
        all.push(told(wire));
        wire.tls_done = second(2);
        all.push(told(wire));
        wire.sent = second(3);
        all.push(told(wire));
        wire.first_byte = second(4);
        all.push(told(wire));
        assert_eq!(
            all,
            [
                "no connection to 127.0.0.1:80 was free",
                "127.0.0.1:80 had not taken the connection that was dialled 4.00s before",
                "127.0.0.1:80 had said nothing since TCP was connected 3.00s before",
                "nothing could be sent to 127.0.0.1:80 since TLS was agreed on 3.00s before",
                "no answer had started to come from 127.0.0.1:80 since the request was sent 2.00s before",
                "the answer of 127.0.0.1:80 had started 1.00s before, and was not whole after 7 bytes on the wire",
            ]
        );
    }
}
