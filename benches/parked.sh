#!/usr/bin/env bash
# Memory cost of waiting tasks, and whether it stays constant: resident memory of one program with
# accounting on against the same program without instrumentation, and the processor time of
# TurboWish's threads. A reading soon after the start proves nothing, because the monitor walks all
# tasks repeatedly; the bound is therefore checked late.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/parked.sh [--tasks N] [--seconds N] [--every MS]

  --tasks N    tasks that wait, three calls deep           [default: 1000000]
  --seconds N  seconds until the last look, 3 at least     [default: 60]
  --every MS   each task does a little every MS milliseconds, two calls deep; 0 is never
                                                           [default: 0]

Fails if a task costs more than BOUND bytes over the plain program at the last look, if the most that there was (peak) is more than
PEAK bytes a task, or if the last look has more than GROWTH bytes a task over that at 2 s.

Environment: BOUND [default: 280], PEAK [default: 290], GROWTH [default: 10]
TEXT
}

fail() {
    echo "parked: $*" >&2
    exit 1
}

tasks=1000000
seconds=60
every=0
while [[ $# -gt 0 ]]; do
    case $1 in
    -h | --help) usage; exit 0 ;;
    --tasks) tasks=${2:-}; shift 2 || fail "--tasks needs a number" ;;
    --seconds) seconds=${2:-}; shift 2 || fail "--seconds needs a number" ;;
    --every) every=${2:-}; shift 2 || fail "--every needs a number" ;;
    *) usage >&2; exit 2 ;;
    esac
done
[[ $tasks =~ ^[1-9][0-9]*$ && $seconds =~ ^[0-9]+$ && $seconds -ge 3 && $every =~ ^[0-9]+$ ]] || { usage >&2; exit 2; }
bound=${BOUND:-280}
most=${PEAK:-290}
growth=${GROWTH:-10}

bench=$PWD/target/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$bench"
cargo build --quiet --release --no-default-features --example parked
cp target/release/examples/parked "$bench/parked-plain"
cargo build --quiet --release --features server,tokio --example parked
cp target/release/examples/parked "$bench/parked-armed"

# The plain program keeps nothing: it is the same at any time.
"$bench/parked-plain" "$tasks" 3 "$every" >"$work/plain"
TURBOWISH=on XDG_RUNTIME_DIR=$work "$bench/parked-armed" "$tasks" "$seconds" "$every" >"$work/armed"

awk -v tasks="$tasks" -v seconds="$seconds" -v bound="$bound" -v most="$most" -v growth="$growth" '
    function over(bytes, plain) { return (bytes - plain) / tasks }
    $1 == "own" { if (NR != FNR) own = $2; next }
    NR == FNR { plain[$1 == "peak" ? "peak" : "now"] = $2; next }
    FNR == 1 { printf "%d tasks; plain: %d B a task\n", tasks, plain["now"] / tasks; first = over($2, plain["now"]) }
    $1 == "peak" { peak = over($2, plain["peak"]); printf "%8s %7.1f MB  %+.0f B a task\n", "peak", $2 / 1e6, peak; next }
    { last = over($2, plain["now"]); printf "%6d s %7.1f MB  %+.0f B a task\n", $1, $2 / 1e6, last }
    END {
        printf "threads of TurboWish: %.2f %% of a core\n", own / seconds / 1e7
        if (last > bound) { printf "BROKEN: %d B a task at the end, the bound is %d\n", last, bound; broken = 1 }
        if (peak > most) { printf "BROKEN: %d B a task at most, the bound is %d\n", peak, most; broken = 1 }
        if (last - first > growth) { printf "BROKEN: it has grown by %d B a task, the bound is %d\n", last - first, growth; broken = 1 }
        exit broken
    }' "$work/plain" "$work/armed"
