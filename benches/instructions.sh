#!/usr/bin/env bash
# Instructions of each step of the accounting, counted by callgrind. The counts have no noise, so a
# change can be held to them. --check fails if a figure is more than 5 % above
# benches/instructions.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
    cat <<'TEXT'
Usage: benches/instructions.sh [--check | --update]

  --check   fail where a figure is more than 5 % above the baseline
  --update  make the figures the baseline, benches/instructions.txt

Needs valgrind; without it, --check says so and passes. Takes half a minute.
TEXT
}

fail() {
    echo "instructions: $*" >&2
    exit 1
}

mode=${1:-}
case $mode in
-h | --help) usage && exit 0 ;;
'' | --check | --update) ;;
*) usage >&2 && exit 2 ;;
esac
if ! command -v valgrind >/dev/null; then
    [[ $mode == --check ]] || fail "valgrind is missing: install the Debian package valgrind"
    echo "instructions: not counted, for valgrind is missing" >&2
    exit 0
fi

baseline=benches/instructions.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

cargo build --quiet --release --example instructions
program=target/release/examples/instructions

# count NAME OPERATIONS: a line of the baseline.
count() {
    env TURBOWISH=on TURBOWISH_REPORT= valgrind --tool=callgrind --callgrind-out-file="$work/out" \
        --toggle-collect='*instructions::measured*' "$program" "$1" >"$work/log" 2>&1 || fail "$1: $(tail -3 "$work/log")"
    local all
    all=$(sed -n 's/^.*Collected : //p' "$work/log")
    [[ $all -gt 0 ]] || fail "$1: callgrind has counted nothing"
    awk -v name="$1" -v all="$all" -v n="$2" 'BEGIN { printf "%-30s %8.1f\n", name, all / n }'
}

while IFS=$'\t' read -r name operations; do
    count "$name" "$operations"
done < <("$program") | tee "$work/figures"

if [[ $mode == --update ]]; then
    {
        echo "# Instructions an operation, by benches/instructions.sh --update; x86_64, $(rustc --version | cut -d ' ' -f 1-2)."
        cat "$work/figures"
    } >"$baseline"
elif [[ $mode == --check ]]; then
    awk '
        /^#/ { next }
        { figure = $NF; name = $0; sub(/ +[0-9.]+$/, "", name) }
        FNR == NR { before[name] = figure; next }
        !(name in before) { print "instructions: no baseline of: " name; missed = 1; next }
        { seen[name] = 1 }
        figure > before[name] * 1.05 { printf "instructions: %s: %.1f, more than 5 %% above %.1f\n", name, figure, before[name]; missed = 1 }
        END { for (name in before) if (!(name in seen)) { print "instructions: no longer counted: " name; missed = 1 } exit missed }
    ' "$baseline" "$work/figures" >&2 || fail "compare with $baseline; --update where the price is worth paying"
fi
