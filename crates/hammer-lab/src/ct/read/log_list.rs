//! log.v3.json: the log as it describes itself.

use std::time::Duration;

use serde_json::{Value, json};

use crate::ct::{log::Log, plan::Flavour};

impl Log {
    /// The log's entry of a v3 log list, with the URLs by which it is reached.
    pub(crate) fn log_list_entry(&self, url: &str) -> String {
        let plan = &self.plan;
        let mmd_s = Duration::from(plan.max_merge_delay).as_secs();
        let mut entry = json!({
            "description": self.origin,
            "log_id": self.signer.log_id.to_base64(),
            "key": base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &self.signer.spki),
            "mmd": mmd_s,
            "status": "active",
        });
        match plan.flavour {
            Flavour::StaticCt => {
                entry["log_spec"] = "static-ct-api".into();
                entry["submission_url"] = url.into();
                entry["monitoring_url"] = url.into();
            }
            Flavour::Rfc6962 => entry["url"] = url.into(),
        }
        if let (Some(start), Some(limit)) = (&plan.not_after_start, &plan.not_after_limit) {
            let interval: Value = json!({ "start_inclusive": start, "end_exclusive": limit });
            entry["temporal_interval"] = interval;
        }
        entry.to_string()
    }
}
