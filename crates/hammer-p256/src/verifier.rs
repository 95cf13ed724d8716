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

/// Signatures that are verified together. It keeps its memory for the next batch.
#[derive(Debug, Clone, Default)]
pub struct SignatureBatch {
    candidates: Vec<Candidate>,
    /// One for each signature; what is not a candidate is false from the begin.
    verdicts: Vec<bool>,
    scratch: Scratch,
}

/// A signature in form, whose verdict is open.
#[derive(Debug, Clone)]
struct Candidate {
    /// Its place among the verdicts.
    at: usize,
    digest: Scalar,
    signature: RawSignature,
}

/// What the sums of up to [`CHUNK`] candidates are made in.
#[derive(Debug, Clone, Default)]
struct Scratch {
    inverses: Vec<Scalar>,
    products: Vec<Scalar>,
    factors: Vec<[Digits; 2]>,
    /// Row by row, and in each row one point for each candidate.
    points: Vec<Point>,
    lanes: Lanes,
}

impl FixedKeyVerifier {
    /// The verifier of an uncompressed public key (SEC 1 section 2.3.3); none if it is no point of the curve.
    pub fn new(public_key: &[u8]) -> Option<Self> {
        Point::from_sec1(public_key).map(|point| Self { key: WindowTable::new(point) })
    }

    /// Whether `signature` (DER) is the key's over a SHA-256 digest (FIPS 186-4 section 6.4).
    pub fn verify(&self, digest: &[u8; 32], signature: &[u8]) -> bool {
        RawSignature::from_der(signature)
            .is_some_and(|signature| self.verify_raw(Scalar::from_digest(digest), signature))
    }

    /// What [`FixedKeyVerifier::verify`] says of each signature of the batch, in the order in which they were pushed. In
    /// batches of 64 one costs half as much.
    pub fn verify_batch<'batch>(&self, batch: &'batch mut SignatureBatch) -> &'batch [bool] {
        let SignatureBatch { candidates, verdicts, scratch } = batch;
        for chunk in candidates.chunks(CHUNK) {
            // The inversions of a batch do not pay for one signature alone.
            if let [alone] = chunk {
                verdicts[alone.at] = self.verify_raw(alone.digest, alone.signature);
                continue;
            }
            for (candidate, sum) in chunk.iter().zip(scratch.sums(chunk, &self.key)) {
                let is_r = |x| sum.x == x && !sum.is_infinity();
                verdicts[candidate.at] = abscissas(candidate.signature.r).into_iter().any(is_r);
            }
        }
        verdicts
    }

    fn verify_raw(&self, digest: Scalar, signature: RawSignature) -> bool {
        let inverse = Scalar::from_limbs(signature.s).invert();
        let [base, key] = factors(digest, signature.r, inverse);
        let sum = table::generator().add_product(Jacobian::INFINITY, &base);
        self.key.add_product(sum, &key).has_x(abscissas(signature.r))
    }
}

impl SignatureBatch {
    /// An empty batch, whose memory grows with its first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a signature (DER) over a SHA-256 digest.
    pub fn push(&mut self, digest: &[u8; 32], signature: &[u8]) {
        let at = self.verdicts.len();
        self.verdicts.push(false);
        let candidate = RawSignature::from_der(signature).map(|signature| Candidate {
            at,
            digest: Scalar::from_digest(digest),
            signature,
        });
        self.candidates.extend(candidate);
    }

    /// How many signatures were pushed since it was empty.
    pub fn len(&self) -> usize {
        self.verdicts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.verdicts.is_empty()
    }

    /// Takes all signatures out.
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.verdicts.clear();
    }
}

impl Scratch {
    /// For each candidate the point whose x has to be r.
    fn sums(&mut self, candidates: &[Candidate], key: &WindowTable) -> &[Point] {
        self.find_factors(candidates);
        self.look_up(key);
        self.add_rows(candidates.len());
        &self.points
    }

    fn find_factors(&mut self, candidates: &[Candidate]) {
        self.inverses.clear();
        self.inverses.extend(candidates.iter().map(|one| Scalar::from_limbs(one.signature.s)));
        self.products.resize(self.inverses.len(), Scalar::ONE);
        invert_all(&mut self.inverses, &mut self.products);
        let parts = candidates.iter().zip(&self.inverses);
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
    fn add_rows(&mut self, columns: usize) {
        let mut rows = 2 * DIGITS;
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
