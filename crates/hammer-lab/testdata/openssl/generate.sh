#!/bin/sh
# Makes the chains of this folder anew, with the openssl command alone. Keys are thrown away.
set -eu
cd "$(dirname "$0")"
keys=$(mktemp -d)
trap 'rm -rf "$keys"' EXIT

key() { # name algorithm
  case $2 in
    p256) openssl ecparam -name prime256v1 -genkey -noout -out "$keys/$1" ;;
    p384) openssl ecparam -name secp384r1 -genkey -noout -out "$keys/$1" ;;
    rsa) openssl genrsa -out "$keys/$1" 2048 2>/dev/null ;;
    ed25519) openssl genpkey -algorithm ed25519 -out "$keys/$1" ;;
  esac
}
CA='basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign,cRLSign
subjectKeyIdentifier=hash'
LEAF='basicConstraints=critical,CA:FALSE
extendedKeyUsage=serverAuth
subjectAltName=DNS:a.example,DNS:b.example
authorityKeyIdentifier=keyid'
root() { # name digest-arguments
  name=$1; shift
  openssl req -x509 -new -key "$keys/$name" -subj "/CN=$name" -days 9000 -config /dev/null -out "$name.pem" \
    -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign,cRLSign' "$@" 2>/dev/null
}
issue() { # name issuer extensions signing-arguments
  name=$1 issuer=$2 extensions=$3; shift 3
  printf '%s\n' "$extensions" > "$keys/ext"
  openssl req -new -key "$keys/$name" -subj "/CN=$name" -config /dev/null -out "$keys/csr" 2>/dev/null
  openssl x509 -req -in "$keys/csr" -CA "$issuer.pem" -CAkey "$keys/${issuer%-cross}" -days 8000 -set_serial "0x$(openssl rand -hex 16)" \
    -extfile "$keys/ext" -out "$name.pem" "$@" 2>/dev/null
}

for algorithm in p256 p384 rsa ed25519; do
  for role in root int leaf; do key "$algorithm-$role" "$algorithm"; done
  root "$algorithm-root"
  issue "$algorithm-int" "$algorithm-root" "$CA"
  issue "$algorithm-leaf" "$algorithm-int" "$LEAF"
done

# Other digests and paddings, issued by the intermediates above.
key p256-sha384-leaf p256; issue p256-sha384-leaf p256-int "$LEAF" -sha384
key p384-sha384-leaf p384; issue p384-sha384-leaf p384-int "$LEAF" -sha384
key rsa-sha384-leaf rsa; issue rsa-sha384-leaf rsa-int "$LEAF" -sha384
key rsa-sha512-leaf rsa; issue rsa-sha512-leaf rsa-int "$LEAF" -sha512
key rsa-pss-leaf rsa; issue rsa-pss-leaf rsa-int "$LEAF" -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest
key ed25519-leaf-of-rsa ed25519; issue ed25519-leaf-of-rsa rsa-int "$LEAF"
key leaf-of-root p256; issue leaf-of-root p256-root "$LEAF"

# The P-256 root, cross-signed by the RSA root.
cp "$keys/p256-root" "$keys/cross-key"
printf '%s\n' "$CA" > "$keys/ext"
openssl req -new -key "$keys/cross-key" -subj /CN=p256-root -config /dev/null -out "$keys/csr" 2>/dev/null
openssl x509 -req -in "$keys/csr" -CA rsa-root.pem -CAkey "$keys/rsa-root" -days 8000 -set_serial 0x77 \
  -extfile "$keys/ext" -out p256-root-cross.pem 2>/dev/null

# Leaves and issuers that break or bend a rule.
POISON='1.3.6.1.4.1.11129.2.4.3=critical,DER:0500'
key expired p256
openssl req -new -key "$keys/expired" -subj /CN=expired -config /dev/null -out "$keys/csr" 2>/dev/null
printf '%s\n' "$LEAF" > "$keys/ext"
openssl x509 -req -in "$keys/csr" -CA p256-int.pem -CAkey "$keys/p256-int" -set_serial 0x99 -days -1 \
  -extfile "$keys/ext" -out expired.pem 2>/dev/null || rm -f expired.pem
key bare p256; issue bare p256-int 'authorityKeyIdentifier=keyid'
key precert p256; issue precert p256-int "$LEAF
$POISON"
key precert-of-root p256; issue precert-of-root p256-root "$LEAF
$POISON"
key precert-soft-poison p256; issue precert-soft-poison p256-int "$LEAF
1.3.6.1.4.1.11129.2.4.3=DER:0500"
key precert-odd-poison p256; issue precert-odd-poison p256-int "$LEAF
1.3.6.1.4.1.11129.2.4.3=critical,DER:0400"
key precert-signing p256; issue precert-signing p256-int "basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign
extendedKeyUsage=1.3.6.1.4.1.11129.2.4.4
authorityKeyIdentifier=keyid
subjectKeyIdentifier=hash"
key precert-by-signing p256; issue precert-by-signing precert-signing "$LEAF
$POISON"
key not-ca p256; issue not-ca p256-root 'basicConstraints=critical,CA:FALSE'
key leaf-of-not-ca p256; issue leaf-of-not-ca not-ca "$LEAF"
key no-cert-sign p256; issue no-cert-sign p256-root 'basicConstraints=critical,CA:TRUE
keyUsage=critical,digitalSignature'
key leaf-of-no-cert-sign p256; issue leaf-of-no-cert-sign no-cert-sign "$LEAF"

# A log's key in both of its forms, and its public key.
openssl ecparam -name prime256v1 -genkey -noout -out log-key-sec1.pem
openssl pkcs8 -topk8 -nocrypt -in log-key-sec1.pem -out log-key-pkcs8.pem
openssl ec -in log-key-sec1.pem -pubout -outform DER -out log-key-public.der 2>/dev/null
