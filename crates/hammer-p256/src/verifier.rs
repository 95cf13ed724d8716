//! Verification by one key that is known beforehand: a log's, say.

use crate::der::RawSignature;
use crate::field::{Field, FieldElement};
use crate::jacobian::Jacobian;
use crate::lanes::Lanes;
use crate::limbs::{self, Limbs};
use crate::point::Point;
use crate::residue::{Modulus, invert_all};
use crate::scalar::{Order, Scalar};
use crate::table::{self, DIGITS, Digits, WindowTable, digits};

/// Signatures whose points are added at once: their 58 points each fill 230 KB.
const CHUNK: usize = 64;

/// A public key with its table of multiples (475 KB; making it takes a few milliseconds).
#[derive(Debug, Clone)]
pub struct FixedKeyVerifier {
    key: WindowTable,
}

/// Memory for batches, to be used again.
#[derive(Debug, Default)]
pub struct BatchScratch {
    candidates: Vec<Candidate>,
    inverses: Vec<Scalar>,
    products: Vec<Scalar>,
    factors: Vec<[Digits; 2]>,
    /// Row by row, and in each row one point for each candidate.
    points: Vec<Point>,
    lanes: Lanes,
}

/// A signature in form, whose verdict is open.
#[derive(Debug)]
struct Candidate {
    /// Its place among the verdicts.
    at: usize,
    digest: Scalar,
    signature: RawSignature,
}

impl FixedKeyVerifier {
    /// The verifier of an uncompressed public key (SEC 1 section 2.3.3); none if it is no point of the curve.
    pub fn new(public_key: &[u8]) -> Option<Self> {
        Point::from_sec1(public_key).map(|point| Self { key: WindowTable::new(point) })
    }

    /// Whether `signature` (DER) is the key's over a SHA-256 digest (FIPS 186-4 section 6.4).
    pub fn verify(&self, digest: &[u8; 32], signature: &[u8]) -> bool {
        let Some(signature) = RawSignature::from_der(signature) else { return false };
        let inverse = Scalar::from_limbs(signature.s).invert();
        let [base, key] = factors(Scalar::from_digest(digest), signature.r, inverse);
        let sum = table::generator().add_product(Jacobian::INFINITY, &base);
        self.key.add_product(sum, &key).has_x(abscissas(signature.r))
    }

    /// Writes for each pair of digest and signature what [`FixedKeyVerifier::verify`] says of it. In batches of 64 it
    /// costs about half of that.
    pub fn verify_batch(
        &self,
        batch: &[(&[u8; 32], &[u8])],
        scratch: &mut BatchScratch,
        verdicts: &mut Vec<bool>,
    ) {
        verdicts.clear();
        verdicts.resize(batch.len(), false);
        for (batch, verdicts) in batch.chunks(CHUNK).zip(verdicts.chunks_mut(CHUNK)) {
            scratch.read(batch);
            scratch.find_factors();
            scratch.look_up(&self.key);
            scratch.add_rows();
            for (candidate, sum) in scratch.candidates.iter().zip(&scratch.points) {
                let is_r = |x| sum.x == x && !sum.is_infinity();
                verdicts[candidate.at] = abscissas(candidate.signature.r).into_iter().any(is_r);
            }
        }
    }
}

impl BatchScratch {
    /// Memory that grows with its first use.
    pub fn new() -> Self {
        Self::default()
    }

    fn read(&mut self, batch: &[(&[u8; 32], &[u8])]) {
        self.candidates.clear();
        self.candidates.extend(batch.iter().enumerate().filter_map(|(at, (digest, signature))| {
            let signature = RawSignature::from_der(signature)?;
            Some(Candidate { at, digest: Scalar::from_digest(digest), signature })
        }));
    }

    fn find_factors(&mut self) {
        self.inverses.clear();
        self.inverses.extend(self.candidates.iter().map(|one| Scalar::from_limbs(one.signature.s)));
        self.products.resize(self.inverses.len(), Scalar::ONE);
        invert_all(&mut self.inverses, &mut self.products);
        let parts = self.candidates.iter().zip(&self.inverses);
        self.factors.clear();
        self.factors.extend(parts.map(|(one, inverse)| factors(one.digest, one.signature.r, *inverse)));
    }

    fn look_up(&mut self, key: &WindowTable) {
        self.points.clear();
        for place in 0..DIGITS {
            for (factor, table) in [table::generator(), key].into_iter().enumerate() {
                let products = self.factors.iter().map(|digits| table.product(place, digits[factor][place]));
                self.points.extend(products);
            }
        }
    }

    /// Adds the lower half of the rows to the upper half until there is one, so that six inversions serve all.
    fn add_rows(&mut self) {
        let (columns, mut rows) = (self.candidates.len(), 2 * DIGITS);
        while rows > 1 {
            let upper = rows.div_ceil(2);
            let (left, right) = self.points[..rows * columns].split_at_mut(upper * columns);
            self.lanes.add_each(&mut left[..right.len()], right);
            rows = upper;
        }
    }
}

/// The digits of digest / s and r / s, by which the base point and the key are multiplied.
fn factors(digest: Scalar, r: Limbs, inverse: Scalar) -> [Digits; 2] {
    [digits(digest * inverse), digits(Scalar::from_limbs(r) * inverse)]
}

/// The coordinates that are r modulo n: r, and r + n where that is a coordinate. The first stands twice where there is one.
fn abscissas(r: Limbs) -> [FieldElement; 2] {
    let (second, carry) = limbs::add(r, Order::LIMBS);
    let is_coordinate = carry == 0 && limbs::is_below(second, Field::LIMBS);
    [r, if is_coordinate { second } else { r }].map(FieldElement::from_limbs)
}
