//! Verification by one key that is known beforehand: a log's, say.

use crate::der::RawSignature;
use crate::digit::{DIGITS, Digits, digits};
use crate::entry::Entry;
use crate::field::{Field, FieldElement};
use crate::jacobian::Jacobian;
use crate::lanes::Lanes;
use crate::limbs::{self, Limbs};
use crate::point::Point;
use crate::residue::{Modulus, invert_all};
use crate::scalar::{Order, Scalar};
use crate::table::{self, WindowTable};
use crate::wide::{self, Ifma, LANES, Pairs, Sums};

/// Signatures whose points are added at once: their 52 points each fill 210 KB.
const CHUNK: usize = 64;
/// So few signatures take less time one by one than in eight lanes of which the rest idles.
const FEW: usize = 4;

/// A public key with its table of multiples (850 KB; making it takes a millisecond or two).
#[derive(Debug, Clone)]
pub struct FixedKeyVerifier {
    key: WindowTable,
}

/// Signatures that are verified together. It keeps its memory for the next batch.
#[derive(Debug, Clone, Default)]
pub struct SignatureBatch {
    candidates: Vec<Candidate>,
    /// One for each signature; what is not a candidate is false from the start.
    verdicts: Vec<bool>,
    scratch: SumScratch,
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
struct SumScratch {
    inverses: Vec<Scalar>,
    products: Vec<Scalar>,
    factors: Vec<[Digits; 2]>,
    /// Row by row, and in each row one point for each candidate.
    points: Vec<Point>,
    lanes: Lanes,
    rs: Vec<Limbs>,
    pairs: Pairs,
    verdicts: Vec<bool>,
}

impl FixedKeyVerifier {
    /// The verifier of an uncompressed public key (SEC 1 section 2.3.3); none if it is no point of the curve.
    pub fn new(public_key: &[u8]) -> Option<Self> {
        Self::for_arithmetic(public_key, Ifma::try_new())
    }

    /// The same without the arithmetic of eight lanes, whatever the processor can: what other processors take.
    pub fn without_lanes(public_key: &[u8]) -> Option<Self> {
        Self::for_arithmetic(public_key, None)
    }

    fn for_arithmetic(public_key: &[u8], ifma: Option<Ifma>) -> Option<Self> {
        Point::from_sec1(public_key).map(|point| Self { key: WindowTable::for_arithmetic(point, ifma) })
    }

    /// Whether `signature` (DER) is the key's over a SHA-256 digest (FIPS 186-4 section 6.4).
    pub fn verify(&self, digest: &[u8; 32], signature: &[u8]) -> bool {
        RawSignature::from_der(signature)
            .is_some_and(|signature| self.verify_raw(Scalar::from_digest(digest), signature))
    }

    /// Whether `signature`, r and s one behind the other (RFC 7518 section 3.4), is the key's over a SHA-256 digest.
    pub fn verify_fixed(&self, digest: &[u8; 32], signature: &[u8; 64]) -> bool {
        RawSignature::from_fixed(signature)
            .is_some_and(|signature| self.verify_raw(Scalar::from_digest(digest), signature))
    }

    /// What [`FixedKeyVerifier::verify`] says of each signature of the batch, in the order in which they were pushed. In
    /// batches of 16 and more one costs less than half as much.
    pub fn verify_batch<'batch>(&self, batch: &'batch mut SignatureBatch) -> &'batch [bool] {
        let SignatureBatch { candidates, verdicts, scratch } = batch;
        for chunk in candidates.chunks(CHUNK) {
            let (together, alone) = self.split(chunk);
            let judged = !together.is_empty()
                && match self.key.ifma() {
                    Some(ifma) => scratch.judge_wide(ifma, together, self.tables()),
                    None => scratch.judge(together, self.tables()),
                };
            let (judged, alone) = if judged { (together, alone) } else { (&chunk[..0], chunk) };
            for (candidate, verdict) in judged.iter().zip(&scratch.verdicts) {
                verdicts[candidate.at] = *verdict;
            }
            for candidate in alone {
                verdicts[candidate.at] = self.verify_raw(candidate.digest, candidate.signature);
            }
        }
        verdicts
    }

    /// Candidates that are verified together, and the rest, for which that does not pay: one alone, or a few in eight lanes.
    fn split<'a>(&self, candidates: &'a [Candidate]) -> (&'a [Candidate], &'a [Candidate]) {
        let alone = match self.key.ifma() {
            Some(_) => Some(candidates.len() % LANES).filter(|over| *over < FEW),
            None => Some(candidates.len()).filter(|all| *all == 1),
        };
        candidates.split_at(candidates.len() - alone.unwrap_or(0))
    }

    fn verify_raw(&self, digest: Scalar, signature: RawSignature) -> bool {
        let inverse = Scalar::from_limbs(signature.s).invert();
        let factors = factors(digest, signature.r, inverse);
        let wide = self.key.ifma().and_then(|ifma| {
            let [base, key] = self.products(&factors);
            wide::sum(ifma, [base, key].as_flattened())
        });
        let [base, key] = &factors;
        let sum = wide.unwrap_or_else(|| {
            let [generator, table] = self.tables();
            table.add_product(generator.add_product(Jacobian::INFINITY, base), key)
        });
        sum.has_x(abscissas(signature.r))
    }

    /// The base point's table and the key's.
    fn tables(&self) -> [&WindowTable; 2] {
        let generator =
            if self.key.ifma().is_some() { table::generator() } else { table::scalar_generator() };
        [generator, &self.key]
    }

    fn products(&self, factors: &[Digits; 2]) -> [[(&Entry, bool); DIGITS]; 2] {
        let [generator, key] = self.tables();
        [generator.products(&factors[0]), key.products(&factors[1])]
    }
}

impl SignatureBatch {
    /// An empty batch, whose memory grows with its first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a signature (DER) over a SHA-256 digest.
    pub fn push(&mut self, digest: &[u8; 32], signature: &[u8]) {
        self.push_raw(digest, RawSignature::from_der(signature));
    }

    /// Adds a signature, r and s one behind the other (RFC 7518 section 3.4), over a SHA-256 digest.
    pub fn push_fixed(&mut self, digest: &[u8; 32], signature: &[u8; 64]) {
        self.push_raw(digest, RawSignature::from_fixed(signature));
    }

    /// Numbers that are none of a signature have a place as well, and are false there.
    fn push_raw(&mut self, digest: &[u8; 32], signature: Option<RawSignature>) {
        let at = self.verdicts.len();
        self.verdicts.push(false);
        let digest = Scalar::from_digest(digest);
        self.candidates.extend(signature.map(|signature| Candidate { at, digest, signature }));
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

impl SumScratch {
    /// Finds the verdicts in eight lanes; false where that fails, because points meet.
    fn judge_wide(&mut self, ifma: Ifma, candidates: &[Candidate], tables: [&WindowTable; 2]) -> bool {
        self.find_factors(candidates);
        self.rs.clear();
        self.rs.extend(candidates.iter().map(|one| one.signature.r));
        let Self { pairs, factors, rs, verdicts, .. } = self;
        let tables = tables.map(WindowTable::windows);
        // Where r + n is a coordinate too, which no one has seen by chance, it is left to a verification alone.
        rs.iter().all(|r| !has_second(*r)) && pairs.have_x(ifma, Sums { tables, factors, rs }, verdicts)
    }

    /// Finds the verdicts in one lane.
    fn judge(&mut self, candidates: &[Candidate], tables: [&WindowTable; 2]) -> bool {
        self.find_factors(candidates);
        self.look_up(tables);
        self.add_rows(candidates.len());
        self.verdicts.clear();
        let verdict = |(candidate, sum): (&Candidate, &Point)| {
            let is_r = |x| sum.x == x && !sum.is_infinity();
            abscissas(candidate.signature.r).into_iter().any(is_r)
        };
        self.verdicts.extend(candidates.iter().zip(&self.points).map(verdict));
        true
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

    fn look_up(&mut self, tables: [&WindowTable; 2]) {
        self.points.clear();
        for place in 0..DIGITS {
            for (factor, table) in tables.into_iter().enumerate() {
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
pub(crate) fn abscissas(r: Limbs) -> [FieldElement; 2] {
    let second = if has_second(r) { limbs::add(r, Order::LIMBS).0 } else { r };
    [r, second].map(FieldElement::from_limbs)
}

/// Whether r + n is a coordinate as well.
pub(crate) fn has_second(r: Limbs) -> bool {
    let (second, carry) = limbs::add(r, Order::LIMBS);
    carry == 0 && limbs::is_below(second, Field::LIMBS)
}
