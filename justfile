# One line each; `just` alone lists them.

_default:
    @just --list

# Debian packages, the servers of scripts/targets, cargo-deny
install:
    scripts/install.sh

build:
    cargo build --release

# what is installed and measured: target/dist/hammer
dist:
    cargo build --profile dist

# a static program with completions, manual pages, list of parts and checksums: target/package (docs/install.md)
package:
    scripts/dist.sh

test:
    cargo test --workspace

bench:
    cargo bench --workspace

# one fuzz target under cargo-fuzz (fuzz/README.md)
fuzz target seconds="60":
    cd fuzz && mkdir -p corpus/{{ target }} && cargo +nightly fuzz run {{ target }} corpus/{{ target }} seeds/{{ target }} -- -max_total_time={{ seconds }}

format:
    cargo fmt --all

lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

deny:
    cargo deny --offline check -A unused-wrapper licenses bans sources

# the whole gate, or some of its stages: just gate format clippy
gate *stages:
    .ci/run {{ stages }}

quickstart:
    cargo run --release -- run configs/ct-quickstart.yaml

# hammer beside whichever of wrk, wrk2, h2load, oha, hey, vegeta, k6 and Locust is installed
peers *flags:
    scripts/peers.sh {{ flags }}

# instructions of schedule, record and encode against the pinned ones; `just counts --pin` pins them anew
counts *flags:
    scripts/counts.sh {{ flags }}

# a real RFC 6962 log that accepts hammer's roots; prints its run folder
log-up plan="configs/rfc6962-log.yaml": build
    target/release/hammer ct roots {{ plan }} >target/roots.pem && ROOTS_PEM=target/roots.pem scripts/targets/rfc6962.sh up

log-down run:
    RUN={{ run }} scripts/targets/rfc6962.sh down
