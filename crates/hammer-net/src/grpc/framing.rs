//! Messages with their lengths before them (gRPC's doc/PROTOCOL-HTTP2.md, "Length-Prefixed-Message").

use bytes::{BufMut as _, Bytes, BytesMut};
use prost::Message;

use super::fault::GrpcFault;

/// One byte that says whether the message is compressed, and its length in four, big-endian.
const PREFIX: usize = 5;

/// A message as it is sent. `buffer` lends its memory, which is used again once nobody has the message any more.
///
/// # Errors
/// A message of 4 GiB or more.
pub fn frame(message: &[u8], buffer: &mut BytesMut) -> Result<Bytes, GrpcFault> {
    put_prefix(message.len(), buffer)?;
    buffer.put_slice(message);
    Ok(buffer.split().freeze())
}

/// A message of Protocol Buffers as it is sent, encoded behind its length without a copy; `buffer` as in [`frame`].
///
/// # Errors
/// A message of 4 GiB or more.
pub fn encode(message: &impl Message, buffer: &mut BytesMut) -> Result<Bytes, GrpcFault> {
    put_prefix(message.encoded_len(), buffer)?;
    message.encode_raw(buffer);
    Ok(buffer.split().freeze())
}

fn put_prefix(length: usize, buffer: &mut BytesMut) -> Result<(), GrpcFault> {
    let prefix = u32::try_from(length).map_err(|_| GrpcFault::TooLarge)?;
    buffer.clear();
    buffer.reserve(PREFIX + length);
    buffer.put_u8(0);
    buffer.put_u32(prefix);
    Ok(())
}

/// The one message of a body. `is_identity`: the compression that a message may name is none, so that none is compressed ("Compressed-Flag").
///
/// # Errors
/// A body of no message or more than one, one that is cut off, or a compressed one.
pub(super) fn only_message(body: &[u8], is_identity: impl FnOnce() -> bool) -> Result<&[u8], GrpcFault> {
    let Some((prefix, rest)) = body.split_first_chunk::<PREFIX>() else {
        return Err(if body.is_empty() { GrpcFault::NoMessage } else { GrpcFault::Cut });
    };
    let [flag, length @ ..] = *prefix;
    let (message, behind) =
        rest.split_at_checked(u32::from_be_bytes(length) as usize).ok_or(GrpcFault::Cut)?;
    match flag {
        0 => {}
        1 if is_identity() => return Err(GrpcFault::NoEncoding),
        1 => return Err(GrpcFault::Compressed),
        _ => return Err(GrpcFault::Flag),
    }
    if behind.is_empty() { Ok(message) } else { Err(GrpcFault::SeveralMessages) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_framed_is_read_again() {
        let mut buffer = BytesMut::new();
        for message in [&b""[..], b"one", &[7; 70_000]] {
            let framed = frame(message, &mut buffer).unwrap();
            assert_eq!(framed.len(), 5 + message.len());
            assert_eq!(only_message(&framed, || false), Ok(message));
        }
    }

    #[test]
    fn a_message_is_encoded_behind_its_length() {
        // google.protobuf.StringValue: field 1, three bytes.
        let framed = encode(&"abc".to_owned(), &mut BytesMut::new()).unwrap();
        assert_eq!(&framed[..], b"\0\0\0\0\x05\x0a\x03abc");
    }

    #[test]
    fn memory_is_used_again_once_the_message_is_gone() {
        let mut buffer = BytesMut::new();
        let first = frame(&[1; 1_000], &mut buffer).unwrap();
        let place = first.as_ptr();
        drop(first);
        assert_eq!(frame(&[2; 1_000], &mut buffer).unwrap().as_ptr(), place);
    }

    #[test]
    fn a_body_that_is_not_one_plain_message_is_refused_by_its_cause() {
        for (body, fault) in [
            (&b""[..], GrpcFault::NoMessage),
            (b"\0\0\0", GrpcFault::Cut),
            (b"\0\0\0\0\x02a", GrpcFault::Cut),
            (b"\0\xff\xff\xff\xff", GrpcFault::Cut),
            (b"\x01\0\0\0\x01a", GrpcFault::Compressed),
            (b"\x02\0\0\0\x01a", GrpcFault::Flag),
            (b"\0\0\0\0\x01a\0\0\0\0\0", GrpcFault::SeveralMessages),
        ] {
            assert_eq!(only_message(body, || false), Err(fault), "{body:?}");
        }
        assert_eq!(only_message(b"\x01\0\0\0\x01a", || true), Err(GrpcFault::NoEncoding));
    }
}
