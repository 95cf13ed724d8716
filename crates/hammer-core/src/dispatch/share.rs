//! A shard's share of what is meant for all shards.

/// Most operations in flight at once on one shard: its share of `limit`, and at least one, since its arrivals would
/// wait for ever.
pub(super) fn in_flight_share(limit: usize, shard: usize, shards: usize) -> usize {
    share_of(limit, shard, shards).max(limit.min(1))
}

/// `whole` split over shards so that the parts add up to it.
pub(super) fn share_of(whole: usize, shard: usize, shards: usize) -> usize {
    whole / shards + usize::from(shard < whole % shards)
}
