#!/usr/bin/env bash
# API gateways on loopback: HAProxy before nginx, which answers "hello-world"; and Envoy before the same, where it is installed.
#   scripts/targets/gateway.sh up
#   RUN=FOLDER scripts/targets/gateway.sh down|status
# `up` prints what it writes to $RUN/env: RUN; BACKEND_URL (nginx itself) and HAProxy's frontends before it, one thread for all of them:
#   PROXY_URL       plain: passes everything on
#   GATEWAY_URL     jwt: wants `Authorization: Bearer` with a JWT (RFC 7519) by RS256 or ES256 of the keys in JWKS, with `exp` in the
#                   future, `iss` TOKEN_ISSUER and TOKEN_AUDIENCE in `aud`. 401 says in a line why: unauthorized, bad signature,
#                   expired, wrong issuer, wrong audience
#   AUTHORIZED_URL  authorized: jwt, and 403 with `forbidden` unless `groups` has users or admins; /admin wants `sub` admin, and DELETE
#                   the group admins
#   DECISION_URL    decision: the same rules, but answers 200 with `allowed` itself, for an ext_authz filter
# The backend gets `sub` as X-User (no client's own, but for `plain`), and answers it as a header of the same name.
# STATS_URL (CSV; a frontend has its name there) and METRICS_URL (Prometheus) are what HAProxy counted; who reads them is counted in
# a frontend apart, counts.
# Files: RSA_KEY and P256_KEY (PKCS #8; the public keys beside them end in .pub), JWKS (kid rsa and p256), RSA_TOKEN_FILE and
# P256_TOKEN_FILE (24 h, sub user-1, groups users), EXPIRED_TOKEN_FILE (an hour ago), FORGED_TOKEN_FILE (by another key).
# BACKEND_PID, HAPROXY_PID and ENVOY_PID are one process each, so that the time of /proc/PID/stat is all that a request costs there.
# With Envoy (HAMMER_INSTALL=full scripts/install.sh): ENVOY_URL (jwt_authn by JWKS, its own texts, and 403 for a wrong audience),
# ENVOY_AUTHORIZED_URL (ext_authz, which asks DECISION_URL for each request) and ENVOY_ADMIN_URL.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/processes.sh"

processes=(envoy haproxy backend)
TOKEN_ISSUER=http://issuer.hammer.test
TOKEN_AUDIENCE=gateway

with_envoy() { [[ -x $HAMMER_TARGETS_BIN/envoy ]]; }

up() {
  need openssl nginx haproxy curl jq python3 basenc
  run_folder up
  printf 'run folder: %s\n' "$RUN"
  trap 'stop_all "${processes[@]}" >&2' EXIT

  local backend plain jwt authorized decision counts envoy_jwt envoy_authorized envoy_admin extra=()
  read -r backend plain jwt authorized decision counts envoy_jwt envoy_authorized envoy_admin < <(free_ports 9)
  # A client and its backend have a descriptor each, thousands of times.
  ulimit -n "$(ulimit -Hn)"
  keys
  tokens
  backend
  gateway
  if with_envoy; then
    envoy
    extra=("ENVOY_URL=http://127.0.0.1:$envoy_jwt" "ENVOY_AUTHORIZED_URL=http://127.0.0.1:$envoy_authorized"
      "ENVOY_ADMIN_URL=http://127.0.0.1:$envoy_admin" "ENVOY_PID=$(id_of envoy)")
  fi
  publish "RUN=$RUN" "BACKEND_URL=http://127.0.0.1:$backend" "PROXY_URL=http://127.0.0.1:$plain" "GATEWAY_URL=http://127.0.0.1:$jwt" \
    "AUTHORIZED_URL=http://127.0.0.1:$authorized" "DECISION_URL=http://127.0.0.1:$decision" \
    "STATS_URL=http://127.0.0.1:$counts/stats;csv" "METRICS_URL=http://127.0.0.1:$counts/metrics" \
    "TOKEN_ISSUER=$TOKEN_ISSUER" "TOKEN_AUDIENCE=$TOKEN_AUDIENCE" "RSA_KEY=$RUN/keys/issuer-rsa.key" \
    "P256_KEY=$RUN/keys/issuer-p256.key" "JWKS=$RUN/keys/jwks.json" "RSA_TOKEN_FILE=$RUN/token-rsa" \
    "P256_TOKEN_FILE=$RUN/token-p256" "EXPIRED_TOKEN_FILE=$RUN/expired-rsa" "FORGED_TOKEN_FILE=$RUN/forged-rsa" \
    "BACKEND_PID=$(id_of backend)" "HAPROXY_PID=$(id_of haproxy)" "${extra[@]}"
  trap - EXIT
}

# id_of NAME: that of its process.
id_of() {
  local pid
  read -r pid _ <"$RUN/pid/$1"
  printf '%s' "$pid"
}

base64url() { basenc --base64url --wrap=0 | tr -d =; }

keys() {
  local folder=$RUN/keys name
  mkdir "$folder"
  for name in issuer-rsa forger-rsa; do
    openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$folder/$name.key"
  done
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$folder/issuer-p256.key"
  for name in issuer-rsa issuer-p256; do openssl pkey -in "$folder/$name.key" -pubout -out "$folder/$name.pub"; done
  jq -n --arg n "$(modulus "$folder/issuer-rsa.pub")" --arg x "$(point "$folder/issuer-p256.pub" | head -c 32 | base64url)" \
    --arg y "$(point "$folder/issuer-p256.pub" | tail -c 32 | base64url)" '{ keys: [
      { kty: "RSA", use: "sig", alg: "RS256", kid: "rsa", n: $n, e: "AQAB" },
      { kty: "EC", use: "sig", alg: "ES256", kid: "p256", crv: "P-256", x: $x, y: $y }] }' >"$folder/jwks.json"
}

modulus() { openssl rsa -pubin -in "$1" -noout -modulus | cut -d= -f2 | basenc --base16 --decode | base64url; }

# The end of a P-256 key's SubjectPublicKeyInfo: x and y, 32 bytes each.
point() { openssl pkey -pubin -in "$1" -outform DER | tail -c 64; }

tokens() {
  token issuer-rsa RS256 rsa 86400 >"$RUN/token-rsa"
  token issuer-p256 ES256 p256 86400 >"$RUN/token-p256"
  token issuer-rsa RS256 rsa -3600 >"$RUN/expired-rsa"
  token forger-rsa RS256 rsa 86400 >"$RUN/forged-rsa"
}

# token KEY ALGORITHM KID SECONDS: a JWT that ends so many seconds from now, without a newline.
token() {
  local now signed
  now=$(date +%s)
  signed=$(jq -jnc --arg alg "$2" --arg kid "$3" '{ alg: $alg, typ: "JWT", kid: $kid }' | base64url).$(
    jq -jnc --arg iss "$TOKEN_ISSUER" --arg aud "$TOKEN_AUDIENCE" --argjson iat "$((now + $4 - 86400))" --argjson exp "$((now + $4))" \
      '{ iss: $iss, aud: $aud, sub: "user-1", groups: ["users"], iat: $iat, exp: $exp }' | base64url)
  printf '%s.%s' "$signed" "$(printf '%s' "$signed" | openssl dgst -sha256 -sign "$RUN/keys/$1.key" | as_jws "$2" | base64url)"
}

# as_jws ALGORITHM: OpenSSL's signature in the form of RFC 7518 section 3.4: r and s of ECDSA are 32 bytes each, and no DER.
as_jws() {
  if [[ $1 == ES256 ]]; then
    python3 -c '
import sys
der = sys.stdin.buffer.read()
r = der[4:4 + der[3]]
s = der[6 + len(r):]
sys.stdout.buffer.write(b"".join(int.from_bytes(number, "big").to_bytes(32, "big") for number in (r, s)))'
  else
    cat
  fi
}

backend() {
  start_nginx backend "
    listen 127.0.0.1:$backend backlog=4096;
    default_type text/plain;
    location / { add_header X-User \$http_x_user; return 200 \"hello-world\\n\"; }"
  wait_for backend 60 answers "http://127.0.0.1:$backend/"
}

gateway() {
  cat >"$RUN/haproxy.cfg" <<CONF
global
  nbthread 1
  maxconn 8192

defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option http-keep-alive
  # A connection that a client opens and closes unused is no request, and no 400.
  option http-ignore-probes

frontend plain
  bind 127.0.0.1:$plain
  default_backend nginx

frontend jwt
  bind 127.0.0.1:$jwt
$(authentication)
  http-request set-header X-User %[var(txn.sub)]
  default_backend nginx

frontend authorized
  bind 127.0.0.1:$authorized
$(authentication)
$(authorization)
  http-request set-header X-User %[var(txn.sub)]
  default_backend nginx

frontend decision
  bind 127.0.0.1:$decision
$(authentication)
$(authorization)
  http-request return status 200 content-type text/plain hdr X-User "%[var(txn.sub)]" string "allowed\n"

frontend counts
  bind 127.0.0.1:$counts
  http-request use-service prometheus-exporter if { path /metrics }
  stats enable
  stats uri /stats

backend nginx
  http-reuse always
  server nginx 127.0.0.1:$backend
CONF
  start haproxy haproxy -db -f "$RUN/haproxy.cfg"
  wait_for haproxy 60 answers "http://127.0.0.1:$counts/metrics"
}

# The rules of a frontend that wants a token. Each algorithm has its own key, and a token without `exp` is as one that has expired.
authentication() {
  cat <<CONF
  http-request set-var(txn.token) http_auth_bearer
  http-request set-var(txn.alg) var(txn.token),jwt_header_query('\$.alg')
$(refuse 401 unauthorized) unless { var(txn.alg) -m str RS256 ES256 }
  http-request set-var(txn.verified) var(txn.token),jwt_verify("RS256","$RUN/keys/issuer-rsa.pub") if { var(txn.alg) -m str RS256 }
  http-request set-var(txn.verified) var(txn.token),jwt_verify("ES256","$RUN/keys/issuer-p256.pub") if { var(txn.alg) -m str ES256 }
$(refuse 401 "bad signature") unless { var(txn.verified) -m int 1 }
  http-request set-var(txn.claims) var(txn.token),field(2,.),ub64dec
  http-request set-var(txn.sub) var(txn.claims),json_query('\$.sub')
  http-request set-var(txn.exp) var(txn.claims),json_query('\$.exp','int')
  http-request set-var(txn.now) date()
$(refuse 401 expired) unless { var(txn.exp),sub(txn.now) -m int gt 0 }
$(refuse 401 "wrong issuer") unless { var(txn.claims),json_query('\$.iss') -m str $TOKEN_ISSUER }
$(refuse 401 "wrong audience") unless { var(txn.claims),json_query('\$.aud') -m str $TOKEN_AUDIENCE } || $(listed aud "$TOKEN_AUDIENCE")
CONF
}

# The rules of a frontend that wants permission too.
authorization() {
  cat <<CONF
$(refuse 403 forbidden) unless $(listed groups "(users|admins)")
$(refuse 403 forbidden) if { path,url_dec -m reg ^/admin(/|\$) } !{ var(txn.sub) -m str admin }
$(refuse 403 forbidden) if { method DELETE } !$(listed groups admins)
CONF
}

# listed CLAIM VALUE: the condition that the claim is a list with that in it; json_query knows no lists.
listed() { printf "{ var(txn.claims) -m reg '\"%s\"\\s*:\\s*\\[[^]]*\"%s\"' }" "$1" "$2"; }

# refuse STATUS TEXT: a rule, but for its condition.
refuse() { printf '  http-request return status %s content-type text/plain string "%s\\n"' "$1" "$2"; }

envoy() {
  jq -n --arg issuer "$TOKEN_ISSUER" --arg audience "$TOKEN_AUDIENCE" --arg jwks "$RUN/keys/jwks.json" \
    --argjson backend "$backend" --argjson decision "$decision" --argjson jwt "$envoy_jwt" \
    --argjson authorized "$envoy_authorized" --argjson admin "$envoy_admin" '
    def type($name): { "@type": "type.googleapis.com/envoy.extensions.filters.\($name)" };
    def address($port): { socket_address: { address: "127.0.0.1", port_value: $port } };
    def cluster($name; $port): { name: $name, type: "STATIC", connect_timeout: "5s",
      circuit_breakers: { thresholds: [{ max_connections: 16384, max_pending_requests: 16384, max_requests: 16384 }] },
      load_assignment: { cluster_name: $name, endpoints: [{ lb_endpoints: [{ endpoint: { address: address($port) } }] }] } };
    def listener($name; $port; $filter): { name: $name, address: address($port), filter_chains: [{ filters: [{ name: "http",
      typed_config: (type("network.http_connection_manager.v3.HttpConnectionManager") + { stat_prefix: $name,
        route_config: { virtual_hosts: [{ name: "all", domains: ["*"],
          routes: [{ match: { prefix: "/" }, route: { cluster: "nginx", timeout: "60s" } }] }] },
        http_filters: [$filter, { name: "router", typed_config: type("http.router.v3.Router") }] }) }] }] };
    { admin: { address: address($admin) },
      static_resources: {
        listeners: [
          listener("jwt"; $jwt; { name: "jwt_authn", typed_config: (type("http.jwt_authn.v3.JwtAuthentication") + {
            providers: { issuer: { issuer: $issuer, audiences: [$audience], forward: true, clock_skew_seconds: 1,
              local_jwks: { filename: $jwks }, claim_to_headers: [{ header_name: "x-user", claim_name: "sub" }] } },
            rules: [{ match: { prefix: "/" }, requires: { provider_name: "issuer" } }] }) }),
          listener("authorized"; $authorized; { name: "ext_authz", typed_config: (type("http.ext_authz.v3.ExtAuthz") + {
            transport_api_version: "V3", failure_mode_allow: false,
            http_service: { server_uri: { uri: "http://127.0.0.1:\($decision)", cluster: "decision", timeout: "5s" },
              authorization_response: { allowed_upstream_headers: { patterns: [{ exact: "x-user" }] } } } }) })],
        clusters: [cluster("nginx"; $backend), cluster("decision"; $decision)] } }' >"$RUN/envoy.json"
  start envoy "$HAMMER_TARGETS_BIN/envoy" --config-path "$RUN/envoy.json" --concurrency 1 --disable-hot-restart --log-level warning
  wait_for envoy 60 answers "http://127.0.0.1:$envoy_admin/ready"
}

status() {
  local name
  run_folder status
  for name in "${processes[@]}"; do [[ ! -e $RUN/pid/$name ]] || show "$name"; done
  # shellcheck source=/dev/null
  source "$RUN/env"
  curl --silent --fail --max-time 5 "$STATS_URL" | awk -F, '
    NR == 1 { for (n = 1; n <= NF; n++) column[$n] = n }
    $2 == "FRONTEND" && $1 != "counts" { printf "%-12s %9d requests, %d of status 2xx, %d of 4xx, %d of 5xx\n", $1, $column["req_tot"],
      $column["hrsp_2xx"], $column["hrsp_4xx"], $column["hrsp_5xx"] }'
}

case ${1:-} in
  up) up ;;
  down) run_folder down && stop_all "${processes[@]}" ;;
  status) status ;;
  *) die "usage: ${0##*/} up|down|status" 2 ;;
esac
