#!/usr/bin/env bash
# What recording costs: processor time of the key-value server for a request, recording against not
# recording. Both servers run all the time and get the load in turn, because the machine's speed
# drifts: the result is the median of the ratios of neighbouring rounds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/record-cost.sh [PAIRS [REQUESTS [CLASSES]]]

  PAIRS     pairs of rounds                      [default: 61]
  REQUESTS  requests of a round, by 50 clients   [default: 90000]
  CLASSES   classes of events, such as calls     [default: those of a process]

The goal is a ratio of 1.02.
TEXT
}

fail() {
    echo "record-cost: $*" >&2
    exit 1
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
pairs=${1:-61} requests=${2:-90000} classes=${3:-on}
[[ $pairs$requests =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }
benches/redis-benchmark --version >/dev/null || exit 1

cargo build --quiet --release -p turbowish-kv --bin kv
bin=${CARGO_TARGET_DIR:-target}/release
work=$(mktemp -d)
export TURBOWISH_RUNTIME_DIR=$work/sockets
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

# The server on one core, the load on the other one.
last=$(($(nproc) - 1))
declare -A pid port
for how in off on; do
    if [[ $how == off ]]; then record=off; else record=$classes; fi
    TURBOWISH_RECORD=$record taskset -c 0 "$bin/kv" --port 0 --dir "$work/$how" >"$work/out-$how" &
    pid[$how]=$!
    pids+=("$!")
    until [[ -s $work/out-$how ]]; do
        kill -0 "${pid[$how]}" 2>/dev/null || fail "the server ended"
        sleep 0.1
    done
    port[$how]=$(sed 's/.*://' "$work/out-$how")
done

# Nanoseconds on a processor so far: of all threads of a server, and of those of TurboWish.
used() {
    local thread spent all=0 own=0
    for thread in /proc/"${pid[$1]}"/task/*; do
        read -r spent _ <"$thread/schedstat"
        all=$((all + spent))
        [[ $(<"$thread/comm") != turbowish* ]] || own=$((own + spent))
    done
    echo "$all $own"
}

# Nanoseconds for a request: of all threads, and of those of TurboWish.
round() {
    local before own_before all own
    read -r before own_before <<<"$(used "$1")"
    taskset -c "$last" benches/redis-benchmark -p "${port[$1]}" -t set,get,incr -c 50 -n $((requests / 3)) -q >/dev/null
    read -r all own <<<"$(used "$1")"
    echo $(((all - before) / requests)) $(((own - own_before) / requests))
}

for how in off on; do round "$how" >/dev/null; done
printf '%5s %10s %10s %7s   %s\n' pair off on ratio "of it TurboWish's threads"
for ((pair = 1; pair <= pairs; pair++)); do
    if ((pair % 2)); then
        off=$(round off) on=$(round on)
    else
        on=$(round on) off=$(round off)
    fi
    awk -v pair="$pair" -v off="$off" -v on="$on" 'BEGIN {
        split(off, without); split(on, with)
        printf "%5d %7d ns %7d ns %7.3f   %4d ns %4d ns %6.3f\n", pair, without[1], with[1], with[1] / without[1], without[2], with[2], 1 + (with[2] - without[2]) / without[1]
    }' | tee -a "$work/pairs"
done
middle() {
    awk -v column="$1" '{ print $column }' "$work/pairs" | sort -n | awk '{ all[NR] = $1 } END { printf "%.3f, half of them from %.3f to %.3f", (all[int((NR + 1) / 2)] + all[int(NR / 2) + 1]) / 2, all[int((NR + 3) / 4)], all[NR + 1 - int((NR + 3) / 4)] }'
}
echo "median of the ratios $(middle 6)"
echo "with TurboWish's threads alone, which record: $(middle 11)"
