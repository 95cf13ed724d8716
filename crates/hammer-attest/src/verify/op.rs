//! One verify flow, in buffers that are used again for the next.

use std::fmt;

use hammer_net::{Answer, Body, BodyBuffer};
use hammer_rats::TokenProfile;

use super::session::VerifyRequests;
use crate::device_class::DeviceClass;
use crate::devices::{DeviceMaterial, DeviceScratch, Devices, Evidence, TokenNumber};

/// What a flow shows, and the room for what it is answered with.
#[derive(Default)]
pub struct VerifyOp {
    pub(super) seq: u64,
    pub(super) class: DeviceClass,
    /// Whose evidence it is; none before that is known.
    pub(super) device: Option<u64>,
    /// The nonce of its session; empty before that is known.
    pub(super) nonce: Vec<u8>,
    material: DeviceMaterial,
    pub(super) evidence: BodyBuffer,
    pub(super) is_signed: bool,
    /// Its own requests, once it was carried out for the first time.
    pub(super) requests: Option<VerifyRequests>,
    pub(super) answer: Answer,
}

impl VerifyOp {
    /// Becomes the operation of that number, of which nothing is signed yet.
    pub(super) fn start(&mut self, seq: u64, class: DeviceClass, device: Option<u64>) {
        (self.seq, self.class, self.device, self.is_signed) = (seq, class, device, false);
        self.nonce.clear();
        // The body of the last one borrows the buffer.
        if let Some(requests) = &mut self.requests {
            requests.evidence.body = Body::empty();
        }
    }

    /// Signs its evidence, once its device and its nonce are known.
    pub(super) fn sign(
        &mut self,
        devices: &Devices,
        profile: TokenProfile,
        token: TokenNumber,
        scratch: &mut DeviceScratch,
    ) {
        let Self { class, device, nonce, material, evidence, is_signed, .. } = self;
        let shown = Evidence { class: *class, profile, nonce, token };
        let device = device.unwrap_or_default();
        evidence.rewrite(|out| devices.write_evidence(device, &shown, scratch, (material, out)));
        *is_signed = true;
    }
}

impl fmt::Debug for VerifyOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyOp")
            .field("class", &self.class)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}
