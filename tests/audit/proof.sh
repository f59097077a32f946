#!/usr/bin/env bash
# What karst exports, judged by somebody else's verifier (tests/audit/verifier, over golang.org/x/mod/sumdb): proof.sh BUILD_DIR.
# Ends with "N passed, N failed". Needs go. About 30 s.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
karst=$build/karst
[ -x "$karst" ] || { echo "proof.sh: there is no program $karst; build it first (tools/build)" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() {  # check WHAT COMMAND…: it ends with 0
  local what=$1; shift
  if "$@" > "$work/said" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $what"; cat "$work/said"; fi
}

(cd "$here/verifier" && go build -o "$work/verifier" .)
data=$work/data key=$("$karst" audit keygen --out "$work/key" --name example.com/karst)
sign=(--data "$data" --signing-key "$work/key")
run() { "$karst" run --embedded --for 4s --speed 50 "${sign[@]}" 2> /dev/null; }
check "a first run" run
"$karst" audit checkpoint "${sign[@]}" > "$work/old"
check "a second run" run
size=$(sed -n 2p "$work/old")
check "tiles" "$karst" audit export --format tiles --out "$work/tiles" "${sign[@]}"
"$karst" audit prove --from "$size" "${sign[@]}" > "$work/growth"
"$karst" audit export "${sign[@]}" > "$work/whole"
"$karst" audit export --redact workloads "${sign[@]}" > "$work/withheld"
"$karst" audit export --kind decisions --redact user-data "${sign[@]}" > "$work/part"
"$karst" audit prove 1 "${sign[@]}" > "$work/one"
for what in tiles growth whole withheld part one; do
  check "our own verifier on $what" "$karst" audit verify --key "$key" "$work/$what"
done
check "our own verifier since the old checkpoint" "$karst" audit verify --key "$key" --since "$work/old" "$work/tiles"

"$work/verifier" "$key" "$work/tiles" "$work/old" "$work/growth" "$work/whole" "$work/withheld" "$work/part" "$work/one" > "$work/judged" || true
cat "$work/judged"
if [[ $(tail -n 1 "$work/judged") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
  passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
else
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
