#!/usr/bin/env bash
# What karst exports, judged by somebody else's verifier (tests/audit/verifier, over golang.org/x/mod/sumdb): proof.sh BUILD_DIR.
# Ends with "N passed, N failed". Needs go. About a minute.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
karst=$build/karst
for program in "$karst" "$build/karst_numbered_log"; do
  [ -x "$program" ] || { echo "proof.sh: there is no program $program; build it first (tools/build)" >&2; exit 2; }
done
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
cp "$data/checkpoint" "$work/old"  # which the daemon signed by itself
check "the daemon's own checkpoint" "$karst" audit verify --key "$key" "$work/old"
check "a second run" run
size=$(sed -n 2p "$work/old")
cp -r "$data" "$work/turned"
check "tiles" "$karst" audit export --format tiles --out "$work/tiles" "${sign[@]}"
"$karst" audit prove --from "$size" "${sign[@]}" > "$work/growth"
"$karst" audit export "${sign[@]}" > "$work/whole"
"$karst" audit export --redact workloads "${sign[@]}" > "$work/withheld"
"$karst" audit export --kind decisions --redact LaunchRequested,NodeClassObserved "${sign[@]}" > "$work/part"
"$karst" audit prove 1 "${sign[@]}" > "$work/one"
for what in tiles growth whole withheld part one; do
  check "our own verifier on $what" "$karst" audit verify --key "$key" "$work/$what"
done
check "our own verifier with no network" unshare -n "$karst" audit verify --key "$key" "$work/whole"
check "our own verifier since the old checkpoint" "$karst" audit verify --key "$key" --since "$work/old" "$work/tiles"

judge() {  # judge FILE…: what the other verifier says of them, counted
  "$work/verifier" "$key" "$@" > "$work/judged" || true
  cat "$work/judged"
  if [[ $(tail -n 1 "$work/judged") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
}
judge "$work/tiles" "$work/old" "$work/growth" "$work/whole" "$work/withheld" "$work/part" "$work/one"

# The same log, trimmed: its head, its growth and what it still has, from itself; what it has not any more, from the archive.
archive=(--archive "$work/archive")
check "an archive" "$karst" log archive --data "$data" "${archive[@]}"
check "a dry run" "$karst" log trim --data "$data" "${archive[@]}" --keep 1ms --dry-run
check "trimming" "$karst" log trim --data "$data" "${archive[@]}" --keep 1ms
check "the rest into the archive" "$karst" log archive --data "$data" "${archive[@]}"
rm -rf "$data/index" "$work/tiles"
check "deciding again, from the baseline on" "$karst" replay --verify --data "$data"
check "the whole log again" "$karst" log restore --data "$work/again" "${archive[@]}"
check "deciding again, all of it" "$karst" replay --verify --data "$work/again"
again=(--data "$work/again" --signing-key "$work/key")
"$karst" audit checkpoint "${sign[@]}" > "$work/head"
"$karst" audit checkpoint "${again[@]}" > "$work/head-again"
check "one head, trimmed or whole" cmp "$work/head" "$work/head-again"
"$karst" audit prove --from "$size" "${sign[@]}" > "$work/growth" 2> /dev/null
"$karst" audit export "${sign[@]}" > "$work/rest" 2> /dev/null
"$karst" audit export "${again[@]}" > "$work/whole"
"$karst" audit prove 1 "${again[@]}" > "$work/one"
check "tiles of the whole log" "$karst" audit export --format tiles --out "$work/tiles" "${again[@]}"
check "tiles of the trimmed log" "$karst" audit export --format tiles --out "$work/tiles-rest" "${sign[@]}"
check "one tree" diff -r "$work/tiles/tile/0" "$work/tiles-rest/tile/0"
for what in tiles tiles-rest growth rest whole one; do
  check "our own verifier on $what after trimming" "$karst" audit verify --key "$key" "$work/$what"
done
judge "$work/tiles" "$work/old" "$work/growth" "$work/whole" "$work/rest" "$work/one"

# Nothing goes that the archive has not: changed bytes, a missing segment.
segment=$(ls "$work/archive"/*.seg | head -n 1)
cp "$segment" "$work/segment"
printf karst | dd of="$segment" bs=1 seek=$(($(stat -c %s "$segment") / 2)) conv=notrunc status=none
ends() {  # ends CODE WORDS COMMAND…: with that exit code, and these words on stderr
  local code=0
  "${@:3}" > "$work/ended.out" 2> "$work/ended.err" || code=$?
  cat "$work/ended.out" "$work/ended.err"
  [ $code = "$1" ] && grep -qF "$2" "$work/ended.err"
}
trim_again=("$karst" log trim --data "$work/again" "${archive[@]}" --keep 1ms)
check "a damaged segment is refused" ends 3 "$segment" "${trim_again[@]}"
rm "$segment"
check "a missing segment is refused" ends 3 "is missing" "${trim_again[@]}"
cp "$work/segment" "$segment"
check "and is taken when it is back" "$karst" log trim --data "$work/again" "${archive[@]}" --keep 1ms

# Another key: what the first one signed stays good, the new one signs what came since, and the log says when it changed.
second=$("$karst" audit keygen --out "$work/key2" --name example.com/karst-2)
turned=(--data "$work/turned" --signing-key "$work/key2")
check "a run with another key" "$karst" run --embedded --for 2s --speed 50 "${turned[@]}"
"$karst" audit export "${turned[@]}" > "$work/whole"
"$karst" audit prove --from "$size" "${turned[@]}" > "$work/growth"
says() { "$karst" audit verify --key "$second" --since "$work/old" "$work/$1" | tee "$work/verified" && grep -qF "$2" "$work/verified"; }
check "the trail since a head of the first key" says whole " its key is $second"
check "its growth" says growth "since the checkpoint of size $size the log only grew"
check "the first key still proves the old head" "$karst" audit verify --key "$key" "$work/old"
for pair in "$key $work/whole" "$second $work/old"; do
  check "and neither key what the other signed" ends 1 "it is not signed with the given key" "$karst" audit verify --key "${pair% *}" "${pair##* }"
done
cp "$work/turned/checkpoint" "$work/new"
check "one more run with it" "$karst" run --embedded --for 2s --speed 50 "${turned[@]}"
"$karst" audit prove --from "$(sed -n 2p "$work/new")" "${turned[@]}" > "$work/growth"
"$karst" audit export "${turned[@]}" > "$work/whole"
check "tiles under another key" "$karst" audit export --format tiles --out "$work/tiles-turned" "${turned[@]}"
key=$second
judge "$work/tiles-turned" "$work/new" "$work/growth" "$work/whole"

# A tree with a level more than the others have, and with tiles from x001 on: 300,000 small events.
big=(--data "$work/big" --signing-key "$work/key2")
check "70,000 events" "$build/karst_numbered_log" "$work/big" 70000
"$karst" audit checkpoint "${big[@]}" > "$work/old-big"
check "230,000 more" "$build/karst_numbered_log" "$work/big" 230000
"$karst" audit prove --from "$(sed -n 2p "$work/old-big")" "${big[@]}" > "$work/growth-big"
"$karst" audit prove 150000 "${big[@]}" > "$work/one-big"
check "its tiles" "$karst" audit export --format tiles --out "$work/tiles-big" "${big[@]}"
check "a tile of level 2, and one of a thousand" test -f "$work"/tiles-big/tile/2/000.p/* -a -f "$work/tiles-big/tile/0/x001/000"
check "our own verifier on them" "$karst" audit verify --key "$key" --since "$work/old-big" "$work/tiles-big"
judge "$work/tiles-big" "$work/old-big" "$work/growth-big" "$work/one-big"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
