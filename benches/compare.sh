#!/usr/bin/env bash
# Cost of tools of this kind, side by side: the same workloads, one process for each tool. Each
# round begins with another variant, because the machine's speed drifts. The result is the processor
# time of the threads that do the application's work: the median of the differences to the plain
# variant of the same round.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/compare.sh [ROUNDS [VARIANT...]]

  ROUNDS   runs of every variant                              [default: 5]
  VARIANT  only these, plain among them; the document stays   [default: all]

Environment:
  LTO       thin or off, which is what cargo has  [default: off]
  REQUESTS  to the HTTP server in one run         [default: 100000]
  MEMORY    parked tasks: yes or no               [default: yes]

Builds are kept in target/bench/peers. Writes the tables of docs/performance.md, those with LTO or those without; what
was measured is left in target/bench/peers/results. A run of the default takes about ten minutes on two cores, after
building.
TEXT
}

fail() {
    echo "compare: $*" >&2
    exit 1
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
rounds=${1:-5}
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }
shift $(($# > 0))
only=("$@")
requests=${REQUESTS:-100000}
memory=${MEMORY:-yes}
lto=${LTO:-off}

# name, package, binary, what it is called with, label; @name is the version of that package.
table='
plain            plain            peer-plain            -                    plain: nothing instrumented
compiled-out     compiled-out     peer-compiled-out     -                    **TurboWish**, compiled out
disarmed         ours             peer-ours             TURBOWISH=off        **TurboWish**, disarmed
armed            ours             peer-ours             TURBOWISH=on         **TurboWish**, armed
attached         ours             peer-ours             PEER_WATCH           **TurboWish**, armed, a console attached
tracing-none     tracing          peer-tracing          PEER_SUBSCRIBER=none tracing @tracing, no subscriber
tracing          tracing          peer-tracing          -                    tracing, registry of tracing-subscriber @tracing-subscriber
await-tree       await-tree       peer-await-tree       -                    await-tree @await-tree
async-backtrace  async-backtrace  peer-async-backtrace  -                    async-backtrace @async-backtrace
hotpath          hotpath          hotpath-calls         -                    hotpath @hotpath
hotpath-future   hotpath          hotpath-future        -                    hotpath, `future = true`
fastrace         fastrace         fastrace-calls        -                    fastrace @fastrace
fastrace-polls   fastrace         fastrace-polls        -                    fastrace, `enter_on_poll`
tokio-metrics    tokio-metrics    peer-tokio-metrics    -                    tokio-metrics @tokio-metrics, per function
console          console          peer-console          -                    console-subscriber @console-subscriber (tasks only)
dial9            dial9            peer-dial9            PEER_DIR             dial9 @dial9 (tasks only)
'
# These see tasks through what tokio has behind a flag.
unstable='console dial9'

export CARGO_INCREMENTAL=0
home=$PWD/target/bench/peers
case $lto in
off) builds=$home settings_said='as cargo has it' marked=() ;;
thin) builds=$home/thin settings_said='with thin LTO' marked=("thin LTO") ;;
*) usage >&2 && exit 2 ;;
esac
[[ $lto == off ]] || export CARGO_PROFILE_RELEASE_LTO=$lto
manifest=$PWD/benches/peers/Cargo.toml
document=$PWD/docs/performance.md
mkdir -p "$builds"
work=$(mktemp -d)
results=$builds/results
server=

end_server() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    server=
}

clean_up() {
    end_server
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

chosen() {
    [[ ${#only[@]} -eq 0 || " ${only[*]} " == *" $1 "* ]]
}

folder() {
    [[ " $unstable " == *" $1 "* ]] && echo "$builds/unstable" || echo "$builds"
}

# build PACKAGE
build() {
    local flags=()
    [[ " $unstable " != *" $1 "* ]] || flags=(env RUSTFLAGS="--cfg tokio_unstable")
    echo "compare: building $1" >&2
    "${flags[@]}" cargo build --quiet --release --manifest-path "$manifest" --target-dir "$(folder "$1")" -p "peer-$1" ||
        fail "$1 does not build"
}

version() {
    sed -n "/^name = \"$1\"\$/{n;s/version = \"\(.*\)\"/\1/p;}" benches/peers/Cargo.lock | tail -1
}

# variant NAME: sets $package, $command and $settings.
variant() {
    local name binary setting label
    read -r name package binary setting label < <(grep -E "^$1 " <<<"$table")
    command=$(folder "$package")/release/$binary
    case $setting in
    -) settings=() ;;
    PEER_WATCH) settings=("PEER_WATCH=$builds/release/peer-watch" TURBOWISH=on) ;;
    PEER_DIR) settings=("PEER_DIR=$work") ;;
    *) settings=("$setting") ;;
    esac
}

# figures ROUND VARIANT: of stdin into the results.
figures() {
    local word name number
    while read -r word name number; do
        [[ $word != peer ]] || echo "figure $1 $2 $name $number" >>"$results"
    done
}

# run ROUND VARIANT WORD...: one process.
run() {
    local round=$1 name=$2
    shift 2
    env "${settings[@]}" "$command" "$@" >"$work/out" 2>"$work/err" || fail "$name $*: $(tail -3 "$work/err")"
    figures "$round" "$name" <"$work/out"
    rm -rf "$work"/dial9-*
}

# The server on one core, its load on another: neither takes the other's caches away.
pin=()
far=()
if command -v taskset >/dev/null && (($(nproc) > 1)); then
    pin=(taskset -c 0)
    far=(taskset -c 1)
fi

# serve NAME PROGRAM...: starts a server; sets $port.
serve() {
    local name=$1
    shift
    port=
    : >"$work/out"
    "${pin[@]}" env "${settings[@]}" "$@" "$command" serve >"$work/out" 2>"$work/err" &
    server=$!
    for _ in $(seq 200); do
        port=$(sed -n 's/^peer port //p' "$work/out")
        [[ -z $port ]] || break
        kill -0 "$server" 2>/dev/null || fail "$name serve: $(tail -3 "$work/err")"
        sleep 0.05
    done
    [[ -n $port ]] || fail "$name does not say where it listens"
}

# http ROUND VARIANT: the cheapest of three processes. One may be dear from its start to its end, by where its memory
# happens to lie.
http() {
    local port each
    for each in 1 2 3; do
        serve "$2"
        "${far[@]}" "$builds/release/peer-load" "$port" "$requests" >>"$work/load" || fail "$2: the load failed"
        end_server
        rm -rf "$work"/dial9-*
    done
    sort -k3,3n "$work/load" | head -1 | figures "$1" "$2"
    rm "$work/load"
}

# instructions VARIANT: of a request, in the thread that serves, by two runs of different length.
instructions() {
    local port each counts=()
    for each in 2000 6000; do
        serve "$1" valgrind --tool=callgrind --separate-threads=yes --callgrind-out-file="$work/counted"
        "${far[@]}" "$builds/release/peer-load" "$port" "$each" alone || fail "$1: the load failed"
        end_server
        rm -rf "$work"/dial9-*
        counts+=("$(sed -n 's/^totals: //p' "$work/counted-01")")
        rm "$work"/counted*
    done
    echo "peer http-instructions $(((counts[1] - counts[0]) / 4000))" | figures 1 "$1"
}

# A million of them only where they fit 12 GB.
parked() {
    local bytes
    run 1 "$1" parked 100000
    bytes=$(sed -n "s/^figure 1 $1 parked-100000 //p" "$results")
    if ((bytes * 1000000 <= 12000000000)); then
        run 1 "$1" parked 1000000
    else
        echo "compare: $1 takes $bytes bytes a task: no million of them" >&2
    fi
}

names=()
for name in $(awk 'NF { print $1 }' <<<"$table"); do
    ! chosen "$name" || names+=("$name")
done
[[ ${names[0]:-} == plain ]] || fail "plain is what the others are compared with: name it too"
for each in load watch table $(for name in "${names[@]}"; do variant "$name"; echo "$package"; done | awk '!seen[$0]++'); do
    build "$each"
done

{
    echo "machine Machine: $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -1), $(nproc) cores, Linux $(uname -r | cut -d - -f 1)."
    echo "machine Compiler: $(rustc --version | cut -d ' ' -f 1-2), \`--release\` $settings_said; tokio $(version tokio), hyper $(version hyper)."
    for name in "${names[@]}"; do
        label=$(grep -E "^$name " <<<"$table" | sed -E 's/^(\S+\s+){4}//')
        while [[ $label =~ @([a-z0-9-]+) ]]; do label=${label/"@${BASH_REMATCH[1]}"/$(version "${BASH_REMATCH[1]}")}; done
        echo "variant $name $label"
    done
} >"$results"

for round in $(seq "$rounds"); do
    for place in $(seq 0 $((${#names[@]} - 1))); do
        name=${names[$(((place + (round - 1) * 5) % ${#names[@]}))]}
        echo "compare: round $round of $rounds, $name ($SECONDS s)" >&2
        variant "$name"
        run "$round" "$name" calls
        http "$round" "$name"
        [[ $round -ne 1 || $memory == no ]] || parked "$name"
        [[ $round -ne 1 ]] || ! command -v valgrind >/dev/null || instructions "$name"
    done
done

if [[ ${#only[@]} -eq 0 && $memory != no ]]; then
    "$builds/release/peer-table" "$results" "$document" "${marked[@]}"
    echo "compare: $document is written" >&2
else
    printf '%s\n' '<!-- compare.sh: from here -->' '<!-- compare.sh: to here -->' >"$work/table"
    "$builds/release/peer-table" "$results" "$work/table"
    cat "$work/table"
fi
