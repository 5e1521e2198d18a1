#!/usr/bin/env bash
# Code size that the attribute adds to a program: bytes of a published crate unchanged, against the
# same crate annotated on every async fn, divided by its functions. Counted are machine code
# (sections .text), and the data loaded with it (unwinding tables, constants, the text of await
# points). An executable also contains TurboWish itself, once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/text-size.sh [--check]

  --check  fail where a function takes more than 800 bytes of machine code on average

Measures mini-redis 0.4.1, in target/bench/compile-time: the first run builds it, in about a minute on two cores.
TEXT
}

fail() {
    echo "text-size: $*" >&2
    exit 1
}

case ${1:-} in
-h | --help) usage && exit 0 ;;
'' | --check) ;;
*) usage >&2 && exit 2 ;;
esac

home=$PWD/target/bench/compile-time/mini-redis-0.4.1
benches/compile-time.sh 0 >&2

# build VARIANT: from our source as it is now.
build() {
    CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$home/target cargo build --quiet --release --manifest-path "$home/$1/Cargo.toml" \
        --config "patch.crates-io.turbowish.path=\"$PWD\"" 2>"$home/$1.err" || fail "$1 does not build: $(cat "$home/$1.err")"
}

# Bytes of a file's code and of all that is loaded read-only, of all objects in it.
code() {
    size -A "$home/target/release/$1" 2>/dev/null | awk '$1 ~ /^\.text/ { all += $2 } END { print all }'
}
loaded() {
    size "$home/target/release/$1" 2>/dev/null | awk 'NR > 1 { all += $1 } END { print all }'
}

command -v size >/dev/null || fail "size is missing: install the Debian package binutils"
declare -A bytes
added=()
for variant in plain fn; do
    find "$home/$variant/src" -name '*.rs' -exec touch {} +
    build "$variant"
    for file in libmini_redis.rlib mini-redis-server mini-redis-cli; do
        for what in code loaded; do
            bytes[$variant-$file-$what]=$("$what" "$file")
        done
    done
done
functions=$(find "$home/fn/src" -name '*.rs' -not -path '*/bin/*' -exec grep -hoE '^ *#\[(::)?turbowish::instrument\]' {} + | wc -l)
for file in libmini_redis.rlib mini-redis-server mini-redis-cli; do
    for what in code loaded; do
        plain=${bytes[plain-$file-$what]} annotated=${bytes[fn-$file-$what]}
        printf '%-20s %-6s  plain %8d B  annotated %8d B  more %7d B\n' "$file" "$what" "$plain" "$annotated" $((annotated - plain))
        [[ $file != *.rlib ]] || added[${#added[@]}]=$((annotated - plain))
    done
done
echo "a function of the library's $functions: $((added[0] / functions)) B of machine code, $((added[1] / functions)) B with all that is loaded"
[[ ${1:-} != --check ]] || ((added[0] <= 800 * functions)) || fail "more than 800 bytes of machine code a function"
