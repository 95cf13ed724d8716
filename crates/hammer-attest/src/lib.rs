//! PSA devices by the million for attestation verifiers: each a pure function of a seed and its index, with the endorsements by which a
//! verifier comes to know it and the evidence that it affirms.

mod devices;
mod private_key;

pub use devices::{
    CLIENT_ID, DeviceMaterial, DeviceScratch, Devices, Evidence, SECURED, VERIFICATION_SERVICE,
};
pub use private_key::private_pem;
