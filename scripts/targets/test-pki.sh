# shellcheck shell=bash
# Sourced by the scripts beside it, after processes.sh: a root, two signers and a timestamp authority, all of one run folder.

# test_pki: $RUN/pki with ca (pem, der, crl), signer and tsa (RSA-2048), signer-p256, each with its key (PKCS #8), and chains for hammer:
# signer.chain.pem, signer-p256.chain.pem, timestamp-roots.pem. With TEST_PKI, the folder of another one, a copy of that.
test_pki() {
  local folder=$RUN/pki
  [[ -z ${TEST_PKI:-} ]] || { cp -r "$TEST_PKI" "$folder"; return; }
  mkdir -p "$folder"
  openssl req -x509 -newkey rsa:2048 -sha256 -nodes -days 3650 -subj "/O=hammer test/CN=hammer test root" \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
    -keyout "$folder/ca.key" -out "$folder/ca.pem" 2>/dev/null
  openssl x509 -in "$folder/ca.pem" -outform DER -out "$folder/ca.der"
  issued signer rsa:2048 "keyUsage=critical,digitalSignature,nonRepudiation"
  issued signer-p256 ec "keyUsage=critical,digitalSignature,nonRepudiation" -pkeyopt ec_paramgen_curve:P-256
  issued tsa rsa:2048 "keyUsage=critical,digitalSignature"$'\n'"extendedKeyUsage=critical,timeStamping"
  openssl pkcs12 -export -inkey "$folder/tsa.key" -in "$folder/tsa.pem" -certfile "$folder/ca.pem" -name tsa \
    -passout pass:changeit -out "$folder/tsa.p12"
  # Revocation of nobody, so that a validation can say that all passed.
  printf '[ca]\ndefault_ca=d\n[d]\ndatabase=%s\ndefault_md=sha256\ndefault_crl_days=365\ncrlnumber=%s\n' \
    "$folder/index.txt" "$folder/crlnumber" >"$folder/ca.cnf"
  : >"$folder/index.txt"
  echo 01 >"$folder/crlnumber"
  openssl ca -config "$folder/ca.cnf" -gencrl -keyfile "$folder/ca.key" -cert "$folder/ca.pem" 2>/dev/null |
    openssl crl -outform DER -out "$folder/ca.crl"
  cat "$folder/ca.pem" "$folder/tsa.pem" >"$folder/timestamp-roots.pem"
}

# issued NAME KEY EXTENSIONS [OPTION...]: a certificate of the root, and its key.
issued() {
  local name=$1 key=$2 extensions=$3
  shift 3
  openssl req -newkey "$key" "$@" -nodes -subj "/O=hammer test/CN=hammer test $name" -keyout "$folder/$name.key" \
    -out "$folder/$name.csr" 2>/dev/null
  printf 'basicConstraints=critical,CA:FALSE\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n%s\n' "$extensions" >"$folder/$name.ext"
  openssl x509 -req -in "$folder/$name.csr" -CA "$folder/ca.pem" -CAkey "$folder/ca.key" -CAcreateserial -days 1825 -sha256 \
    -extfile "$folder/$name.ext" -out "$folder/$name.pem" 2>/dev/null
  cat "$folder/$name.pem" "$folder/ca.pem" >"$folder/$name.chain.pem"
}
