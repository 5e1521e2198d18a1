#!/usr/bin/env bash
# Expensive filters on a process with very many tasks: how long each takes, whether the most
# expensive one is refused, and whether leases and alerts stay on time while such queries are
# answered one after the other.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/query-budget.sh [--debug] [TASKS]

  --debug  programs built without optimization: their slower answers may be refused
  TASKS    tasks that wait, of examples/crowd.rs  [default: 100000]

Fails if a query is answered that should be refused, if a pause of 2 s does not end, or if the alert of a blocked worker is late.
TEXT
}

fail() {
    echo "query-budget: $*" >&2
    exit 1
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
profile=release
if [[ ${1:-} == --debug ]]; then
    profile=debug
    shift
fi
tasks=${1:-100000}
[[ $tasks =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }

if [[ $profile == debug ]]; then
    .ci/build
else
    cargo build --quiet --release --features server,tokio --example crowd
    cargo build --quiet --release -p turbowish-cli
fi
bin=${CARGO_TARGET_DIR:-target}/$profile
work=$(mktemp -d)
export TURBOWISH_RUNTIME_DIR=$work/sockets TURBOWISH_NO_STATE=1
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
"$bin/examples/crowd" "$tasks" 1 6000 >"$work/out" &
crowd=$!
pids+=("$crowd")
until [[ -s $work/out ]]; do
    kill -0 "$crowd" 2>/dev/null || fail "crowd ended"
    sleep 0.1
done

query() {
    "$bin/turbowish" query tasks "$crowd" --limit 1 --format json --filter "$1"
}

# NAME EXPECTED FILTER: how long the query takes, and whether it is answered or refused.
check() {
    local begun=$EPOCHREALTIME outcome=answered
    query "$3" >"$work/answer" 2>"$work/fault" || outcome=refused
    printf '%-28s %-9s %6d ms\n' "$1" "$outcome" $(((${EPOCHREALTIME/./} - ${begun/./}) / 1000))
    [[ $outcome == "$2" || $profile$outcome == debugrefused ]] || fail "$1: expected $2: $(cat "$work/fault")"
    [[ $outcome == answered ]] || grep -q "too much work" "$work/fault" || fail "$1: $(cat "$work/fault")"
}

# COUNT FORMAT: that many of it with a number, joined by |.
any() {
    local nth text
    for ((nth = 0; nth < $1; nth++)); do
        # shellcheck disable=SC2059
        printf -v text "$2" "$nth"
        ((nth == 0)) || printf '|'
        printf '%s' "$text"
    done
}

classes=
for ((nth = 0; nth < 100; nth++)); do classes+='[a-z:_]?'; done
words=$(any 200 'word%d!')
hard=$(any 500 '/%d!/')
check "no filter" answered ""
check "one word" answered "word!"
check "200 words" answered "$words"
check "200 names" answered "task:${words//|/,}"
check "100 optional classes" answered "/^$classes!\$/"
check "500 regular expressions" refused "$hard"

# Runs while leases and alerts are looked at.
while kill -0 "$crowd" 2>/dev/null; do query "$hard" >/dev/null 2>&1 || true; done &
pids+=("$!")
sleep 1

name=$("$bin/turbowish" query tasks "$crowd" --limit 1 --filter state:waiting --columns task --format csv |
    tail -n 1 | tr -d '\r"')
name=${name##*,}
"$bin/turbowish" pause "$crowd" "$name" --for 2s
begun=${EPOCHREALTIME/./}
while "$bin/turbowish" query task "$crowd" "$name" --format json | grep -q '"state": *"paused"'; do
    ((${EPOCHREALTIME/./} - begun < 4000000)) || fail "a pause of 2 s was held for more than 4 s"
    sleep 0.1
done
printf 'a pause of 2 s ended within  %6d ms\n' $(((${EPOCHREALTIME/./} - begun) / 1000))

# A worker is blocked for 6 s in every 9 s. The alert comes after 1 s of them and ends with them: an
# answer that is late by a whole stall would show none.
begun=${EPOCHREALTIME/./} looks=0
until "$bin/turbowish" query alerts "$crowd" --format csv >"$work/alerts" && grep 'blocked.worker' "$work/alerts"; do
    looks=$((looks + 1))
    ((${EPOCHREALTIME/./} - begun < 27000000)) || fail "$looks looks in three stalls have not seen the alert of a blocked worker: $(cat "$work/alerts")"
done
printf 'a blocked worker was found in %5d ms\n' $(((${EPOCHREALTIME/./} - begun) / 1000))
