#!/bin/sh
# Makes the folder `signatures` anew, by OpenSSL 3, with throwaway keys that are not kept: of each key KEY.pem, and KEY.DIGEST.sig
# over the bytes `signed`.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf signatures
mkdir signatures
printf signed >"$work/data"
# key NAME KEY...
key() {
  name=$1
  shift
  openssl genpkey "$@" -out "$work/$name.key" 2>/dev/null
  openssl pkey -in "$work/$name.key" -pubout -out "signatures/$name.pem"
}
key p256 -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:named_curve
key p384 -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -pkeyopt ec_param_enc:named_curve
key p521 -algorithm EC -pkeyopt ec_paramgen_curve:P-521 -pkeyopt ec_param_enc:named_curve
key rsa -algorithm RSA -pkeyopt rsa_keygen_bits:2048
key ed25519 -algorithm ED25519
for name in p256 p384 p521 rsa; do
  for digest in sha256 sha384 sha512; do
    openssl dgst "-$digest" -sign "$work/$name.key" -out "signatures/$name.$digest.sig" "$work/data"
  done
done
openssl pkeyutl -sign -rawin -inkey "$work/ed25519.key" -in "$work/data" -out signatures/ed25519.sig
# A curve of no log that is known.
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1 -pkeyopt ec_param_enc:named_curve 2>/dev/null |
  openssl pkey -pubout -out secp256k1.pem
