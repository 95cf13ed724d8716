use hammer_tlog::logs::follow::{Follower, Need};

use crate::reader::{AuditReader, ServedTile};
use crate::source::LogSource;
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
            Need::ConsistencyProof { first, second } => {
                let query = reader.log().consistency_in(tree, *first, *second).ok_or_else(|| {
                    Trouble::Other("prove that the log grows: it has no consistency proofs".to_owned())
                })?;
                follower.consistency_proof(*first, *second, &reader.ask(&query).await?);
            }
        }
        need = follower.need().filter(|next| *next != needed);
    }
    Ok(())
}
