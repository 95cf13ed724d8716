use super::*;
use crate::throwaway::ThrowawayKey;

const SEED: [u8; 32] = [7; 32];

fn limbs_of(hex: &str) -> Limbs {
    let bytes: Vec<u8> =
        (0..64).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    limbs::from_be_bytes(bytes.as_slice().try_into().unwrap())
}

#[test]
fn a_given_nonce_gives_the_signatures_of_rfc_6979() {
    // Appendix A.2.5, SHA-256: the messages "sample" and "test".
    let key = limbs_of("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721");
    for (digest, nonce, r, s) in [
        (
            "AF2BDBE1AA9B6EC1E2ADE1D694F41FC71A831D0268E9891562113D8A62ADD1BF",
            "A6E3C57DD01ABE90086538398355DD4C3B17AA873382B0F24D6129493D8AAD60",
            "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
            "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
        ),
        (
            "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08",
            "D16B6AE827F17175E040871A1C7EC3500192C4C92677336EC2537ACAEE0008E0",
            "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
            "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083",
        ),
    ] {
        let signed =
            sign_with(Scalar::from_limbs(key), Scalar::from_limbs(limbs_of(nonce)), limbs_of(digest));
        assert_eq!(signed, Some(RawSignature { r: limbs_of(r), s: limbs_of(s) }));
    }
}

#[test]
fn a_signature_of_the_walk_is_the_one_with_its_nonce() {
    let (key, digest) = (ThrowawayKey::derive(&[1; 32]), [0xab; 32]);
    let walk = key.walk(&SEED, 3);
    let mut block = NonceBlocks::new();
    let neighbours = (0..8).chain(250..260).chain([511, 70_000]).chain(u64::MAX - 7..=u64::MAX);
    for index in neighbours {
        let nonce = walk.start + Scalar::from_u64(index);
        let alone = sign_with(walk.key, nonce, reduce(limbs::from_be_bytes(&digest))).unwrap();
        let walked = walk.sign(index, &digest, &mut block);
        assert_eq!(walked.as_ref(), Signature::from(alone).as_ref(), "{index}");
    }
}

#[test]
fn where_s_would_be_zero_another_nonce_signs() {
    let key = ThrowawayKey::derive(&[1; 32]);
    let walk = key.walk(&SEED, 0);
    let r = reduce(table::generator().multiply(walk.start + Scalar::from_u64(9)).x.to_limbs());
    let digest = (-(walk.key * Scalar::from_limbs(r))).to_be_bytes();
    assert!(sign_with(walk.key, walk.start + Scalar::from_u64(9), limbs::from_be_bytes(&digest)).is_none());
    let mut blocks = NonceBlocks::new();
    let alone = walk.sign(9, &digest, &mut blocks);
    for index in 0..16 {
        walk.sign(index, &[1; 32], &mut blocks);
    }
    let signature = walk.sign(9, &digest, &mut blocks);
    assert_eq!(signature.as_ref(), alone.as_ref());
    let nonce = walk.start + Scalar::from_limbs([9, 0, 1, 0]);
    let expected = sign_with(walk.key, nonce, limbs::from_be_bytes(&digest)).unwrap();
    assert_eq!(signature.as_ref(), Signature::from(expected).as_ref());
}
