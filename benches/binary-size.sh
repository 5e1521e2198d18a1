#!/usr/bin/env bash
# Size that TurboWish adds to a program: bytes of a small tokio program without it, annotated, and
# annotated with the features that a binary turns on. Each is built with `--release` as cargo has
# it, and stripped: machine code, constants, unwinding tables and relocations.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/binary-size.sh [--check] [--sections]

  --check     only the feature `server`: fail where it adds more than 3.5 MB; the goal is 3
  --sections  bytes of machine code, constants, unwinding tables and relocations, too

Builds are kept in target/bench/binary-size: the first run takes a minute on two cores.
TEXT
}

fail() {
    echo "binary-size: $*" >&2
    exit 1
}

most=3500000
check= sections=
names=(plain annotated server server-tokio)
for word in "$@"; do
    case $word in
    -h | --help) usage && exit 0 ;;
    --check) check=1 names=(plain server) ;;
    --sections) sections=1 ;;
    *) usage >&2 && exit 2 ;;
    esac
done
command -v size strip >/dev/null || fail "size or strip is missing: install the Debian package binutils"

home=$PWD/target/bench/binary-size

# A package of its own for each, so that no feature of one is built into another.
write() {
    local name=$1 dependency=$2 attribute=$3 start=$4
    mkdir -p "$home/$name/src"
    cat >"$home/$name/Cargo.toml" <<TOML
[package]
name = "$name"
version = "0.0.0"
edition = "2024"
[dependencies]
tokio = { version = "1", features = ["macros", "net", "rt-multi-thread", "sync", "time"] }
$dependency
[workspace]
TOML
    cat >"$home/$name/src/main.rs" <<RUST
use std::time::Duration;

use tokio::sync::mpsc;

$attribute
async fn produce(items: mpsc::Sender<u64>) {
    for item in 0..3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        if items.send(item).await.is_err() {
            return;
        }
    }
}

$attribute
async fn consume(mut items: mpsc::Receiver<u64>) -> u64 {
    let mut sum = 0;
    while let Some(item) = items.recv().await {
        sum += item;
    }
    sum
}

#[tokio::main]
async fn main() {
    $start
    let (items, receiver) = mpsc::channel(2);
    let producer = tokio::spawn(produce(items));
    println!("{}", consume(receiver).await);
    let _ = producer.await;
}
RUST
    # The versions that this repository is tested with.
    cp Cargo.lock "$home/$name/Cargo.lock"
}

annotated() {
    write "$1" "turbowish = { path = \"$PWD\"$2 }" '#[turbowish::instrument]' 'let _turbowish = turbowish::init();'
}

build() {
    CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$home/target cargo build --quiet --offline --release --manifest-path "$home/$1/Cargo.toml" ||
        CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$home/target cargo build --quiet --release --manifest-path "$home/$1/Cargo.toml"
    strip -o "$home/$1.stripped" "$home/target/release/$1"
}

# bytes_of NAME SECTION...: the sum of sections.
bytes_of() {
    local file=$home/$1.stripped
    shift
    size -A "$file" | awk -v wanted=" $* " 'index(wanted, " " $1 " ") { all += $2 } END { print all + 0 }'
}

write plain "" "" ""
annotated annotated ""
annotated server ', features = ["server"]'
annotated server-tokio ', features = ["server", "tokio"]'
declare -A bytes
printf '%-14s %10s  %10s' PROGRAM BYTES ADDED
[[ -z $sections ]] || printf '  %10s  %10s  %10s  %10s' CODE CONSTANTS UNWINDING RELOCATED
printf '\n'
for name in "${names[@]}"; do
    build "$name"
    bytes[$name]=$(stat -c %s "$home/$name.stripped")
    printf '%-14s %10d  %10d' "$name" "${bytes[$name]}" $((bytes[$name] - bytes[plain]))
    [[ -z $sections ]] || printf '  %10d  %10d  %10d  %10d' "$(bytes_of "$name" .text)" "$(bytes_of "$name" .rodata)" \
        "$(bytes_of "$name" .eh_frame .eh_frame_hdr .gcc_except_table)" "$(bytes_of "$name" .rela.dyn .data.rel.ro)"
    printf '\n'
done
added=$((bytes[server] - bytes[plain]))
[[ -z $check ]] || ((added <= most)) || fail "the feature \`server\` adds $added bytes, more than $most"
