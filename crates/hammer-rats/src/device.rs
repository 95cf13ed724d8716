//! What a PSA device is known by.

/// A PSA device (RFC 9783 sections 4.2 and 4.4), as endorsements describe it and its evidence says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PsaDevice {
    /// The implementation ID: that of the immutable root of trust, which the devices of a model have in common.
    pub implementation_id: [u8; 32],
    /// The instance ID of this device alone; as a UEID it is the byte 0x01 and this.
    pub instance_id: [u8; 32],
    /// What runs on it, in the order in which it was started.
    pub components: Vec<SoftwareComponent>,
}

/// A software component and what it was measured as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoftwareComponent {
    /// Its measurement type: `BL`, `PRoT`, ...
    pub kind: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of it.
    pub measurement: [u8; 32],
    /// SHA-256 of the key of whoever signed it.
    pub signer: [u8; 32],
}

impl PsaDevice {
    /// The instance ID as a UEID (RFC 9711 section 4.2.1), of the type RAND.
    pub fn ueid(&self) -> [u8; 33] {
        let mut ueid = [RAND; 33];
        ueid[1..].copy_from_slice(&self.instance_id);
        ueid
    }
}

const RAND: u8 = 0x01;
