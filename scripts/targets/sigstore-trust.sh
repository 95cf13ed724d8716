# shellcheck shell=bash
# Sourced by sigstore.sh: what a client of the run trusts (trusted_root.json) and uses (signing_config.json), in the forms of
# sigstore/protobuf-specs, and the files of a TUF repository. Kind, ports, tsa_url and ORIGIN are the caller's.
# shellcheck disable=SC2154

# trust: both documents, in the run folder.
trust() {
  local tlogs ct_logs=[] services
  tlogs=[$(tile_log)]
  services=[$(service "http://127.0.0.1:$tiles_http" 2)]
  if with_rekor1; then
    tlogs=[$(tile_log),$(ec_log "http://127.0.0.1:$rekor_port" "$RUN/keys/rekor.pub.pem")]
    signing_config "[$(service "http://127.0.0.1:$rekor_port" 1)]" >"$RUN/signing_config_rekor1.json"
    services=[$(service "http://127.0.0.1:$tiles_http" 2),$(service "http://127.0.0.1:$rekor_port" 1)]
  fi
  if with_ct_log; then ct_logs=[$(ec_log "http://127.0.0.1:$ct_port/ctlog" "$RUN/log-key.pub.pem")]; fi
  signing_config "$services" >"$RUN/signing_config.json"
  jq -n --argjson tlogs "$tlogs" --argjson ct_logs "$ct_logs" \
    --argjson ca "$(authority "http://127.0.0.1:$fulcio_http" "$RUN/fulcio-chain.pem")" \
    --argjson tsa "$(authority "$tsa_url/api/v1/timestamp" "$RUN/tsa-chain.pem")" '{
      mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
      tlogs: $tlogs, certificateAuthorities: [$ca], ctlogs: $ct_logs, timestampAuthorities: [$tsa]
    }' >"$RUN/trusted_root.json"
}

# trust_files FOLDER: the targets of a TUF repository, by the names that clients of Sigstore look for.
trust_files() {
  mkdir -p "$1"
  cp "$RUN/trusted_root.json" "$1/trusted_root.json"
  cp "$RUN/signing_config.json" "$1/signing_config.v0.2.json"
  cp "$RUN/fulcio-chain.pem" "$1/fulcio_v1.crt.pem"
  cp "$RUN/tsa-chain.pem" "$1/tsa.certchain.pem"
  cp "$RUN/keys/rekor.pub.pem" "$1/rekor.pub"
  cp "$RUN/log-key.pub.pem" "$1/ctfe.pub"
}

# The origin and the key together name a log of tiles (C2SP signed-note): SHA-256 of the origin, a newline, 0x01 for Ed25519, the key.
tile_log() {
  local key=$RUN/keys/rekor-tiles.pub.pem id
  id=$({ printf '%s\n\x01' "$ORIGIN" && spki "$key" | tail -c 32; } | digest)
  transparency_log "http://127.0.0.1:$tiles_http" "$key" PKIX_ED25519 "$id"
}

# ec_log URL KEY: SHA-256 of a P-256 key names its log (RFC 6962 section 3.2, and Rekor v1).
ec_log() { transparency_log "$1" "$2" PKIX_ECDSA_P256_SHA_256 "$(spki "$2" | digest)"; }

transparency_log() {
  jq -n --arg url "$1" --arg key "$(spki "$2" | base64 -w0)" --arg details "$3" --arg id "$4" '{
    baseUrl: $url, hashAlgorithm: "SHA2_256",
    publicKey: {rawBytes: $key, keyDetails: $details, validFor: {start: "2020-01-01T00:00:00Z"}}, logId: {keyId: $id}
  }'
}

# authority URL CHAIN: the subject is that of the chain's end.
authority() {
  jq -n --arg url "$1" --rawfile chain "$2" --arg organization "$(name_of_last O "$2")" --arg name "$(name_of_last CN "$2")" '{
    subject: {organization: $organization, commonName: $name}, uri: $url,
    certChain: {certificates: [$chain | scan("-----BEGIN CERTIFICATE-----([^-]+)-----END")[0] | {rawBytes: gsub("\\s"; "")}]},
    validFor: {start: "2020-01-01T00:00:00Z"}
  }'
}

# name_of_last ATTRIBUTE CHAIN: that attribute of the last certificate's subject.
name_of_last() {
  tac "$2" | sed '/BEGIN CERTIFICATE/q' | tac | openssl x509 -noout -subject -nameopt sep_multiline,utf8 | sed -n "s/^ *$1=//p"
}

# signing_config SERVICES: those are the transparency logs.
signing_config() {
  jq -n --argjson logs "$1" --argjson ca "$(service "http://127.0.0.1:$fulcio_http" 1)" \
    --argjson tsa "$(service "$tsa_url/api/v1/timestamp" 1)" '{
      mediaType: "application/vnd.dev.sigstore.signingconfig.v0.2+json", caUrls: [$ca],
      rekorTlogUrls: $logs, rekorTlogConfig: {selector: "ANY"}, tsaUrls: [$tsa], tsaConfig: {selector: "ANY"}
    }'
}

# service URL MAJOR-VERSION
service() {
  jq -n --arg url "$1" --argjson version "$2" \
    '{url: $url, majorApiVersion: $version, validFor: {start: "2020-01-01T00:00:00Z"}, operator: "hammer"}'
}

# spki KEY-FILE: the public key as DER (SubjectPublicKeyInfo).
spki() { openssl pkey -pubin -in "$1" -outform DER; }

digest() { openssl dgst -sha256 -binary | base64 -w0; }
