#!/bin/sh
# Makes the folder `openssl-p521` anew, by OpenSSL 3, with throwaway keys that are not kept.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf openssl-p521
mkdir openssl-p521
cat >"$work/ts.cnf" <<END
[req]
distinguished_name = dn
[dn]
[ca]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
[tsa]
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[ts]
serial = $work/serial
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
ess_cert_id_alg = sha512
END
# certificate NAME SECTION CURVE: signed by root, or by itself
certificate() {
  openssl genpkey -algorithm EC -pkeyopt "ec_paramgen_curve:$3" -pkeyopt ec_param_enc:named_curve -out "$work/$1.key" 2>/dev/null
  openssl req -new -key "$work/$1.key" -subj "/O=local/CN=OpenSSL $1" -config "$work/ts.cnf" -out "$work/$1.csr"
  signer="-CA $work/root.pem -CAkey $work/root.key"
  [ "$1" != root ] || signer="-key $work/root.key"
  # shellcheck disable=SC2086
  openssl x509 -req -in "$work/$1.csr" $signer -days 7000 -sha512 -set_serial "0x$(openssl rand -hex 8)" \
    -extfile "$work/ts.cnf" -extensions "$2" -out "$work/$1.pem" 2>/dev/null
}
certificate root ca P-521
certificate p521 tsa P-521
certificate secp256k1 tsa secp256k1
cat "$work/root.pem" >openssl-p521/root.pem
echo 01 >"$work/serial"
printf stamped >"$work/data"
# reply FILE IMPRINT DIGEST SIGNER
reply() {
  openssl ts -query -data "$work/data" "-$2" -cert -no_nonce -out "$work/query.tsq" 2>/dev/null
  openssl ts -reply -queryfile "$work/query.tsq" -config "$work/ts.cnf" -section ts "-$3" -signer "$work/$4.pem" \
    -inkey "$work/$4.key" -out "openssl-p521/$1.tsr" 2>/dev/null
  openssl ts -verify -in "openssl-p521/$1.tsr" -queryfile "$work/query.tsq" -CAfile "$work/root.pem" >/dev/null 2>&1
}
for digest in sha256 sha384 sha512; do
  reply "$digest" "$digest" "$digest" p521
done
reply unknown-curve sha256 sha256 secp256k1
