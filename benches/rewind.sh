#!/usr/bin/env bash
# Rewinding a recording of a server under load: random instants are shown as they were live, and how
# long each takes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/rewind.sh [SECONDS [INSTANTS]]

  SECONDS   length of the recording  [default: 60]
  INSTANTS  how many to go to        [default: 1000]

Fails if an instant is not shown as it was.
TEXT
}

[[ ${1:-} != -h && ${1:-} != --help ]] || { usage; exit 0; }
seconds=${1:-60} instants=${2:-1000}
[[ $seconds$instants =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }

cargo build --quiet -p turbowish-kv --bin kv --example load
cargo test --quiet -p turbowish-cli --test cli --no-run
bin=${CARGO_TARGET_DIR:-target}/debug
work=$(mktemp -d)
export TURBOWISH_RUNTIME_DIR=$work/sockets
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
"$bin/kv" --port 0 --dir "$work/data" >"$work/out" &
server=$!
pids+=("$server")
until [[ -s $work/out ]]; do
    kill -0 "$server" 2>/dev/null || { echo "rewind: the server ended" >&2; exit 1; }
    sleep 0.1
done
"$bin/examples/load" "$(sed 's/.* //' "$work/out")" $((seconds + 30)) 4000 >/dev/null &
pids+=("$!")
TURBOWISH_TEST_REWIND="$TURBOWISH_RUNTIME_DIR/$server.sock $seconds 1000 $instants" \
    cargo test --quiet -p turbowish-cli --test cli -- --exact recordings::rewind::each_instant_of_a_recording_is_as_it_was_live --nocapture |
    grep ' instants as they were'
