//! Claims as results repeat them.

use std::fmt::Write as _;

use hammer_tlog::encoding::base64;

use super::{
    claims::{PsaClaims, SoftwareComponent},
    profile::Profile,
};
use crate::go_json::write_string;

/// The claims as a JSON object, its names in their order, of a device with this instance id.
pub(crate) fn annotated_evidence(claims: &PsaClaims, instance: &[u8; 33]) -> String {
    let mut out = String::with_capacity(1024);
    out.push('{');
    let mut object = Members { out: &mut out, is_first: true };
    if claims.profile == Profile::Two {
        object.text("eat-profile", claims.profile.name());
    }
    if let Some(seed) = &claims.boot_seed {
        object.bytes("psa-boot-seed", seed);
    }
    if let Some(certification) = &claims.certification {
        object.text("psa-certification-reference", certification);
    }
    object.number("psa-client-id", claims.client_id);
    object.bytes("psa-implementation-id", &claims.device.implementation);
    object.bytes("psa-instance-id", instance);
    if claims.components.is_empty() {
        object.number("psa-no-software-measurements", 1);
    }
    object.bytes("psa-nonce", &claims.nonce);
    if claims.profile == Profile::One && claims.names_profile {
        object.text("psa-profile", claims.profile.name());
    }
    object.number("psa-security-lifecycle", claims.lifecycle.into());
    if !claims.components.is_empty() {
        object.name("psa-software-components");
        write_components(object.out, &claims.components);
    }
    if let Some(service) = &claims.verification_service {
        object.text("psa-verification-service-indicator", service);
    }
    out.push('}');
    out
}

fn write_components(out: &mut String, components: &[SoftwareComponent]) {
    for (place, component) in components.iter().enumerate() {
        out.push_str(if place == 0 { "[{" } else { ",{" });
        let mut object = Members { out, is_first: true };
        if let Some(description) = &component.description {
            object.text("measurement-desc", description);
        }
        if let Some(kind) = &component.kind {
            object.text("measurement-type", kind);
        }
        object.bytes("measurement-value", &component.measurement);
        object.bytes("signer-id", &component.signer);
        if let Some(version) = &component.version {
            object.text("version", version);
        }
        out.push('}');
    }
    out.push(']');
}

/// The members of an object, one after another.
struct Members<'a> {
    out: &'a mut String,
    is_first: bool,
}

impl Members<'_> {
    fn name(&mut self, name: &str) {
        self.out.push_str(if self.is_first { "\"" } else { ",\"" });
        self.is_first = false;
        self.out.push_str(name);
        self.out.push_str("\":");
    }

    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        write_string(self.out, text);
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        self.name(name);
        self.out.push('"');
        self.out.push_str(&base64(bytes));
        self.out.push('"');
    }

    fn number(&mut self, name: &str, number: i32) {
        self.name(name);
        // A string takes whatever is written to it.
        let _ = write!(self.out, "{number}");
    }
}
