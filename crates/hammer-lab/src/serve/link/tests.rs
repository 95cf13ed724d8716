use proptest::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::task::yield_now;

use super::*;
use crate::clock::ManualClock;

/// A link of 1,460 bytes in 10 ms, which is as much as goes through at once.
fn link() -> Link {
    let rate = BitRate::nearest((SEGMENT * 8 * 100) as f64);
    Link::new(LinkPlan { up: Some(rate), down: Some(rate) })
}

/// A stream behind the link, and its peer, which has room for much.
fn linked(link: &Link, clock: &ManualClock) -> (LinkedStream<DuplexStream>, DuplexStream) {
    let (stream, peer) = tokio::io::duplex(1 << 20);
    (LinkedStream::new(stream, link.clone(), Arc::new(clock.clone())), peer)
}

/// Lets the time go by in steps of a millisecond until the future has ended; when that is.
async fn in_time<T>(clock: &ManualClock, future: impl Future<Output = T>) -> (T, Duration) {
    let time_goes_by = async {
        loop {
            for _ in 0..100 {
                yield_now().await;
            }
            clock.advance(Duration::from_millis(1));
        }
    };
    let ended = tokio::select! {
        biased;
        ended = future => ended,
        never = time_goes_by => never,
    };
    (ended, clock.elapsed())
}

#[tokio::test]
async fn each_way_takes_its_bytes_at_the_rate_after_a_burst() {
    let (clock, link) = (ManualClock::at_unix_ms(0), link());
    clock.advance(Duration::from_secs(1));
    let (mut stream, mut peer) = linked(&link, &clock);
    peer.write_all(&[7; 10 * SEGMENT]).await.unwrap();
    let mut read = vec![0; 10 * SEGMENT];
    let (_, arrived) = in_time(&clock, stream.read_exact(&mut read)).await;
    assert_eq!((read, arrived), (vec![7; 10 * SEGMENT], Duration::from_millis(1_090)));
    // The other way has its own bucket.
    clock.advance(Duration::from_millis(10));
    let (_, sent) = in_time(&clock, stream.write_all(&[8; 10 * SEGMENT])).await;
    assert_eq!(sent, Duration::from_millis(1_190));
}

#[tokio::test]
async fn a_silence_earns_no_more_than_the_burst() {
    let (clock, link) = (ManualClock::at_unix_ms(0), link());
    let (mut stream, _peer) = linked(&link, &clock);
    for silence_s in [1_u64, 100] {
        clock.advance(Duration::from_secs(silence_s));
        let from = clock.elapsed();
        let (_, sent) = in_time(&clock, stream.write_all(&[0; 3 * SEGMENT])).await;
        assert_eq!(sent - from, Duration::from_millis(20));
    }
}

#[tokio::test]
async fn connections_share_the_link_in_turn_so_that_a_short_message_passes_a_long_one() {
    let (clock, link) = (ManualClock::at_unix_ms(0), link());
    let (mut long, mut long_peer) = linked(&link, &clock);
    let (mut short, mut short_peer) = linked(&link, &clock);
    long_peer.write_all(&[0; 100 * SEGMENT]).await.unwrap();
    short_peer.write_all(&[0; 5 * SEGMENT]).await.unwrap();
    let at = |clock: &ManualClock| clock.elapsed();
    let both = async {
        tokio::join!(
            async {
                long.read_exact(&mut vec![0; 100 * SEGMENT]).await.unwrap();
                at(&clock)
            },
            async {
                short.read_exact(&mut vec![0; 5 * SEGMENT]).await.unwrap();
                at(&clock)
            }
        )
    };
    let ((long_at, short_at), _) = in_time(&clock, both).await;
    // Ten segments of both until the short one is through, and all 105 until the long one is.
    assert_eq!((short_at, long_at), (Duration::from_millis(100), Duration::from_millis(1_050)));
}

#[tokio::test]
async fn while_a_segment_is_on_the_way_the_rest_stays_with_the_peer() {
    let (clock, link) = (ManualClock::at_unix_ms(0), link());
    let (stream, mut peer) = tokio::io::duplex(2 * SEGMENT);
    let mut stream = LinkedStream::new(stream, link, Arc::new(clock.clone()) as Arc<dyn Clock>);
    let reader = async { stream.read_exact(&mut vec![0; 10 * SEGMENT]).await.map(drop) };
    let writer = async {
        peer.write_all(&[0; 10 * SEGMENT]).await.unwrap();
        clock.elapsed()
    };
    let ((_, written), read) = in_time(&clock, async { tokio::join!(reader, writer) }).await;
    // All but what the way below has room for has to be taken first.
    assert_eq!(read, Duration::from_millis(100));
    assert!(written >= Duration::from_millis(70), "{written:?}");
}

#[tokio::test]
async fn a_direction_without_a_rate_takes_no_time_and_an_end_none_either() {
    let clock = ManualClock::at_unix_ms(0);
    let up = Link::new(LinkPlan { up: Some(BitRate::nearest(8.0)), down: None });
    let (mut stream, mut peer) = linked(&up, &clock);
    stream.write_all(&[1; 100_000]).await.unwrap();
    peer.read_exact(&mut vec![0; 100_000]).await.unwrap();
    peer.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0; 10]).await.unwrap(), 0);
    assert_eq!(clock.elapsed(), Duration::ZERO);
}

proptest! {
    #[test]
    fn no_time_sees_more_than_the_rate_and_the_burst(takes in prop::collection::vec((1_usize..3_000, 0_u64..20), 1..50)) {
        let bucket = TokenBucket::new(BitRate::nearest(1e6));
        let (mut now, mut taken) = (Duration::from_secs(1), 0);
        let start = now;
        for (bytes, wait_ms) in takes {
            now += Duration::from_millis(wait_ms);
            let through = bucket.take(bytes, now);
            taken += bytes as u64;
            let alone = bucket.rate.time_of(taken);
            prop_assert!(through + BURST >= start + alone, "{through:?} {alone:?}");
            prop_assert!(through <= now + bucket.rate.time_of(taken));
        }
    }
}
