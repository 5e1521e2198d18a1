#!/usr/bin/env bash
# Cost of instrumentation for a server that does real work: requests per second of the kv example
# under redis-benchmark, armed with a console attached against compiled out. Both are run in turn,
# because the machine's speed drifts: the result is the median of the ratios of two neighbouring
# runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/kv-throughput.sh [PAIRS [REQUESTS [TESTS]]]

  PAIRS     pairs of runs, at least 7             [default: 9]
  REQUESTS  requests of each test in one run      [default: 200000]
  TESTS     tests of redis-benchmark, by commas   [default: set,get]

Environment:
  CLIENTS   connections                           [default: 50]
  PIPELINE  requests on their way per connection  [default: 1]

Builds are kept in target/bench. A run of the default takes about two minutes on two cores.
TEXT
}

fail() {
    echo "kv-throughput: $*" >&2
    exit 1
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
pairs=${1:-9}
requests=${2:-200000}
tests=${3:-set,get}
clients=${CLIENTS:-50}
pipeline=${PIPELINE:-1}
[[ $pairs =~ ^[0-9]+$ && $pairs -ge 7 ]] || { usage >&2; exit 2; }
[[ $requests =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }
benches/redis-benchmark --version >/dev/null || exit 1

bench=$PWD/target/bench
work=$(mktemp -d)
session=kv-throughput-$$
server=
console=

end_console() {
    if [[ $console == tmux ]]; then
        # A tmux server of our own: no other session can be on it.
        tmux -L "$session" kill-server 2>/dev/null || true
    elif [[ -n $console ]]; then
        kill "$console" 2>/dev/null || true
        wait "$console" 2>/dev/null || true
    fi
    console=
}

end_server() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    server=
}

clean_up() {
    end_console
    end_server
    rm -rf "$work"
}
trap clean_up EXIT

build() {
    mkdir -p "$bench"
    cargo build --quiet --release -p turbowish-kv --no-default-features
    cp target/release/kv "$bench/kv-out"
    cargo build --quiet --release -p turbowish-kv
    cp target/release/kv "$bench/kv-armed"
    cargo build --quiet --release -p turbowish-cli
    cp target/release/turbowish "$bench/turbowish"
}

# start_server BINARY: sets $server and $port.
start_server() {
    rm -rf "$work/data" "$work/out"
    "$1" --port 0 --dir "$work/data" >"$work/out" 2>"$work/err" &
    server=$!
    for _ in $(seq 100); do
        port=$(sed -n 's/^kv: listening on .*://p' "$work/out")
        [[ -z $port ]] || return 0
        kill -0 "$server" 2>/dev/null || fail "$1 did not start: $(cat "$work/err")"
        sleep 0.05
    done
    fail "$1 does not say where it listens"
}

# A person who looks: `top` on a terminal, or where there is no tmux a query every second.
attach_console() {
    if command -v tmux >/dev/null; then
        console=tmux
        tmux -L "$session" -f /dev/null new-session -d -x 120 -y 40 "$bench/turbowish top $server"
        for _ in $(seq 100); do
            ! tmux -L "$session" capture-pane -p 2>/dev/null | grep -q LIVE || return 0
            sleep 0.05
        done
        fail "the console is not attached: $(tmux -L "$session" capture-pane -p 2>&1 | head -3)"
    fi
    "$bench/turbowish" query procs "$server" >/dev/null || fail "the server cannot be queried"
    while "$bench/turbowish" query procs "$server" --format json >/dev/null 2>&1; do sleep 1; done &
    console=$!
}

# Processor time of the server so far, in clock ticks.
ticks() {
    sed 's/.*) //' "/proc/$server/stat" | awk '{ print $12 + $13 }'
}

load() {
    benches/redis-benchmark -h 127.0.0.1 -p "$port" -t "$tests" -n "$1" -c "$clients" -P "$pipeline" --csv
}

# run NAME: prints requests per second over all tests, and processor time of the server per request in microseconds.
run() {
    start_server "$bench/kv-$1"
    [[ $1 != armed ]] || attach_console
    load $((requests / 10 + 1)) >/dev/null || fail "redis-benchmark failed while warming up"
    local before after
    before=$(ticks)
    load "$requests" >"$work/csv" 2>"$work/err" || fail "redis-benchmark failed: $(cat "$work/err")"
    after=$(ticks)
    ! grep -qi error "$work/csv" "$work/err" || fail "redis-benchmark reports: $(grep -hi error "$work/csv" "$work/err" | head -1)"
    [[ -s $work/csv ]] || fail "redis-benchmark knows no test of: $tests"
    # Where the armed one no longer has a console, it was not measured what the numbers claim.
    [[ $console != tmux ]] || tmux -L "$session" capture-pane -p | grep -q LIVE || fail "the console is gone"
    end_console
    end_server
    awk -F '","' -v n="$requests" -v ticks=$((after - before)) -v hertz="$(getconf CLK_TCK)" '
        NR > 1 { tests += 1; seconds += n / $2 }
        END { printf "%.0f %.2f\n", tests * n / seconds, ticks / hertz / (tests * n) * 1e6 }' "$work/csv"
}

# The middle one of the numbers on stdin, or the mean of the two in the middle.
median() {
    sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

build
echo "$pairs pairs, $requests requests of each of $tests, $clients clients, pipeline $pipeline, $(nproc) cores"
echo "console: $(command -v tmux >/dev/null && echo 'turbowish top in tmux' || echo 'turbowish query every second')"
printf '%4s  %-5s  %12s  %12s  %7s  %10s  %10s\n' PAIR FIRST 'OUT req/s' 'ARMED req/s' RATIO 'OUT us/req' 'ARMED us/req'
for pair in $(seq "$pairs"); do
    if ((pair % 2)); then
        first=out
        run out >"$work/one"
        run armed >"$work/two"
    else
        first=armed
        run armed >"$work/two"
        run out >"$work/one"
    fi
    read -r out_rate out_cost <"$work/one"
    read -r armed_rate armed_cost <"$work/two"
    ratio=$(awk -v a="$armed_rate" -v o="$out_rate" 'BEGIN { printf "%.4f", a / o }')
    echo "$ratio" >>"$work/ratios"
    awk -v a="$armed_cost" -v o="$out_cost" 'BEGIN { printf "%.4f\n", a / o }' >>"$work/costs"
    printf '%4d  %-5s  %12s  %12s  %7s  %10s  %12s\n' "$pair" "$first" "$out_rate" "$armed_rate" "$ratio" "$out_cost" "$armed_cost"
done
printf 'median ratio of throughput, armed with a console / compiled out: %.3f\n' "$(median <"$work/ratios")"
printf 'median ratio of processor time per request: %.3f\n' "$(median <"$work/costs")"
