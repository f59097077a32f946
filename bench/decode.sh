#!/usr/bin/env bash
# decode.sh [BUILD_DIR]: how fast pods come in, beside client-go on the same bytes, in turns. Needs Go, and `tools/build release` with the
# benchmarks (cmake -DKARST_BENCH=ON). Prints three rounds; what counts is the ratio within a round.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build/release}
work=$(mktemp -d -t karst-decode.XXXXXX)
trap 'rm -rf "$work"' EXIT
"$build/bench/bench_decode" --write "$work"
(cd "$root/tests/cluster" && GOTOOLCHAIN=auto go build -o "$work/clientgo" ./bench/decode)
for round in 1 2 3; do
  echo "# round $round"
  (cd "$work" && ./clientgo bare.json full.json)
  "$build/bench/bench_decode"
done
