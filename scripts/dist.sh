#!/usr/bin/env bash
# A package of hammer: hammer-VERSION-TARGET.tar.gz with the program, its completions and manual pages, plans, documentation and licence; the list of
# parts that the program is made of (SBOM, CycloneDX 1.5 in JSON); and SHA256SUMS of both. The same commit and compiler give the same bytes.
#   scripts/dist.sh [FOLDER]      target/package without one
#   TARGET is x86_64-unknown-linux-musl on such a machine without one: a program that needs no library of the machine (rustup target add, Debian's musl-tools)
#   HAMMER names a program of that target that is there, and none is built
#   SOURCE_DATE_EPOCH is the time of all files, that of the last commit without it
# Where cargo-cyclonedx is not installed (HAMMER_INSTALL=full scripts/install.sh) there is no list of parts, and it says so.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/targets/processes.sh
source "$here/targets/processes.sh"

root=$(cd "$here/.." && pwd)
TARGET=${TARGET:-$(uname -m)-unknown-linux-musl}
out=${1:-${CARGO_TARGET_DIR:-$root/target}/package}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || printf 0)}
export SOURCE_DATE_EPOCH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# program: builds it. Names of this machine's folders do not get into it.
program() {
  local flags="${RUSTFLAGS:+$RUSTFLAGS }--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
  RUSTFLAGS=$flags cargo build --profile dist --locked --target "$TARGET" --manifest-path "$root/Cargo.toml" -p hammer-cli --bin hammer >&2 ||
    die "hammer cannot be built for $TARGET: rustup target add $TARGET brings its standard library, and Debian's musl-tools a C compiler for musl"
  printf '%s' "${CARGO_TARGET_DIR:-$root/target}/$TARGET/dist/hammer"
}

# needs_nothing PROGRAM: no library of the machine that it runs on.
needs_nothing() { [[ ! $(LC_ALL=C readelf --program-headers --dynamic "$1") =~ INTERP|\(NEEDED\) ]]; }

# filled FOLDER: what the package holds.
filled() {
  install -D -m 755 "$hammer" "$1/hammer"
  cp "$root"/{LICENSE,README.md,CHANGELOG.md} "$1"
  cp -r "$root"/{configs,docs} "$1"
  mkdir "$1/completions"
  "$hammer" completions bash >"$1/completions/hammer.bash"
  "$hammer" completions zsh >"$1/completions/_hammer"
  "$hammer" completions fish >"$1/completions/hammer.fish"
  "$hammer" man --out "$1/man/man1"
}

packed() {
  tar --create --directory="$scratch" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX "$name" | gzip --no-name >"$out/$name.tar.gz"
}

# parts_list: it is written beside each manifest, and names the folder, so that it is made of a copy.
parts_list() {
  local sources=$scratch/sources
  mkdir "$sources"
  cp -r "$root"/{Cargo.toml,Cargo.lock,crates,benches} "$sources"
  cargo-cyclonedx cyclonedx --manifest-path "$sources/crates/hammer-cli/Cargo.toml" --quiet --format json --spec-version 1.5 --describe binaries \
    --target "$TARGET" --no-build-deps || die "cargo-cyclonedx failed"
  sed "s|path+file://$sources/|path+file:///|g" "$sources/crates/hammer-cli/hammer_bin.cdx.json" >"$out/$name.cdx.json"
}

need readelf tar gzip sha256sum
PATH=$HAMMER_TARGETS_BIN:$PATH
hammer=${HAMMER:-$(program)}
[[ $TARGET != *-musl ]] || needs_nothing "$hammer" || die "$hammer is not static, as a program for $TARGET has to be"
version=$("$hammer" --version)
name=hammer-${version#hammer }-$TARGET
mkdir -p "$out"
rm -f "$out/$name".* "$out/SHA256SUMS"
filled "$scratch/$name"
packed
if type -P cargo-cyclonedx >/dev/null; then parts_list; else printf 'cargo-cyclonedx is not installed: there is no list of parts\n' >&2; fi
(cd "$out" && sha256sum "$name".* >SHA256SUMS)
printf '%s\n' "$out/$name".* "$out/SHA256SUMS"
