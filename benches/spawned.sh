#!/usr/bin/env bash
# Cost of a task from its spawn to its end, and whether a spawn is ever held up by who lists a
# million tasks: the program with accounting on, and tasks queried all the time, against the same
# program without instrumentation. The two are run in turn.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/spawned.sh [--tasks N] [--seconds N] [--pairs N]

  --tasks N    tasks, three calls deep                      [default: 1000000]
  --seconds N  seconds of spawns beside tasks that wait     [default: 20]
  --pairs N    runs of each program                         [default: 3]

The longest spawn is without the time for which the kernel ran another thread or the host of a
virtual machine ran something else; WITH HOST is with the latter. A spawn whose thread was off the
processor, as one that waits for a lock is, counts with it in both. How often the runtime's threads
sleep and wake differs from run to run, so the least time of all runs is in the last row.

Goals: 700 ns of processor time a task over the plain program; no spawn takes a millisecond.
TEXT
}

fail() {
    echo "spawned: $*" >&2
    exit 1
}

tasks=1000000 seconds=20 pairs=3
while [[ $# -gt 0 ]]; do
    case $1 in
    -h | --help) usage; exit 0 ;;
    --tasks) tasks=${2:-}; shift 2 || fail "--tasks needs a number" ;;
    --seconds) seconds=${2:-}; shift 2 || fail "--seconds needs a number" ;;
    --pairs) pairs=${2:-}; shift 2 || fail "--pairs needs a number" ;;
    *) usage >&2; exit 2 ;;
    esac
done
[[ $tasks =~ ^[1-9][0-9]*$ && $seconds =~ ^[1-9][0-9]*$ && $pairs =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }

bench=$PWD/target/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$bench"
cargo build --quiet --release --no-default-features --example spawned
cp target/release/examples/spawned "$bench/spawned-plain"
cargo build --quiet --release --features server,tokio --example spawned
cp target/release/examples/spawned "$bench/spawned-armed"
cargo build --quiet --release -p turbowish-cli
export XDG_RUNTIME_DIR=$work

# Asks for tasks, again and again, until the program has ended.
list() {
    local pid=$1 count=0
    until grep -q '^waiting' "$work/out"; do sleep 0.1; done
    until grep -q '^longest' "$work/out" || ! kill -0 "$pid" 2>/dev/null; do
        if target/release/turbowish query tasks "$pid" --limit 1000 >"$work/rows" 2>"$work/fault"; then
            count=$((count + 1))
        else
            # A query that failed says why, unless the program had ended.
            grep -v ' is gone\|: no process ' "$work/fault" >&2 || true
        fi
    done
    echo "$count" >"$work/queries"
}

least() {
    sed -n "s/^$1 //p" "$2" | sort -n | head -n 1
}

# row NAME PLAIN ARMED [LONGEST WITH-HOST QUERIES]: the least time of each program.
row() {
    local plain armed
    plain=$(least task "$2") armed=$(least task "$3")
    printf '%-6s %18d %18d %+10d %22s %15s %10s\n' "$1" "$plain" "$armed" $((armed - plain)) "${@:4}"
}

printf '%-6s %18s %18s %10s %22s %15s %10s\n' RUN 'PLAIN, ns a task' 'ARMED, ns a task' OVER \
    'LONGEST SPAWN, us' 'WITH HOST, us' QUERIES
for run in $(seq "$pairs"); do
    "$bench/spawned-plain" "$tasks" 1 >"$work/plain"
    : >"$work/out"
    TURBOWISH=on "$bench/spawned-armed" "$tasks" "$seconds" >"$work/out" &
    pid=$!
    list "$pid" &
    lister=$!
    wait "$pid"
    wait "$lister"
    cat "$work/plain" >>"$work/all-plain"
    cat "$work/out" >>"$work/all-armed"
    row "$run" "$work/plain" "$work/out" \
        "$(least longest "$work/out")" "$(least with-host "$work/out")" "$(<"$work/queries")"
done
row least "$work/all-plain" "$work/all-armed" '' '' ''
