#!/usr/bin/env bash
# What filters that are hard work do to a process with very many tasks: how long each takes, that the hardest is refused, and that a pause
# of 2 s ends while such queries are answered one after the other.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/query-budget.sh [TASKS]

  TASKS  tasks that wait, of examples/crowd.rs  [default: 100000]

Fails if a query is answered that should be refused, or if the pause does not end.
TEXT
}

fail() {
    echo "query-budget: $*" >&2
    exit 1
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
tasks=${1:-100000}
[[ $tasks =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }

cargo build --quiet --release --features server,tokio --example crowd
cargo build --quiet --release -p turbowish-cli
work=$(mktemp -d)
export TURBOWISH_RUNTIME_DIR=$work/sockets TURBOWISH_NO_STATE=1
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
target/release/examples/crowd "$tasks" >"$work/out" &
crowd=$!
pids+=("$crowd")
until [[ -s $work/out ]]; do
    kill -0 "$crowd" 2>/dev/null || fail "crowd ended"
    sleep 0.1
done

query() {
    target/release/turbowish query tasks "$crowd" --limit 1 --format json --filter "$1"
}

# NAME EXPECTED FILTER: how long the query takes, and whether it is answered or refused.
check() {
    local begun=$EPOCHREALTIME outcome=answered
    query "$3" >"$work/answer" 2>"$work/fault" || outcome=refused
    printf '%-28s %-9s %6d ms\n' "$1" "$outcome" $(((${EPOCHREALTIME/./} - ${begun/./}) / 1000))
    [[ $outcome == "$2" ]] || fail "$1: expected $2: $(cat "$work/fault")"
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

name=$(target/release/turbowish query tasks "$crowd" --limit 1 --filter state:waiting --columns task --format csv | tail -n 1 | tr -d '\r"')
name=${name##*,}
target/release/turbowish pause "$crowd" "$name" --for 2s
begun=$EPOCHREALTIME
while ((${EPOCHREALTIME/./} - ${begun/./} < 6000000)); do
    query "$hard" >/dev/null 2>&1 || true
done &
pids+=("$!")
sleep 4
if target/release/turbowish resume "$crowd" "$name" 2>"$work/fault"; then
    fail "a pause of 2 s was held for more than 4 s"
fi
grep -q "not paused" "$work/fault" || fail "$(cat "$work/fault")"
echo "a pause of 2 s ended while queries were answered"
