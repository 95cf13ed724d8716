//! Chains of real servers, and chains that are minted with one thing wrong each.

use hammer_tlog::encoding::from_base64;
use hammer_tlog::keys::certificate::{Certificate, GeneralName, GeneralNameKind};
use hammer_tlog::keys::chain::{Authority, ChainError, TrustedAuthorities, Validity};
use hammer_tlog::keys::key::{KeyError, SignatureError};
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, SanType, date_time_ymd,
};

use crate::text;

/// A time when all that is minted is valid: 2030-01-01.
const AT: i64 = 1_893_456_000;
const DAY: i64 = 86_400;

/// The certificates of a PEM.
fn certificates(pem: &str) -> Vec<Vec<u8>> {
    let blocks = pem.split("-----BEGIN CERTIFICATE-----").skip(1);
    let body = |block: &str| block.split("-----END").next().unwrap().split_whitespace().collect::<String>();
    blocks.map(|block| from_base64(body(block)).unwrap()).collect()
}

#[test]
fn a_certificate_of_fulcio_leads_to_its_root_while_it_lasts() {
    let pem = text("sigstore/fulcio-chain.pem");
    let chain = certificates(&pem);
    let trusted = TrustedAuthorities::from_der([chain[1].clone()]).unwrap();
    let leaf = Certificate::parse(&chain[0]).unwrap();
    let (not_before, not_after) = (leaf.not_before_seconds().unwrap(), leaf.not_after_seconds().unwrap());
    let verify = |at| trusted.verify_path(&leaf, &[], at);
    assert_eq!(verify(not_before), Ok(Validity { not_before, not_after }));
    assert_eq!(verify(not_after), Ok(Validity { not_before, not_after }));
    let not_yet =
        ChainError::NotYetValid { subject: subject("jdoe@redhat.com"), not_before, at: not_before - 1 };
    assert_eq!(verify(not_before - 1), Err(not_yet));
    let expired = ChainError::Expired { subject: subject("jdoe@redhat.com"), not_after, at: not_after + 1 };
    assert_eq!(verify(not_after + 1), Err(expired));
    let issuer = trusted.issuer_of(&leaf).unwrap();
    assert_eq!(issuer.key_hash(), Certificate::parse(&chain[1]).unwrap().key_hash());
    let name = GeneralName { kind: GeneralNameKind::Email, value: b"jdoe@redhat.com" };
    assert!(leaf.subject_alternative_names().eq([name]));
    let usage = leaf.key_usage().unwrap().unwrap();
    assert!(usage.digital_signature() && !usage.key_cert_sign());
    let constraints = Certificate::parse(&chain[1]).unwrap().basic_constraints().unwrap();
    assert_eq!((constraints.ca, constraints.path_length), (true, Some(0)));
}

#[test]
fn every_bit_of_a_certificate_is_signed() {
    let pem = text("sigstore/fulcio-chain.pem");
    let chain = certificates(&pem);
    let trusted = TrustedAuthorities::from_pem(&pem[pem.rfind("-----BEGIN").unwrap()..]).unwrap();
    let at = Certificate::parse(&chain[0]).unwrap().not_before_seconds().unwrap();
    for bit in 0..chain[0].len() * 8 {
        let mut altered = chain[0].clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        if let Ok(leaf) = Certificate::parse(&altered) {
            assert!(trusted.verify(&leaf, &[], at).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn the_chain_of_a_timestamp_server_has_a_root_an_intermediate_and_a_signer() {
    let pem = text("sigstore/timestamp-certchain.pem");
    let chain = certificates(&pem);
    let trusted = TrustedAuthorities::from_pem(&pem).unwrap();
    assert!(trusted.certificates().eq(chain.iter().map(Vec::as_slice)));
    let roots: Vec<_> = trusted.authorities().iter().map(Authority::is_root).collect();
    assert_eq!(roots, [false, true]);
    let leaf = Certificate::parse(&chain[0]).unwrap();
    let at = leaf.not_before_seconds().unwrap();
    assert_eq!(trusted.verify(&leaf, &[], at), Ok(()));
    assert_eq!(trusted.issuer_of(&leaf).unwrap().certificate(), chain[1]);
    // The intermediate may as well be sent along.
    let root = TrustedAuthorities::from_der([chain[2].clone()]).unwrap();
    let intermediate = Certificate::parse(&chain[1]).unwrap();
    assert_eq!(root.verify(&leaf, &[leaf, intermediate], at), Ok(()));
    let issuer = "Test TSA Intermediate".to_owned();
    assert_eq!(root.verify(&leaf, &[leaf], at), Err(ChainError::Untrusted { issuer }));
    assert!(root.issuer_of(&leaf).is_none());
    assert_eq!(TrustedAuthorities::from_der(chain[..2].to_vec()).unwrap_err(), ChainError::NoRoot);
}

/// A CA or a leaf that was minted.
struct Minted {
    params: CertificateParams,
    key: KeyPair,
    der: Vec<u8>,
}

impl Minted {
    fn certificate(&self) -> Certificate<'_> {
        Certificate::parse(&self.der).unwrap()
    }

    fn issuer(&self) -> Issuer<'_, &KeyPair> {
        Issuer::from_params(&self.params, &self.key)
    }
}

/// The parameters of a CA, or else of a leaf.
fn params(name: &str, ca: bool) -> CertificateParams {
    let mut params = CertificateParams::new([]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    if ca {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    }
    params
}

fn mint(params: CertificateParams, issuer: Option<&Minted>) -> Minted {
    mint_with(params, issuer, KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap())
}

fn mint_with(params: CertificateParams, issuer: Option<&Minted>, key: KeyPair) -> Minted {
    let certificate = match issuer {
        Some(issuer) => params.signed_by(&key, &issuer.issuer()).unwrap(),
        None => params.self_signed(&key).unwrap(),
    };
    Minted { params, key, der: certificate.der().to_vec() }
}

fn trust(certificates: &[&Minted]) -> Result<TrustedAuthorities, ChainError> {
    TrustedAuthorities::from_der(certificates.iter().map(|minted| minted.der.clone()))
}

/// What is said of a leaf under an intermediate of these parameters under a root, once known and once sent along: the same.
fn under(intermediate: CertificateParams) -> Result<(), ChainError> {
    let root = mint(params("root", true), None);
    let intermediate = mint(intermediate, Some(&root));
    let leaf = mint(params("leaf", false), Some(&intermediate));
    let others = [intermediate.certificate()];
    let sent_along = trust(&[&root]).unwrap().verify(&leaf.certificate(), &others, AT);
    let known =
        trust(&[&root, &intermediate]).and_then(|trusted| trusted.verify(&leaf.certificate(), &[], AT));
    assert_eq!(known, sent_along);
    sent_along
}

fn subject(name: &str) -> String {
    name.to_owned()
}

#[test]
fn an_intermediate_has_to_be_a_ca_that_may_sign_and_is_valid() {
    assert_eq!(under(params("intermediate", true)), Ok(()));
    let mut unlimited = params("intermediate", true);
    unlimited.key_usages.clear();
    assert_eq!(under(unlimited), Ok(()));
    let mut usage = params("intermediate", true);
    usage.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::CrlSign];
    assert_eq!(under(usage), Err(ChainError::Usage { subject: subject("intermediate") }));
    let mut expired = params("intermediate", true);
    expired.not_after = date_time_ymd(2029, 12, 31);
    let error = ChainError::Expired { subject: subject("intermediate"), not_after: AT - DAY, at: AT };
    assert_eq!(under(expired), Err(error));
    let mut early = params("intermediate", true);
    early.not_before = date_time_ymd(2030, 1, 2);
    let error = ChainError::NotYetValid { subject: subject("intermediate"), not_before: AT + DAY, at: AT };
    assert_eq!(under(early), Err(error));
}

/// A critical `policyConstraints`, which is not read here.
fn policy_constraints() -> CustomExtension {
    let mut extension = CustomExtension::from_oid_content(&[2, 5, 29, 36], vec![0x30, 0x00]);
    extension.set_criticality(true);
    extension
}

#[test]
fn a_critical_extension_that_is_not_read_leaves_a_chain_unverified() {
    let mut tolerated = params("intermediate", true);
    let mut extension = policy_constraints();
    extension.set_criticality(false);
    tolerated.custom_extensions.push(extension);
    assert_eq!(under(tolerated), Ok(()));
    let mut unread = params("intermediate", true);
    unread.custom_extensions.push(policy_constraints());
    let error = ChainError::CriticalExtension { subject: subject("intermediate"), oid: subject("551d24") };
    assert!(error.is_unverified());
    assert_eq!(under(unread), Err(error));
    // Any policy will do here (RFC 5280 section 6.1.1), so that which ones there are says nothing.
    let mut policies =
        CustomExtension::from_oid_content(&[2, 5, 29, 32], vec![0x30, 6, 0x30, 4, 0x06, 2, 0x2a, 3]);
    policies.set_criticality(true);
    let mut understood = params("intermediate", true);
    understood.custom_extensions.push(policies);
    assert_eq!(under(understood), Ok(()));
}

/// What cannot be read does not hide what can: nobody vouches for that chain, whatever stands in it.
#[test]
fn a_critical_extension_that_is_not_read_makes_nothing_unverified_that_is_wrong() {
    let [root, stranger] = [0, 1].map(|_| mint(params("root", true), None));
    let mut unread = params("intermediate", true);
    unread.custom_extensions.push(policy_constraints());
    let intermediate = mint(unread.clone(), Some(&stranger));
    let mut leaf_params = params("leaf", false);
    leaf_params.custom_extensions.push(policy_constraints());
    let leaf = mint(leaf_params.clone(), Some(&intermediate));
    let trusted = trust(&[&root]).unwrap();
    let error =
        ChainError::BadSignature { subject: subject("intermediate"), source: SignatureError::Invalid };
    let judged = trusted.verify(&leaf.certificate(), &[intermediate.certificate()], AT);
    assert_eq!(judged, Err(error));
    unread.not_after = date_time_ymd(2029, 12, 31);
    let expired = mint(unread.clone(), Some(&root));
    let leaf = mint(leaf_params.clone(), Some(&expired));
    let error = ChainError::Expired { subject: subject("intermediate"), not_after: AT - DAY, at: AT };
    assert_eq!(trusted.verify(&leaf.certificate(), &[expired.certificate()], AT), Err(error));
    // And it is of one path alone: a certificate of the same issuer without it is as good as ever.
    unread.not_after = date_time_ymd(2031, 1, 1);
    let first = mint(unread, Some(&root));
    let key = KeyPair::try_from(first.key.serialize_der().as_slice()).unwrap();
    let second = mint_with(params("intermediate", true), Some(&root), key);
    let leaf = mint(params("leaf", false), Some(&first));
    let others = [first.certificate(), second.certificate()];
    assert_eq!(trusted.verify(&leaf.certificate(), &others, AT), Ok(()));
}

/// DER content of 1.3.6.1.5.5.7.3.8, id-kp-timeStamping.
const TIME_STAMPING: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x08];

#[test]
fn a_ca_for_other_purposes_leaves_a_chain_unverified_where_one_is_asked_for() {
    use rcgen::ExtendedKeyUsagePurpose::{Any, ServerAuth, TimeStamping};
    let mut root = params("root", true);
    // What a root says of itself restricts nobody: it is trusted as it was given.
    root.extended_key_usages = vec![ServerAuth];
    let root = mint(root, None);
    let error = ChainError::IssuerPurpose { subject: subject("intermediate") };
    assert!(error.is_unverified());
    for (purposes, expected) in [
        (vec![], Ok(())),
        (vec![ServerAuth, TimeStamping], Ok(())),
        (vec![Any], Ok(())),
        (vec![ServerAuth], Err(error)),
    ] {
        let mut issuer = params("intermediate", true);
        issuer.extended_key_usages = purposes;
        let issuer = mint(issuer, Some(&root));
        let leaf = mint(params("leaf", false), Some(&issuer));
        let (leaf, others) = (leaf.certificate(), [issuer.certificate()]);
        let (alone, all) = (trust(&[&root]).unwrap(), trust(&[&root, &issuer]).unwrap());
        assert_eq!(alone.verify_path_for(TIME_STAMPING, &leaf, &others, AT).map(drop), expected);
        assert_eq!(all.verify_path_for(TIME_STAMPING, &leaf, &[], AT).map(drop), expected);
        assert_eq!(alone.verify(&leaf, &others, AT), Ok(()));
    }
}

#[test]
fn what_is_no_ca_issues_nothing() {
    let root = mint(params("root", true), None);
    let not_a_ca = mint(params("leaf of the root", false), Some(&root));
    let leaf = mint(params("leaf", false), Some(&not_a_ca));
    let trusted = trust(&[&root]).unwrap();
    let error = ChainError::NotACa { subject: subject("leaf of the root") };
    assert_eq!(trusted.verify(&leaf.certificate(), &[not_a_ca.certificate()], AT), Err(error));
    // Known or not, it is no authority; and what is given twice is one.
    let trusted = trust(&[&root, &not_a_ca, &root]).unwrap();
    assert_eq!((trusted.authorities().len(), trusted.certificates().count()), (1, 3));
    let issuer = subject("leaf of the root");
    assert_eq!(trusted.verify(&leaf.certificate(), &[], AT), Err(ChainError::Untrusted { issuer }));
    let alone = mint(params("alone", false), None);
    assert_eq!(trust(&[&alone]).unwrap_err(), ChainError::NotACa { subject: subject("alone") });
}

#[test]
fn a_path_is_as_long_as_each_ca_allows() {
    for (allowed, expected) in
        [(1, Ok(())), (0, Err(ChainError::PathLength { subject: subject("root"), path_length: 0, below: 1 }))]
    {
        let mut constrained = params("root", true);
        constrained.is_ca = IsCa::Ca(BasicConstraints::Constrained(allowed));
        let root = mint(constrained, None);
        let intermediate = mint(params("intermediate", true), Some(&root));
        let leaf = mint(params("leaf", false), Some(&intermediate));
        let others = [intermediate.certificate()];
        assert_eq!(trust(&[&root]).unwrap().verify(&leaf.certificate(), &others, AT), expected);
        let known = trust(&[&root, &intermediate]).unwrap();
        assert_eq!(known.verify(&leaf.certificate(), &[], AT), expected);
        // The leaf itself does not count, whatever it is.
        assert_eq!(known.verify(&intermediate.certificate(), &[], AT), Ok(()));
    }
}

#[test]
fn a_ca_that_renews_itself_does_not_count() {
    let mut constrained = params("root", true);
    constrained.is_ca = IsCa::Ca(BasicConstraints::Constrained(1));
    let root = mint(constrained, None);
    let first = mint(params("intermediate", true), Some(&root));
    let renewed = mint(params("intermediate", true), Some(&first));
    let leaf = mint(params("leaf", false), Some(&renewed));
    let others = [renewed.certificate(), first.certificate()];
    assert_eq!(trust(&[&root]).unwrap().verify(&leaf.certificate(), &others, AT), Ok(()));
}

#[test]
fn a_path_is_valid_while_all_of_it_is() {
    let root = mint(params("root", true), None);
    let mut short = params("intermediate", true);
    (short.not_before, short.not_after) = (date_time_ymd(2029, 12, 31), date_time_ymd(2030, 1, 2));
    let intermediate = mint(short, Some(&root));
    let leaf = mint(params("leaf", false), Some(&intermediate));
    let expected = Ok(Validity { not_before: AT - DAY, not_after: AT + DAY });
    let known = trust(&[&root, &intermediate]).unwrap();
    assert_eq!(known.verify_path(&leaf.certificate(), &[], AT), expected);
    let others = [intermediate.certificate()];
    assert_eq!(trust(&[&root]).unwrap().verify_path(&leaf.certificate(), &others, AT), expected);
}

#[test]
fn a_precertificate_is_no_leaf() {
    let root = mint(params("root", true), None);
    let mut poisoned = params("leaf", false);
    let mut poison = CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 11129, 2, 4, 3], vec![5, 0]);
    poison.set_criticality(true);
    poisoned.custom_extensions.push(poison);
    let leaf = mint(poisoned, Some(&root));
    let error = ChainError::Poisoned { subject: subject("leaf") };
    assert!(!error.is_unverified());
    assert_eq!(trust(&[&root]).unwrap().verify(&leaf.certificate(), &[], AT), Err(error));
}

#[test]
fn a_certificate_names_one_signature_algorithm() {
    let root = mint(params("root", true), None);
    let leaf = mint(params("leaf", false), Some(&root));
    let ecdsa_with_sha256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
    let mut der = leaf.der.clone();
    let at = der.windows(8).rposition(|window| window == ecdsa_with_sha256).unwrap();
    der[at + 7] = 3;
    let error = ChainError::TwoAlgorithms { subject: subject("leaf") };
    let trusted = trust(&[&root]).unwrap();
    assert_eq!(trusted.verify(&Certificate::parse(&der).unwrap(), &[], AT), Err(error));
}

#[test]
fn of_what_is_sent_along_the_first_sixteen_are_looked_at() {
    let root = mint(params("root", true), None);
    let intermediate = mint(params("intermediate", true), Some(&root));
    let leaf = mint(params("leaf", false), Some(&intermediate));
    let trusted = trust(&[&root]).unwrap();
    let mut others = vec![leaf.certificate(); 15];
    others.push(intermediate.certificate());
    assert_eq!(trusted.verify(&leaf.certificate(), &others, AT), Ok(()));
    others.insert(0, leaf.certificate());
    let error = ChainError::Untrusted { issuer: subject("intermediate") };
    assert_eq!(trusted.verify(&leaf.certificate(), &others, AT), Err(error));
}

#[test]
fn ca_upon_ca_ends_somewhere() {
    let mut cas = vec![mint(params("root", true), None)];
    for rung in 0..12 {
        let ca = mint(params(&format!("ca {rung}"), true), cas.last());
        cas.push(ca);
    }
    let trusted = trust(&[&cas[0]]).unwrap();
    let sent_along: Vec<_> = cas[1..].iter().map(Minted::certificate).collect();
    let verdict = |ca: usize| {
        trusted.verify(&mint(params("leaf", false), Some(&cas[ca])).certificate(), &sent_along, AT)
    };
    assert_eq!(verdict(7), Ok(()));
    assert_eq!(verdict(8), Err(ChainError::Untrusted { issuer: subject("ca 7") }));
}

#[test]
fn cas_of_one_name_are_tried_until_one_signed_and_no_more_than_enough() {
    let roots: Vec<_> = (0..3).map(|_| mint(params("root", true), None)).collect();
    let trusted = trust(&roots.iter().collect::<Vec<_>>()).unwrap();
    for root in &roots {
        let leaf = mint(params("leaf", false), Some(root));
        assert_eq!(trusted.verify(&leaf.certificate(), &[], AT), Ok(()));
        assert_eq!(trusted.issuer_of(&leaf.certificate()).unwrap().certificate(), root.der);
    }
    let stranger = mint(params("root", true), None);
    let leaf = mint(params("leaf", false), Some(&stranger));
    let error = ChainError::BadSignature { subject: subject("leaf"), source: SignatureError::Invalid };
    assert_eq!(trusted.verify(&leaf.certificate(), &[stranger.certificate()], AT), Err(error));
    assert!(trusted.issuer_of(&leaf.certificate()).is_none());
    // Sixteen CAs of one name and one key, each issued by the name of all: every step leads to sixteen.
    let first = mint(params("ca", true), None);
    let others: Vec<_> = (0..16)
        .map(|_| {
            let key = KeyPair::try_from(first.key.serialize_der().as_slice()).unwrap();
            mint_with(params("ca", true), None, key)
        })
        .collect();
    let leaf = mint(params("leaf", false), Some(&first));
    let sent_along: Vec<_> = others.iter().map(Minted::certificate).collect();
    let gave_up = trusted.verify(&leaf.certificate(), &sent_along, AT);
    assert_eq!(gave_up, Err(ChainError::TooManyPaths { steps: 32 }));
}

#[test]
fn trusted_certificates_that_were_altered_are_not_read() {
    let root = mint(params("root", true), None);
    let intermediate = mint(params("intermediate", true), Some(&root));
    for (altered, name) in [(&root, "root"), (&intermediate, "intermediate")] {
        let mut der = altered.der.clone();
        let last = der.len() - 1;
        der[last] ^= 1;
        let error = ChainError::BadSignature { subject: subject(name), source: SignatureError::Invalid };
        assert_eq!(TrustedAuthorities::from_der([root.der.clone(), der]).unwrap_err(), error);
    }
    assert_eq!(TrustedAuthorities::from_pem("").unwrap_err(), ChainError::Pem);
    assert_eq!(
        TrustedAuthorities::from_pem("-----BEGIN CERTIFICATE-----\nAA==").unwrap_err(),
        ChainError::Pem
    );
    let no_base64 = "-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----";
    assert!(matches!(TrustedAuthorities::from_pem(no_base64), Err(ChainError::Base64(_))));
    let no_der = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----";
    assert!(matches!(TrustedAuthorities::from_pem(no_der), Err(ChainError::Der(_))));
}

#[test]
fn cas_of_other_keys_sign_as_well() {
    for algorithm in [&PKCS_ECDSA_P384_SHA384, &PKCS_ED25519] {
        let key = || KeyPair::generate_for(algorithm).unwrap();
        let root = mint_with(params("root", true), None, key());
        let intermediate = mint_with(params("intermediate", true), Some(&root), key());
        let leaf = mint_with(params("leaf", false), Some(&intermediate), key());
        let trusted = trust(&[&root]).unwrap();
        assert_eq!(trusted.verify(&leaf.certificate(), &[intermediate.certificate()], AT), Ok(()));
        let known = trust(&[&intermediate, &root]).unwrap();
        assert_eq!(known.verify(&leaf.certificate(), &[], AT), Ok(()));
    }
}

#[test]
fn an_authority_whose_key_nobody_reads_is_named() {
    let pem = text("sigstore/fulcio-chain.pem");
    let mut root = certificates(&pem).remove(1);
    // The last byte of prime256v1, which leaves a curve that is unknown.
    let curve = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
    let at = root.windows(8).position(|window| window == curve).unwrap();
    root[at + 7] = 6;
    let error = ChainError::Key { subject: subject("hammer fulcio root"), source: KeyError::Algorithm };
    assert_eq!(TrustedAuthorities::from_der([root]).unwrap_err(), error);
}

#[test]
fn the_kinds_of_alternative_names_are_told_apart() {
    let mut names = params("leaf", false);
    names.subject_alt_names = vec![
        SanType::DnsName("log.example".try_into().unwrap()),
        SanType::URI("https://ci.example/job".try_into().unwrap()),
        SanType::Rfc822Name("who@example".try_into().unwrap()),
        SanType::IpAddress([127, 0, 0, 1].into()),
    ];
    let leaf = mint(names, None);
    let found: Vec<_> =
        leaf.certificate().subject_alternative_names().map(|name| (name.kind, name.value)).collect();
    let expected: [(GeneralNameKind, &[u8]); 4] = [
        (GeneralNameKind::Dns, b"log.example"),
        (GeneralNameKind::Uri, b"https://ci.example/job"),
        (GeneralNameKind::Email, b"who@example"),
        (GeneralNameKind::Other(0x87), &[127, 0, 0, 1]),
    ];
    assert_eq!(found, expected);
    assert_eq!(mint(params("leaf", false), None).certificate().subject_alternative_names().count(), 0);
}

#[test]
fn the_key_of_an_issuer_is_found_among_what_is_known_and_what_was_sent_along() {
    let root = mint(params("root", true), None);
    let [mine, namesake] = [(); 2].map(|()| mint(params("intermediate", true), Some(&root)));
    let leaf = mint(params("leaf", false), Some(&mine));
    let (leaf, mine_read, namesake_read) = (leaf.certificate(), mine.certificate(), namesake.certificate());
    let found =
        |known: &[&Minted], others: &[Certificate<'_>]| trust(known).unwrap().issuer_key_hash(&leaf, others);
    let expected = Some(mine_read.key_hash());
    assert_eq!(found(&[&root], &[]), None);
    assert_eq!(found(&[&root], &[root.certificate(), mine_read]), expected, "only sent along");
    assert_eq!(found(&[&root, &mine], &[]), expected, "only known");
    assert_eq!(found(&[&root, &mine], &[mine_read]), expected);
    // Authorities of one name, of which another one is known, or sent along as well.
    assert_eq!(found(&[&root, &namesake], &[mine_read]), expected);
    assert_eq!(found(&[&root, &mine], &[namesake_read]), expected);
    assert_eq!(found(&[&root], &[namesake_read, mine_read]), expected);
    assert_eq!(found(&[&root, &mine, &namesake], &[]), expected);
}
