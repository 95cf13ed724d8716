//! What a call ended with.

use hammer_measure::Outcome;

/// What a call ended with (gRPC's doc/statuscodes.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GrpcStatus {
    /// It was done.
    Ok,
    /// It was cut off, by its caller as a rule.
    Cancelled,
    /// Nobody knows, or the code is none of these.
    Unknown,
    /// The request cannot be right, whatever the server's state.
    InvalidArgument,
    /// The time that the caller gave was over.
    DeadlineExceeded,
    /// There is no such entity.
    NotFound,
    /// The entity is there already.
    AlreadyExists,
    /// The caller may not do this.
    PermissionDenied,
    /// A quota or a store is used up.
    ResourceExhausted,
    /// The server's state forbids it.
    FailedPrecondition,
    /// It was cut off by another one, by a conflict as a rule.
    Aborted,
    /// Beyond the valid range.
    OutOfRange,
    /// There is no such method.
    Unimplemented,
    /// An invariant of the server's is broken.
    Internal,
    /// The server cannot answer at present.
    Unavailable,
    /// Data are lost.
    DataLoss,
    /// Nobody knows who calls.
    Unauthenticated,
}

impl GrpcStatus {
    /// All of them, in the order of their codes from 0 to 16.
    pub const ALL: [Self; 17] = [
        Self::Ok,
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
    ];

    /// The status of a `grpc-status`, a decimal number; unknown where it is none, or not among them.
    pub fn from_code(code: &[u8]) -> Self {
        let code = std::str::from_utf8(code).ok().and_then(|code| code.parse::<usize>().ok());
        code.and_then(|code| Self::ALL.get(code)).copied().unwrap_or(Self::Unknown)
    }

    /// The status of an answer of HTTP that has no `grpc-status` (gRPC's doc/http-grpc-status-mapping.md).
    pub const fn from_http(status: u16) -> Self {
        match status {
            400 => Self::Internal,
            401 => Self::Unauthenticated,
            403 => Self::PermissionDenied,
            404 => Self::Unimplemented,
            429 | 502 | 503 | 504 => Self::Unavailable,
            _ => Self::Unknown,
        }
    }

    /// Its number in `grpc-status`.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Its name in gRPC.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Cancelled => "CANCELLED",
            Self::Unknown => "UNKNOWN",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Aborted => "ABORTED",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::DataLoss => "DATA_LOSS",
            Self::Unauthenticated => "UNAUTHENTICATED",
        }
    }

    /// Pushback where the server has too much to do; refused where it said no to this call; a server error where it failed; timed
    /// out where it did not end in the time that it was given, whichever end of the call is the first to say so.
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::Ok => Outcome::Accepted,
            Self::Unavailable | Self::ResourceExhausted => Outcome::Pushback,
            Self::DeadlineExceeded => Outcome::TimedOut,
            Self::Unknown | Self::Internal | Self::DataLoss => Outcome::ServerError,
            Self::Cancelled
            | Self::InvalidArgument
            | Self::NotFound
            | Self::AlreadyExists
            | Self::PermissionDenied
            | Self::FailedPrecondition
            | Self::Aborted
            | Self::OutOfRange
            | Self::Unimplemented
            | Self::Unauthenticated => Outcome::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_specification() {
        for (place, status) in GrpcStatus::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(status.code()), place);
            assert_eq!(GrpcStatus::from_code(place.to_string().as_bytes()), status);
        }
        let named = [(0, "OK"), (4, "DEADLINE_EXCEEDED"), (8, "RESOURCE_EXHAUSTED"), (14, "UNAVAILABLE")];
        assert!(named.iter().all(|(code, name)| GrpcStatus::ALL[*code].name() == *name));
        for code in ["17", "-1", "", "OK", "0x1", "\u{ff10}"] {
            assert_eq!(GrpcStatus::from_code(code.as_bytes()), GrpcStatus::Unknown, "{code}");
        }
    }

    #[test]
    fn too_much_to_do_is_pushback_and_a_failure_is_the_servers() {
        let ended_as = |outcome| {
            GrpcStatus::ALL
                .into_iter()
                .filter(move |status| status.outcome() == outcome)
                .map(GrpcStatus::name)
        };
        assert_eq!(ended_as(Outcome::Accepted).collect::<Vec<_>>(), ["OK"]);
        assert_eq!(ended_as(Outcome::Pushback).collect::<Vec<_>>(), ["RESOURCE_EXHAUSTED", "UNAVAILABLE"]);
        let failed = ["UNKNOWN", "INTERNAL", "DATA_LOSS"];
        assert_eq!(ended_as(Outcome::ServerError).collect::<Vec<_>>(), failed);
        assert_eq!(ended_as(Outcome::TimedOut).collect::<Vec<_>>(), ["DEADLINE_EXCEEDED"]);
        assert_eq!(ended_as(Outcome::Refused).count(), 10);
    }

    #[test]
    fn an_answer_of_http_alone_has_the_status_that_the_specification_gives_it() {
        for (http, status) in
            [(503, "UNAVAILABLE"), (404, "UNIMPLEMENTED"), (400, "INTERNAL"), (500, "UNKNOWN")]
        {
            assert_eq!(GrpcStatus::from_http(http).name(), status);
        }
    }
}
