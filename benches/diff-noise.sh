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

Fails if diff fails on a pair of windows of the same load, or passes one of a slower server, or
names another proc first.
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
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT

# NAME WINDOWS OPTION...: the files NAME-0.json, NAME-1.json, ... of a server under load.
record() {
    local name=$1 windows=$2 server address load
    shift 2
    "$bin/kv" --port 0 --dir "$work/$name" "$@" >"$work/out" &
    server=$!
    pids+=("$server")
    until [[ -s $work/out ]]; do
        kill -0 "$server" 2>/dev/null || fail "the server ended"
        sleep 0.1
    done
    address=$(sed 's/.* //' "$work/out")
    "$bin/examples/load" "$address" $(((windows + 2) * (seconds + 1))) "$rate" >/dev/null &
    load=$!
    pids+=("$load")
    # The first calls fill caches and make buffers.
    sleep 2
    for ((window = 0; window < windows; window++)); do
        sleep "$seconds"
        "$bin/turbowish" query procs "$server" --window "${seconds}s" --format json >"$work/$name-$window.json"
    done
    kill "$server" "$load"
    wait "$server" "$load" 2>/dev/null || true
    rm "$work/out"
}

compare() {
    "$bin/turbowish" diff "$1" "$2" >"$work/told"
}

failed=0
record same $((pairs + 1))
for ((pair = 0; pair < pairs; pair++)); do
    if ! compare "$work/same-$pair.json" "$work/same-$((pair + 1)).json"; then
        failed=$((failed + 1))
        grep FAIL "$work/told" || fail "diff: $(cat "$work/told")"
    fi
done
echo "the same load: $failed of $pairs pairs fail"
record slower 1 --slower-replies 20
if compare "$work/same-0.json" "$work/slower-0.json"; then
    cat "$work/told"
    fail "a slower server passes"
fi
echo "replies take 20 % longer:"
grep -E '^[^ ]+: .*->' "$work/told" | sed 's/^/  /'
grep -E '^[^ ]+: .*->' "$work/told" | grep -q '^kv::conn::write_reply: ' || fail "it is not named: $(cat "$work/told")"
[[ $failed == 0 ]] || fail "$failed of $pairs pairs of the same load fail"
