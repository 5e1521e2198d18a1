#!/usr/bin/env bash
# turbowish diff on a real server under load: windows of the same load pass, and a reply that takes
# 20 % longer is named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/diff-noise.sh [--debug] [PAIRS [SECONDS [RATE]]]

  --debug  programs built without optimization
  PAIRS    pairs of consecutive windows of one server  [default: 10]
  SECONDS  length of a window  [default: 3]
  RATE     commands per second  [default: 8000]

Two servers run at the same time, one of them with slower replies. Fails if diff fails on a pair of
windows of the same server, or if the slower reply is not what it names first of the two servers in
most windows.
TEXT
}

fail() {
    echo "diff-noise: $*" >&2
    exit 1
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
profile=release build=(cargo build --quiet --release)
if [[ ${1:-} == --debug ]]; then
    profile=debug build=(cargo build --quiet)
    shift
fi
pairs=${1:-10} seconds=${2:-3} rate=${3:-8000}
[[ $pairs$seconds$rate =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }

"${build[@]}" -p turbowish-kv --bin kv --example load
"${build[@]}" -p turbowish-cli
bin=${CARGO_TARGET_DIR:-target}/$profile
work=$(mktemp -d)
export TURBOWISH_RUNTIME_DIR=$work/sockets TURBOWISH_NO_STATE=1
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

# NAME OPTION...: starts a server under load; it is in server[NAME].
declare -A server
begin() {
    local name=$1 address
    shift
    "$bin/kv" --port 0 --dir "$work/$name" "$@" >"$work/out-$name" &
    server[$name]=$!
    pids+=("$!")
    until [[ -s $work/out-$name ]]; do
        kill -0 "${server[$name]}" 2>/dev/null || fail "the server ended"
        sleep 0.1
    done
    address=$(sed 's/.* //' "$work/out-$name")
    "$bin/examples/load" "$address" $(((pairs + 4) * (seconds + 1))) "$rate" >/dev/null &
    pids+=("$!")
}

compare() {
    "$bin/turbowish" diff "$1" "$2" >"$work/told"
}

# Both at the same time: a machine that is slower for a while is slower for both.
begin same
begin slower --slower-replies 20
# The first calls fill caches and make buffers.
sleep 2
for ((window = 0; window <= pairs; window++)); do
    sleep "$seconds"
    for name in same slower; do
        "$bin/turbowish" query procs "${server[$name]}" --window "${seconds}s" --format json >"$work/$name-$window.json"
    done
done

failed=0
for ((pair = 0; pair < pairs; pair++)); do
    if ! compare "$work/same-$pair.json" "$work/same-$((pair + 1)).json"; then
        failed=$((failed + 1))
        grep FAIL "$work/told" || fail "diff: $(cat "$work/told")"
    fi
done
echo "the same load: $failed of $pairs pairs fail"

named=0
for ((pair = 0; pair < pairs; pair++)); do
    compare "$work/same-$pair.json" "$work/slower-$pair.json" || true
    if grep -E '^[^ ]+: .*->' "$work/told" | head -n 1 | tee "$work/first" | grep -q '^kv::conn::write_reply: '; then
        named=$((named + 1))
    else
        echo "not named first: $(cat "$work/first")"
    fi
done
cat "$work/first"
echo "replies take 20 % longer: named first in $named of $pairs pairs"
[[ $failed == 0 ]] || fail "$failed of $pairs pairs of the same load fail"
((2 * named > pairs)) || fail "replies that take 20 % longer are named in $named of $pairs pairs only"
