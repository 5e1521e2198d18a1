#!/usr/bin/env bash
# Cost of an open console for the observed program: throughput of one process with `turbowish top`
# on a terminal against the same process without it. The console is opened and closed in turn,
# because the machine's speed drifts: the result is the median of the ratios of neighbouring rounds.
# Pairs in which the machine's host took much of the processor time (steal) are shown, and do not
# count.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/console-open.sh [ROUNDS [SECONDS]]

  ROUNDS   pairs of rounds, with and without a console  [default: 15]
  SECONDS  length of a round                            [default: 10]

Environment:
  PROGRAM  crowd: 100,000 tasks that wait in 500 procs, and some that work (examples/crowd.rs)
           kv: the key-value server, a load of 50 connections       [default: crowd]
  TASKS    tasks of crowd that wait                     [default: 100000]
  WORKERS  threads of crowd's runtime                   [default: half of the cores]
  VIEW     the console's table, 1 to 5                  [default: 2 for crowd, 1 for kv]

The goal is a ratio of 0.98. Builds are kept in target/bench. A run of the default takes about six minutes.
TEXT
}

fail() {
    echo "console-open: $*" >&2
    exit 1
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
# Of all cores, in percent: a pair with more does not count (*).
most_stolen=5
rounds=${1:-15}
seconds=${2:-10}
program=${PROGRAM:-crowd}
tasks=${TASKS:-100000}
half=$((($(nproc) + 1) / 2))
workers=${WORKERS:-$half}
[[ $rounds =~ ^[1-9][0-9]*$ && $seconds =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }
[[ $program == crowd || $program == kv ]] || { usage >&2; exit 2; }
[[ $program == crowd ]] && view=${VIEW:-2} || view=${VIEW:-1}
command -v tmux >/dev/null || fail "tmux is missing: the console needs a terminal; install the Debian package tmux"

bench=$PWD/target/bench
work=$(mktemp -d)
session=console-open-$$-0
opened=0
server=

end_console() {
    # A tmux server of our own: no other session can be on it.
    tmux -L "$session" kill-server 2>/dev/null || true
}

clean_up() {
    end_console
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap clean_up EXIT

screen() {
    tmux -L "$session" capture-pane -p 2>/dev/null
}

build() {
    mkdir -p "$bench"
    if [[ $program == crowd ]]; then
        cargo build --quiet --release --features server,tokio --example crowd
        cp target/release/examples/crowd "$bench/crowd"
    else
        cargo build --quiet --release -p turbowish-kv
        cp target/release/kv "$bench/kv-armed"
        cargo build --quiet --release -p turbowish-kv --example load
        cp target/release/examples/load "$bench/kv-load"
    fi
    cargo build --quiet --release -p turbowish-cli
    cp target/release/turbowish "$bench/turbowish"
}

# Sets $server, and for kv $port.
start_program() {
    : >"$work/operations"
    : >"$work/out"
    if [[ $program == crowd ]]; then
        "$bench/crowd" "$tasks" "$workers" >"$work/operations" 2>"$work/err" &
    else
        "$bench/kv-armed" --port 0 --dir "$work/data" >"$work/out" 2>"$work/err" &
    fi
    server=$!
    for _ in $(seq 600); do
        kill -0 "$server" 2>/dev/null || fail "$program did not start: $(cat "$work/err")"
        if [[ $program == crowd ]]; then
            [[ ! -s $work/operations ]] || return 0
        else
            port=$(sed -n 's/^kv: listening on .*://p' "$work/out")
            [[ -z $port ]] || return 0
        fi
        sleep 0.1
    done
    fail "$program does not say that it has started"
}

open_console() {
    # Each has a server of its own: the one before may not be gone yet.
    opened=$((opened + 1))
    session=console-open-$$-$opened
    tmux -L "$session" -f /dev/null new-session -d -x 200 -y 50 "$bench/turbowish top $server"
    for _ in $(seq 200); do
        if screen | grep -q LIVE; then
            tmux -L "$session" send-keys "$view"
            return
        fi
        sleep 0.05
    done
    fail "the console is not attached: $(screen | head -3)"
}

# What crowd had done at a time, in milliseconds since the epoch.
done_at() {
    awk -v at="$1" '$1 <= at { n = $2; t = $1 } END { print n, t }' "$work/operations"
}

# Processor time of the program so far, in clock ticks.
ticks() {
    sed 's/.*) //' "/proc/$server/stat" | awk '{ print $12 + $13 }'
}

# Operations per second over one round.
measure() {
    if [[ $program == kv ]]; then
        "$bench/kv-load" "127.0.0.1:$port" "$seconds" || fail "the load has failed"
        return
    fi
    local begin before after t u
    begin=$(date +%s%3N)
    sleep "$seconds"
    read -r before t < <(done_at "$begin")
    read -r after u < <(done_at "$(date +%s%3N)")
    awk -v n=$((after - before)) -v ms=$((u - t)) 'BEGIN { printf "%.0f\n", n * 1000 / ms }'
}

# Processor time of all of the machine so far, in clock ticks: all of it, and what its host took away.
machine() {
    awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print all, $9 }' /proc/stat
}

# The middle one of the numbers on stdin, or the mean of the two in the middle.
median() {
    sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# round closed|open: operations per second, the share of one core that the program used, and the share of all cores that the host took away,
# in percent.
round() {
    [[ $1 == closed ]] || open_console
    # Rows that were asked for have come, and what the console needed to start is over.
    sleep 2
    local before after rate all stolen all_after stolen_after
    before=$(ticks)
    read -r all stolen < <(machine)
    rate=$(measure)
    after=$(ticks)
    read -r all_after stolen_after < <(machine)
    if [[ $1 == open ]]; then
        # Without a console it was not measured what the numbers claim.
        screen | grep -q LIVE || fail "the console is gone: $(screen | head -3)"
        end_console
    fi
    awk -v rate="$rate" -v ticks=$((after - before)) -v hertz="$(getconf CLK_TCK)" -v seconds="$seconds" \
        -v all=$((all_after - all)) -v stolen=$((stolen_after - stolen)) '
        BEGIN { printf "%s %.1f %.1f\n", rate, ticks / hertz / seconds * 100, stolen / all * 100 }'
}

build
start_program
case $program in
crowd) echo "crowd: $tasks tasks that wait, $workers workers" ;;
kv) echo "kv: 50 connections" ;;
esac
echo "$rounds pairs of rounds of $seconds s, view $view, 200x50, $(nproc) cores"
printf '%4s  %-6s  %12s  %12s  %7s  %8s  %8s  %8s\n' PAIR FIRST 'CLOSED op/s' 'OPEN op/s' RATIO 'CLOSED %' 'OPEN %' 'STOLEN %'
for pair in $(seq "$rounds"); do
    # Whoever is first, is so every other time.
    if ((pair % 2)); then first=closed second=open; else first=open second=closed; fi
    round "$first" >"$work/$first"
    round "$second" >"$work/$second"
    read -r closed closed_use closed_stolen <"$work/closed"
    read -r open open_use open_stolen <"$work/open"
    ratio=$(awk -v o="$open" -v c="$closed" 'BEGIN { printf "%.4f", o / c }')
    stolen=$(printf '%s\n' "$closed_stolen" "$open_stolen" | sort -g | tail -1)
    if awk -v stolen="$stolen" -v most="$most_stolen" 'BEGIN { exit !(stolen <= most) }'; then
        echo "$ratio" >>"$work/ratios"
    else
        stolen="$stolen *"
    fi
    printf '%4d  %-6s  %12s  %12s  %7s  %8s  %8s  %8s\n' "$pair" "$first" "$closed" "$open" "$ratio" "$closed_use" "$open_use" "$stolen"
done
[[ -s $work/ratios ]] || fail "no pair counts: the machine's host took more than $most_stolen % of the processors away in each; try again later"
ratio=$(median <"$work/ratios")
printf 'median ratio of throughput, console open / closed, of %d pairs: %.3f; goal 0.98: %s\n' "$(wc -l <"$work/ratios")" "$ratio" \
    "$(awk -v ratio="$ratio" 'BEGIN { print (ratio >= 0.98 ? "met" : "MISSED") }')"
