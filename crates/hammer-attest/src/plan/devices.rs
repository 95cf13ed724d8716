//! Devices and their endorsements in plans.

use std::path::PathBuf;

use hammer_values::Count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which devices. Workloads that say the same of them have the same ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DevicesPlan {
    /// The number of the first.
    pub first: u64,
    /// How many there are, which come again and again; without it, each operation that provisions has one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Count>,
    /// How far the number of one is from that of the next: so few devices can be spread over as many numbers as there are. 1 where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stride: Option<Count>,
    /// So many models share their reference values; without it, each device is a model of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<Count>,
    /// Which devices under the same seed.
    pub stream: u64,
}

/// Provisioning: each operation submits the endorsements of one device. The service has to say `success`; HTTP 200 alone is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProvisionPlan {
    /// Which devices.
    pub devices: DevicesPlan,
    /// Who signs endorsements (COSE_Sign1); without it they are not signed. Only services take them that speak
    /// `tag:arm.com,2025:psa#1.0.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<SignerPlan>,
}

/// Who signs endorsements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignerPlan {
    /// PEM file of its key, of P-256.
    pub key: PathBuf,
    /// PEM file of its certificate, whose issuer the service trusts.
    pub certificate: PathBuf,
    /// The name by which endorsements call it.
    #[serde(default = "signer_name")]
    pub name: String,
}

fn signer_name() -> String {
    "hammer".to_owned()
}

impl DevicesPlan {
    /// The key that contradicts the others, below the workload's section, and why.
    pub fn misfit(&self) -> Option<(&'static str, &'static str)> {
        // Behind it there is room for as many operations as any run has.
        if self.first > MOST_FIRST {
            return Some(("devices.first", "it is 4611686018427387904 (2^62) at most"));
        }
        (self.step() > MOST_STRIDE).then_some(("devices.stride", "it is 1048576 (2^20) at most"))
    }

    /// The first device of which nobody remembers that it was provisioned, so that no flow draws it: there is one bit for each before it.
    pub const FIRST_FORGOTTEN: u64 = 1 << 26;

    /// Whether the others are the same devices, each by its number.
    pub fn is_of(&self, other: &Self) -> bool {
        (self.stream, self.models) == (other.stream, other.models)
    }

    /// The device of an operation of that number, where that has one of `count`: those of fills are numbered apart, and count like others.
    pub(crate) fn counted(&self, seq: u64) -> Option<u64> {
        let count = self.count?.get() as u64;
        Some(self.first + seq % FIRST_FILLED % count * self.step())
    }

    /// The device of an operation of that number; where each has one of its own, from `next` on.
    pub(crate) fn index(&self, seq: u64, next: u64) -> u64 {
        self.counted(seq).unwrap_or_else(|| {
            let before = next.saturating_sub(self.first).div_ceil(self.step());
            self.first + (before + seq % FIRST_FILLED) * self.step()
        })
    }

    /// How far the number of one is from that of the next.
    pub(crate) fn step(&self) -> u64 {
        self.stride.map_or(1, |stride| stride.get() as u64)
    }

    /// How many models there are, where that is stated.
    pub fn models(&self) -> Option<u64> {
        self.models.map(|models| models.get() as u64)
    }
}

/// The number of the first operation of a fill.
const FIRST_FILLED: u64 = 1 << 40;
const MOST_FIRST: u64 = 1 << 62;
/// With as many operations as any run has, no number is beyond 64 bits.
const MOST_STRIDE: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(first: u64, stride: usize, count: Option<usize>) -> DevicesPlan {
        let [stride, count] = [Some(stride), count].map(|number| number.map(Count::at_least_one));
        DevicesPlan { first, stride, count, ..DevicesPlan::default() }
    }

    #[test]
    fn devices_come_a_stride_apart_and_go_on_behind_those_that_were_there() {
        let of = |plan: &DevicesPlan, next| [0, 1, 2].map(|seq| plan.index(seq, next));
        assert_eq!(of(&plan(7, 50, None), 0), [7, 57, 107]);
        // One more than the highest: that of 107, and of another plan's 110.
        assert_eq!(of(&plan(7, 50, None), 108), [157, 207, 257]);
        assert_eq!(of(&plan(7, 50, None), 158), [207, 257, 307]);
        assert_eq!(of(&DevicesPlan::default(), 3), [3, 4, 5]);
        assert_eq!(of(&plan(7, 50, Some(2)), 900), [7, 57, 7]);
        assert_eq!(plan(0, 3, Some(10)).counted(FIRST_FILLED + 12), Some(6));
    }

    #[test]
    fn no_number_of_a_device_is_beyond_64_bits() {
        let last = plan(MOST_FIRST, MOST_STRIDE as usize, None);
        assert_eq!(last.misfit(), None);
        assert!(last.index(FIRST_FILLED - 1, 0) > MOST_FIRST);
        assert_eq!(plan(0, MOST_STRIDE as usize + 1, None).misfit().unwrap().0, "devices.stride");
    }
}
