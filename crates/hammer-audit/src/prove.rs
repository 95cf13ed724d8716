//! What proves heads, fetched.

use hammer_tlog::hash::Hash;
use hammer_tlog::logs::follow::{Follower, Need};

use crate::reader::AuditReader;
use crate::served_tile::ServedTile;
use crate::source::{LogQuery, LogSource};
use crate::trouble::Trouble;

/// Fetches what proves the heads of a tree that its follower was fed.
pub(crate) async fn prove<L: LogSource>(
    reader: &AuditReader<L>,
    tree: u64,
    follower: &mut Follower,
) -> Result<(), Trouble> {
    let mut need = follower.need();
    while let Some(needed) = need {
        match &needed {
            Need::Tiles(tiles) => {
                let (read, went) = reader.tiles(tiles).await;
                for (tile, found) in read {
                    match found {
                        ServedTile::Bytes(bytes) => follower.tile(tile, &bytes),
                        ServedTile::Missing => follower.missing(tile),
                    }
                }
                went?;
            }
            Need::ConsistencyProof { first, second, refused } => {
                let query = reader.log().consistency_in(tree, *first, *second).ok_or_else(|| {
                    Trouble::Other("prove that the log grows: it has no consistency proofs".to_owned())
                })?;
                follower.consistency_proof(*first, *second, &proof(reader, &query, *refused).await?);
            }
        }
        need = follower.need().filter(|next| *next != needed);
    }
    Ok(())
}

/// The consistency proof of a query, of which so many did not hold. One that cannot be read is asked for again as well.
async fn proof<L: LogSource>(
    reader: &AuditReader<L>,
    query: &LogQuery<Vec<Hash>>,
    refused: u32,
) -> Result<Vec<Hash>, Trouble> {
    for tries in refused.. {
        if tries > 0 {
            reader.elsewhere_and_later(tries).await;
        }
        match reader.ask(query).await {
            Err(Trouble::Unreadable { .. }) if tries < UNREADABLE => {}
            // Who does not have the larger tree cannot prove it: a head may be another server's.
            Err(why) if why.is_refusal() => return reader.ask_each(query).await.ok_or(why),
            answer => return answer,
        }
    }
    Err(Trouble::Silent(query.path.clone()))
}

/// Proofs in a row that nobody can read before a round ends with that.
const UNREADABLE: u32 = 3;
