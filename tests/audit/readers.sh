#!/usr/bin/env bash
# Readers beside a running daemon, where nothing can be written but one scratch folder: readers.sh BUILD_DIR. The whole file system, every
# mount of it, is read-only for them (a mount namespace of their own). Ends with "N passed, N failed[, N skipped]". Needs root, or another right to
# make mount namespaces: without it they read the ordinary way and that counts as skipped, which in CI is a failure. About 20 s.
set -euo pipefail
build=$(cd "$1" && pwd)
karst=$build/karst
[ -x "$karst" ] || { echo "readers.sh: there is no program $karst; build it first (tools/build)" >&2; exit 2; }
work=$(mktemp -d)
daemon=
cleanup() { [ -z "$daemon" ] || kill -9 "$daemon" 2> /dev/null || true; rm -rf "$work"; }
trap cleanup EXIT
passed=0 failed=0
check() {  # check WHAT COMMAND…: it ends with 0
  local what=$1; shift
  if "$@" > "$work/said" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $what"; tail -n 20 "$work/said"; fi
}

# As whoever calls, with every mount read-only, and a fresh file system at $work/scratch alone.
read_only() {
  unshare --mount bash -c '
    set -e
    scratch=$1; shift
    mount --make-rprivate /
    while read -r place; do mount -o remount,bind,ro "$place"; done < <(findmnt -rno TARGET | sort -u)
    mount -t tmpfs scratch "$scratch"
    exec "$@"' read_only "$work/scratch" "$@"
}
mkdir "$work/scratch"
skipped=0
if ! read_only true 2> "$work/said"; then
  echo "readers.sh: no read-only mount namespace can be made here ($(tail -n 1 "$work/said")); run it as root" >&2
  skipped=1
  read_only() { "$@"; }
fi

data=$work/data
"$karst" run --embedded --data "$data" --speed 20 --listen 127.0.0.1:0 2> "$work/story" & daemon=$!
joined() { grep -qm 1 "is ready for pods" < <(tail -n +1 -F --pid="$daemon" "$work/story" 2> /dev/null); }
check "a node joins: there is something to explain" joined

if [ $skipped = 0 ]; then
  cannot() { ! read_only "$@"; }
  check "control: nothing can be written beside the data" cannot touch "$work/x"
  check "control: nor in /tmp, /dev/shm and the home folder" cannot sh -c 'touch /tmp/x || touch /dev/shm/x || touch "$HOME/x"'
  check "control: the scratch folder can be written" read_only touch "$work/scratch/x"
  says_scratch() { ! read_only env -u TMPDIR "$karst" state --data "$data" 2> "$work/err" && grep -q -- "--scratch DIR" "$work/err"; }
  check "without a scratch folder the error names the option" says_scratch
fi

scratch=(--scratch "$work/scratch")
"$karst" log tail -n 1 -o json --data "$data" > "$work/last"
position=$(grep -o '"position":[0-9]*' "$work/last" | head -n 1 | cut -d: -f2)
claim=$("$karst" state claims --data "$data" -o json | grep -o '"name": "[^"]*"' | head -n 1 | cut -d'"' -f4)
check "there is a claim to explain" test -n "$claim"
check "state" read_only "$karst" state --data "$data" "${scratch[@]}"
check "state --at" read_only "$karst" state --data "$data" "${scratch[@]}" --at "$position" pods
check "explain" read_only "$karst" explain --data "$data" "${scratch[@]}" "nodeclaim/$claim"
check "log stat" read_only "$karst" log stat --data "$data" "${scratch[@]}"
check "log tail" read_only "$karst" log tail --data "$data" "${scratch[@]}"
check "replay --until" read_only "$karst" replay --until "$position" --data "$data" "${scratch[@]}"
check "audit checkpoint" read_only "$karst" audit checkpoint --data "$data" "${scratch[@]}"
check "TMPDIR does as well" read_only env TMPDIR="$work/scratch" "$karst" log stat --data "$data"
read_only "$karst" audit export --data "$data" "${scratch[@]}" > "$work/trail" 2> "$work/err" || true
check "audit export, whole and proven" "$karst" audit verify "$work/trail"
nothing_said() { cat "$work/err"; [ ! -s "$work/err" ]; }
check "and recorded by the daemon" nothing_said
check "the daemon still runs" kill -0 "$daemon"
kill -TERM "$daemon"; code=0; wait "$daemon" || code=$?; daemon=
check "it ended in peace" test "$code" = 0
check "who took the trail home is in it" grep -q "audit export --format jsonl" <("$karst" log dump --data "$data" 2> /dev/null)
check "and it decides the same again" "$karst" replay --verify --data "$data"
[ $skipped = 0 ] && echo "$passed passed, $failed failed" || echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
