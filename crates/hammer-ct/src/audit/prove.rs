use hammer_tlog::ct::rfc6962::GetSthConsistency;
use hammer_tlog::logs::follow::{Follower, Need};

use super::reader::{Reader, Tile};
use super::trouble::Trouble;

/// Fetches what proves the heads that the follower was fed.
pub(super) async fn prove(reader: &mut Reader, follower: &mut Follower) -> Result<(), Trouble> {
    let mut need = follower.need();
    while let Some(needed) = need {
        match &needed {
            Need::Tiles(tiles) => {
                let (read, went) = reader.tiles(tiles).await;
                for (tile, found) in read {
                    match found {
                        Tile::Bytes(bytes) => follower.tile(tile, &bytes),
                        Tile::Missing => follower.missing(tile),
                    }
                }
                went?;
            }
            Need::ConsistencyProof { first, second } => {
                let path = format!("/ct/v1/get-sth-consistency?first={first}&second={second}");
                let proof: GetSthConsistency = reader.json(&path).await?;
                follower.consistency_proof(*first, *second, &proof.consistency);
            }
        }
        need = follower.need().filter(|next| *next != needed);
    }
    Ok(())
}
