#!/usr/bin/env bash
# What the attribute costs the people who compile: a published crate, as it is against annotated on every async fn. Its
# dependencies, and those of the runtime, are built beforehand and do not count. Variants are built in turn, because the
# machine's speed drifts: what counts is the median of the ratios of neighbouring runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/compile-time.sh [ROUNDS [CRATE VERSION]]

  ROUNDS   runs of each build; 0 only annotates   [default: 5]
  CRATE    a published crate                      [default: mini-redis]
  VERSION  exactly                                [default: 0.4.1]

Builds are kept in target/bench. A run of the default takes about three minutes on two cores.
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
variants=(plain fn blocks)
export CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$home/target
patch="patch.crates-io.turbowish.path=\"$PWD\""

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
    local manifest
    manifest=$(cargo metadata --quiet --format-version 1 --manifest-path "$home/fetch/Cargo.toml" |
        tr ',' '\n' | sed -n "s|.*\"manifest_path\":\"\(.*/$crate-$version/Cargo.toml\)\".*|\1|p" | sort -u | head -1)
    [[ -n $manifest ]] || fail "cargo does not find $crate $version"
    dirname "$manifest"
}

prepare() {
    local source turbowish variant
    source=$(fetch)
    env -u CARGO_TARGET_DIR -u CARGO_INCREMENTAL cargo build --quiet -p turbowish-cli
    turbowish=$PWD/target/debug/turbowish
    for variant in "${variants[@]}"; do
        rm -rf "${home:?}/$variant"
        cp -R "$source" "$home/$variant"
        chmod -R u+w "$home/$variant"
        rm -f "$home/$variant/.cargo-ok" "$home/$variant/Cargo.toml.orig"
        printf '\n[workspace]\n' >>"$home/$variant/Cargo.toml"
    done
    "$turbowish" annotate "$home/fn" >"$home/fn.txt"
    "$turbowish" annotate --blocks "$home/blocks" >"$home/blocks.txt"
    tail -3 "$home/fn.txt"
}

# build VARIANT check|release: the crate itself, from nothing; prints milliseconds.
build() {
    local start command=(check)
    [[ $2 == check ]] || command=(build --release)
    find "$home/$1/src" -name '*.rs' -exec touch {} +
    start=$(date +%s%N)
    cargo "${command[@]}" --quiet --config "$patch" --manifest-path "$home/$1/Cargo.toml" 2>"$home/$1.err" ||
        fail "$1 does not build: $(cat "$home/$1.err")"
    echo $((($(date +%s%N) - start) / 1000000))
}

# The middle one of the numbers on stdin, or the mean of the two in the middle.
median() {
    sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

prepare
[[ $rounds != 0 ]] || exit 0
for how in check release; do
    for variant in "${variants[@]}"; do
        build "$variant" "$how" >/dev/null
        rm -f "$home/$how-$variant"
    done
done
echo "$crate $version, $rounds rounds, $(nproc) cores, $(rustc --version)"
for how in check release; do
    for round in $(seq "$rounds"); do
        for place in 0 1 2; do
            variant=${variants[$(((place + round) % 3))]}
            build "$variant" "$how" >>"$home/$how-$variant"
        done
    done
    for variant in fn blocks; do
        printf '%-8s %-7s plain %6.0f ms  annotated %6.0f ms  ratio %.3f\n' "$how" "$variant" \
            "$(median <"$home/$how-plain")" "$(median <"$home/$how-$variant")" \
            "$(paste "$home/$how-$variant" "$home/$how-plain" | awk '{ print $1 / $2 }' | median)"
    done
done
