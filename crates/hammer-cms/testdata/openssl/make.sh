#!/bin/sh
# Makes the timestamps of this folder anew, by OpenSSL 3, with throwaway keys that are not kept.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/ts.cnf" <<END
[ca]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
[tsa]
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[whole]
serial = $work/serial
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1, millisecs:500, microsecs:100
ordering = yes
tsa_name = yes
ess_cert_id_chain = yes
ess_cert_id_alg = sha384
[fraction]
serial = $work/serial
default_policy = 1.2.3.4.1
digests = sha256
clock_precision_digits = 6
ess_cert_id_alg = sha1
END
# certificate NAME SECTION ISSUER KEY...
certificate() {
  name=$1 section=$2 issuer=$3
  shift 3
  openssl genpkey "$@" -out "$work/$name.key" 2>/dev/null
  if [ "$issuer" = "$name" ]; then
    openssl req -new -x509 -key "$work/$name.key" -subj "/O=local/CN=OpenSSL $name" -days 7300 \
      -extensions "$section" -config "$work/req.cnf" -out "$work/$name.pem"
  else
    openssl req -new -key "$work/$name.key" -subj "/O=local/CN=OpenSSL $name" -config "$work/req.cnf" -out "$work/$name.csr"
    openssl x509 -req -in "$work/$name.csr" -CA "$work/$issuer.pem" -CAkey "$work/$issuer.key" -days 7000 -sha384 \
      -set_serial "0x$(openssl rand -hex 8)" -extfile "$work/ts.cnf" -extensions "$section" -out "$work/$name.pem" 2>/dev/null
  fi
}
{ cat "$work/ts.cnf"; printf '[req]\ndistinguished_name = dn\n[dn]\n'; } >"$work/req.cnf"
certificate root ca root -algorithm RSA -pkeyopt rsa_keygen_bits:2048
certificate rsa tsa root -algorithm RSA -pkeyopt rsa_keygen_bits:2048
certificate p384 tsa root -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -pkeyopt ec_param_enc:named_curve
cat "$work/rsa.pem" "$work/p384.pem" "$work/root.pem" >certchain.pem
echo 01 >"$work/serial"
printf stamped >"$work/data"
openssl ts -query -data "$work/data" -sha256 -cert -out query.tsq 2>/dev/null
openssl ts -query -data "$work/data" -sha256 -no_nonce -out query-without-all.tsq 2>/dev/null
# reply FILE QUERY SECTION DIGEST SIGNER
reply() {
  openssl ts -reply -queryfile "$2" -config "$work/ts.cnf" -section "$3" "-$4" -signer "$work/$5.pem" \
    -inkey "$work/$5.key" -out "$1" 2>/dev/null
  openssl ts -verify -in "$1" -queryfile "$2" -CAfile "$work/root.pem" -untrusted "$work/$5.pem" >/dev/null 2>&1
}
reply rsa-whole.tsr query.tsq whole sha512 rsa
reply rsa-fraction-sha1.tsr query.tsq fraction sha256 rsa
reply p384.tsr query.tsq whole sha384 p384
reply p384-without-all.tsr query-without-all.tsq whole sha256 p384
# A query that asks for a digest that the authority does not take.
openssl ts -query -data "$work/data" -sha512 -out "$work/refused.tsq" 2>/dev/null
openssl ts -reply -queryfile "$work/refused.tsq" -config "$work/ts.cnf" -section whole -sha256 -signer "$work/rsa.pem" \
  -inkey "$work/rsa.key" -out refused.tsr 2>/dev/null || true
