#!/usr/bin/env bash
# Compile-time cost of the attribute: a published crate unchanged, against the same crate annotated
# on every async fn. Its dependencies, and those of the runtime, are built beforehand and do not
# count. Cargo's work on the runtime's dependencies in every build is not a cost of the attribute
# either. It is separated by a variant that only declares them: annotated is compared with this one,
# and with plain. Versions are the same in all variants, and turbowish comes from a registry, as for
# a user. Variants are built in turn, because the machine's speed drifts: the result is the median
# of the ratios of neighbouring runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/compile-time.sh [ROUNDS [CRATE VERSION]]

  ROUNDS   runs of each build; 0 only annotates   [default: 5]
  CRATE    a published crate                      [default: mini-redis]
  VERSION  exactly                                [default: 0.4.1]

Builds are kept in target/bench. A run of the default takes about four minutes on two cores.
TEXT
}

fail() {
    echo "compile-time: $*" >&2
    exit 1
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
rounds=${1:-5}
crate=${2:-mini-redis}
version=${3:-0.4.1}
[[ $rounds =~ ^[0-9]+$ && $# -ne 2 ]] || { usage >&2; exit 2; }

home=$PWD/target/bench/compile-time/$crate-$version
variants=(plain declared fn blocks)
.ci/build
turbowish=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)/debug/turbowish
export CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$home/target
config=$home/registry.toml

# source_of MANIFEST NAME: where cargo keeps the source of a dependency.
source_of() {
    local manifest
    manifest=$(cargo metadata --quiet --format-version 1 --config "$config" --manifest-path "$1" |
        tr ',' '\n' | sed -n "s|.*\"manifest_path\":\"\(.*/registry/src/[^/]*/$2-[0-9][^/]*/Cargo.toml\)\".*|\1|p" | sort -u | head -1)
    [[ -n $manifest ]] || fail "cargo does not find $2"
    dirname "$manifest"
}

# The published source, found by cargo.
fetch() {
    rm -rf "$home/fetch"
    mkdir -p "$home/fetch/src"
    touch "$home/fetch/src/lib.rs"
    cat >"$home/fetch/Cargo.toml" <<TOML
[package]
name = "fetch"
version = "0.0.0"
edition = "2024"
[dependencies]
$crate = "=$version"
[workspace]
TOML
    source_of "$home/fetch/Cargo.toml" "$crate"
}

# A registry of the packages of this workspace, as they would be published. Cargo takes what has the same name and version for the
# same, so its address says what is in it.
publish() {
    local packages registry
    mapfile -t packages < <(cargo tree --quiet --package turbowish --all-features --edges normal --prefix none |
        sed -n "s|^\([^ ]*\) .*($PWD.*|\1|p" | sort -u)
    rm -rf "$home/registry" "$CARGO_TARGET_DIR/package"
    cargo package --quiet --allow-dirty --no-verify "${packages[@]/#/--package=}"
    registry=$home/registry/$(cat "$CARGO_TARGET_DIR"/package/*.crate | sha256sum | cut -c 1-16)
    mkdir -p "$registry"
    cp -R "$CARGO_TARGET_DIR"/package/*.crate "$CARGO_TARGET_DIR/package/tmp-registry/index" "$registry"
    echo "{\"dl\":\"file://$registry/{crate}-{version}.crate\"}" >"$registry/index/config.json"
    git -C "$registry/index" init --quiet
    git -C "$registry/index" add .
    git -C "$registry/index" -c user.name=bench -c user.email=bench@localhost commit --quiet --message index
    {
        printf '[registries.here]\nindex = "file://%s/index"\n[patch.crates-io]\n' "$registry"
        printf '%s = { version = "*", registry = "here" }\n' "${packages[@]}"
    } >"$config"
}

# Cargo keeps what it takes from a registry.
forget() {
    local kept
    kept=$(dirname "$(source_of "$home/fn/Cargo.toml" turbowish)")
    rm -rf "${kept%/src/*}"/{cache,index,src}/"${kept##*/}"
}

prepare() {
    local source variant
    mkdir -p "$home"
    : >"$config"
    source=$(fetch)
    publish
    for variant in "${variants[@]}"; do
        rm -rf "${home:?}/$variant"
        cp -R "$source" "$home/$variant"
        chmod -R u+w "$home/$variant"
        rm -f "$home/$variant/.cargo-ok" "$home/$variant/Cargo.toml.orig"
        printf '\n[workspace]\n' >>"$home/$variant/Cargo.toml"
    done
    "$turbowish" annotate --allow-no-vcs --version 0.1 "$home/fn" >"$home/fn.txt"
    "$turbowish" annotate --allow-no-vcs --version 0.1 --blocks "$home/blocks" >"$home/blocks.txt"
    tail -3 "$home/fn.txt"
    trap forget EXIT
    cargo metadata --quiet --format-version 1 --config "$config" --manifest-path "$home/fn/Cargo.toml" >/dev/null
    cp "$home/fn/Cargo.toml" "$home/declared"
    for variant in plain declared blocks; do
        cp "$home/fn/Cargo.lock" "$home/$variant"
    done
}

# build VARIANT check|release: the crate itself, from nothing; prints milliseconds.
build() {
    local start command=(check)
    [[ $2 == check ]] || command=(build --release)
    [[ $1 == plain ]] || command+=(--config "$config")
    find "$home/$1/src" -name '*.rs' -exec touch {} +
    start=$(date +%s%N)
    cargo "${command[@]}" --quiet --manifest-path "$home/$1/Cargo.toml" 2>"$home/$1.err" ||
        fail "$1 does not build: $(cat "$home/$1.err")"
    echo $((($(date +%s%N) - start) / 1000000))
}

# The middle one of the numbers on stdin, or the mean of the two in the middle.
median() {
    sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# ratio HOW VARIANT BASE: the median of the ratios of neighbouring runs.
ratio() {
    paste "$home/$1-$2" "$home/$1-$3" | awk '{ print $1 / $2 }' | median
}

prepare
[[ $rounds != 0 ]] || exit 0
for how in check release; do
    for variant in "${variants[@]}"; do
        build "$variant" "$how" >/dev/null
        rm -f "$home/$how-$variant"
    done
done
echo "$crate $version, $rounds rounds, $(nproc) cores, $(rustc --version), turbowish from a registry"
for how in check release; do
    for round in $(seq "$rounds"); do
        for place in "${!variants[@]}"; do
            variant=${variants[$(((place + round) % ${#variants[@]}))]}
            build "$variant" "$how" >>"$home/$how-$variant"
        done
    done
    for variant in declared fn blocks; do
        printf '%-8s %-9s plain %6.0f ms  this %6.0f ms  ratio to plain %.3f  to declared %.3f\n' "$how" "$variant" \
            "$(median <"$home/$how-plain")" "$(median <"$home/$how-$variant")" \
            "$(ratio "$how" "$variant" plain)" "$(ratio "$how" "$variant" declared)"
    done
done
