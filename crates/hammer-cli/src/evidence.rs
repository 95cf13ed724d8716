//! What shows that promises were broken, kept beside the report for whoever has to answer for them.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use hammer_measure::promise::BreachEvidence;
use hammer_tlog::encoding::base64;
use serde_json::{Value, json};

use crate::plan::Plan;
use crate::protocol::registry::Registry;

/// Writes what the server said to each operation whose promise was broken, a JSON object a line; the file, where there is
/// anything to write. Only the first broken promises are kept, and a few MiB of them. Beside the bytes stands what they are, where the protocol of
/// their workload has words for them.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn keep(
    evidence: &[BreachEvidence],
    (registry, plan): (&Registry, &Plan),
    folder: &Path,
    epoch_unix_ms: u64,
) -> io::Result<Option<PathBuf>> {
    if evidence.is_empty() {
        return Ok(None);
    }
    let path = folder.join(format!("hammer-{epoch_unix_ms}-evidence.jsonl"));
    let mut file = BufWriter::new(File::create(&path)?);
    for BreachEvidence { workload, seq, kind, bytes } in evidence {
        let mut line = json!({ "workload": workload, "seq": seq, "kind": kind, "record": base64(bytes) });
        if let Some(shown) = shown(registry, plan, workload, bytes) {
            line["shown"] = shown;
        }
        writeln!(file, "{line}")?;
    }
    file.flush()?;
    Ok(Some(path))
}

fn shown(registry: &Registry, plan: &Plan, workload: &str, bytes: &[u8]) -> Option<Value> {
    let workload = plan.workloads.iter().find(|known| known.name.as_str() == workload)?;
    registry.protocols().iter().find_map(|protocol| protocol.shown_evidence(workload, bytes))
}
