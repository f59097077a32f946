#!/usr/bin/env bash
# What karst exports, read by other people's readers: pyarrow, DuckDB, the sqlite3 shell, the CloudEvents SDK and its rules as a JSON schema.
# exports.sh BUILD_DIR [DIR]. Makes a log of its own (DIR/data). Ends with "N passed, N failed"; exit 4: the readers cannot be installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: exports.sh BUILD_DIR [DIR]}" && pwd)
for program in karst karst_parquet_sample; do
  [ -x "$build/$program" ] || { echo "exports.sh: there is no program $build/$program; build it first (tools/build)" >&2; exit 2; }
done
command -v sqlite3 > /dev/null || { echo "exports.sh: sqlite3 is not in PATH; tools/dev/install installs it" >&2; exit 4; }
"$here/build.sh" "${KARST_EXPORTS:-$HOME/.cache/karst-exports}" || { echo "exports.sh: the readers could not be installed" >&2; exit 4; }
python=${KARST_EXPORTS:-$HOME/.cache/karst-exports}/venv/bin/python
work=${2:-$(mktemp -d -t karst-exports.XXXXXX)}; mkdir -p "$work"
code=0; "$python" "$here/exports.py" "$build" "$work" || code=$?
if [ $code = 0 ] && [ $# -lt 2 ]; then rm -rf "$work"; elif [ $code != 0 ]; then echo "kept for a look: $work" >&2; fi
exit $code
