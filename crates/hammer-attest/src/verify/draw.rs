//! Which device an operation shows, and what is wrong with it.

use std::sync::Arc;

use hammer_core::compose::{Route as _, WeightedMix};
use hammer_core::draw::Draws;
use hammer_values::Count;

use crate::device_class::DeviceClass;
use crate::plan::{DevicesPlan, VerifyPlan};
use crate::provisioned::ProvisionedDevices;
use crate::target::AttestRun;

/// Draws devices.
#[derive(Debug)]
pub(super) struct DeviceDraws {
    devices: DevicesPlan,
    provisioned: Arc<ProvisionedDevices>,
    /// Of counted devices, those alone that were taken in.
    pub(super) is_of_provisioned: bool,
    bad_share: f64,
    bad: Option<(WeightedMix, Vec<DeviceClass>)>,
    classes: Draws,
    places: Draws,
}

impl DeviceDraws {
    pub(super) fn new(plan: &VerifyPlan, provisioned: Arc<ProvisionedDevices>, run: &AttestRun) -> Self {
        let draws = |label: u64| Draws::new(run.seed, label ^ run.workload << 32);
        let (classes, weights): (Vec<_>, Vec<_>) =
            plan.bad.mix.drawn().map(|(class, weight)| (*class, weight)).unzip();
        let bad = (!classes.is_empty()).then(|| (WeightedMix::new(&weights, draws(KINDS)), classes));
        Self {
            devices: plan.devices.clone(),
            provisioned,
            is_of_provisioned: false,
            bad_share: plan.bad.share.of_1(),
            bad,
            classes: draws(CLASSES),
            places: draws(PLACES),
        }
    }

    /// What is wrong with the device of that operation.
    pub(super) fn class(&self, seq: u64) -> DeviceClass {
        match &self.bad {
            Some((mix, classes)) if self.classes.unit(seq) < self.bad_share => classes[mix.of(seq).0],
            _ => DeviceClass::Good,
        }
    }

    /// The first of so many devices, from an evenly drawn place on, that was taken in and has settled.
    fn taken_in(&self, draw: u64, count: Count) -> Option<u64> {
        if self.provisioned.count() == 0 {
            return None;
        }
        let count = count.get() as u64;
        let mut devices = (0..count).filter_map(|behind| self.devices.counted(draw % count + behind));
        devices.find(|device| self.provisioned.has(*device))
    }

    /// The device of that operation, where one is known by now.
    pub(super) fn device(&self, seq: u64, class: DeviceClass) -> Option<u64> {
        match (class, self.devices.count) {
            (DeviceClass::UnknownDevice | DeviceClass::Garbage, _) => Some(seq),
            (_, Some(count)) if self.is_of_provisioned => self.taken_in(self.places.bits(seq), count),
            (_, Some(_)) => self.devices.counted(self.places.bits(seq)),
            (_, None) => self.provisioned.draw(self.places.bits(seq)),
        }
    }
}

const KINDS: u64 = 0x4174_6b64;
const CLASSES: u64 = 0x4174_636c;
const PLACES: u64 = 0x4174_706c;
