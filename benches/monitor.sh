#!/usr/bin/env bash
# Processor time of TurboWish's own threads, the monitor's and those that answer consoles, in
# percent of a core: of a small program, and of the kv example idle and under load, without
# and with a console attached. The kernel's nanoseconds of each thread (schedstat) are read at the
# beginning and at the end of a round; beside them stands what the program says of itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/monitor.sh [--no-build] [SECONDS [CASE...]]

  SECONDS  length of a round, at least 10   [default: 30]
  CASE     small, kv, kv-console, load, load-console   [default: all]

Goals: small and kv 0.5, load 1, with a console 1.5 % of a core. Builds are kept in target/bench.
TEXT
}

fail() {
    echo "monitor: $*" >&2
    exit 1
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
built=
[[ ${1:-} != --no-build ]] || { built=1; shift; }
seconds=${1:-30}
[[ $seconds =~ ^[1-9][0-9]+$ ]] || { usage >&2; exit 2; }
shift || true
cases=("$@")
((${#cases[@]})) || cases=(small kv kv-console load load-console)

bench=$PWD/target/bench
work=$(mktemp -d)
session=monitor-$$
program=
load=

end_console() {
    # A tmux server of our own: no other session can be on it.
    tmux -L "$session" kill-server 2>/dev/null || true
}

end_program() {
    local pid
    for pid in $load $program; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    load='' program=''
}

clean_up() {
    end_console
    end_program
    rm -rf "$work"
}
trap clean_up EXIT

build() {
    mkdir -p "$bench"
    cargo build --quiet --release -p turbowish-kv
    cp target/release/kv "$bench/kv-armed"
    cargo build --quiet --release -p turbowish-kv --example load
    cp target/release/examples/load "$bench/kv-load"
    cargo build --quiet --release -p turbowish-cli
    cp target/release/turbowish "$bench/turbowish"
    # Two tasks that hang.
    cargo build --quiet --release --features server --example hung
    cp target/release/examples/hung "$bench/hung"
}

# Sets $program, and $port of kv.
start() {
    if [[ $1 == small ]]; then
        "$bench/hung" >"$work/out" 2>"$work/err" &
        program=$!
        return
    fi
    : >"$work/out"
    "$bench/kv-armed" --port 0 --dir "$work/data" >"$work/out" 2>"$work/err" &
    program=$!
    for _ in $(seq 100); do
        port=$(sed -n 's/^kv: listening on .*://p' "$work/out")
        [[ -z $port ]] || return 0
        sleep 0.05
    done
    fail "kv does not say where it listens: $(cat "$work/err")"
}

open_console() {
    tmux -L "$session" -f /dev/null new-session -d -x 200 -y 50 "$bench/turbowish top $program"
    for _ in $(seq 200); do
        ! tmux -L "$session" capture-pane -p 2>/dev/null | grep -q LIVE || return 0
        sleep 0.05
    done
    fail "the console is not attached"
}

# Nanoseconds of processor time so far of the threads of TurboWish.
spent() {
    local task all=0 ns
    for task in /proc/"$program"/task/*; do
        [[ $(<"$task/comm") == turbowish* ]] || continue
        read -r ns _ <"$task/schedstat"
        all=$((all + ns))
    done
    echo "$all"
}

# What the program says: the monitor's share of a core over the last 10 s, in percent.
said() {
    "$bench/turbowish" query procs "$program" --window 10s --format json |
        sed -n 's/.*"monitor_ppm":\([0-9]*\).*/\1/p' | awk '{ printf "%.2f", $1 / 10000 }'
}

[[ -n $built ]] || build
printf '%-14s  %8s  %8s\n' CASE 'OWN %' 'SAID %'
for name in "${cases[@]}"; do
    start "${name%%-*}"
    [[ $name != *-console ]] || open_console
    if [[ $name == load* ]]; then
        "$bench/kv-load" "127.0.0.1:$port" $((seconds + 15)) >/dev/null &
        load=$!
    fi
    sleep 3
    before=$(spent)
    begin=$(date +%s%N)
    sleep "$seconds"
    after=$(spent)
    end=$(date +%s%N)
    awk -v name="$name" -v ns=$((after - before)) -v time=$((end - begin)) -v said="$(said)" \
        'BEGIN { printf "%-14s  %8.2f  %8s\n", name, ns / time * 100, said }'
    [[ $name != *-console ]] || end_console
    end_program
done
