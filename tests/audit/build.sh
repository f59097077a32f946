#!/usr/bin/env bash
# Makes the virtual environment with the readers that judge exports: build.sh [DIR], by default ~/.cache/karst-exports. Nothing is done
# when it has exactly requirements.txt already. Needs python3 (3.10 or newer) with venv, and pip's package index.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$HOME/.cache/karst-exports}
if cmp -s "$here/requirements.txt" "$dir/installed.txt" && [ -x "$dir/venv/bin/python" ]; then exit 0; fi
echo "tests/audit/build.sh: installing pyarrow, DuckDB and the rest into $dir/venv" >&2
mkdir -p "$dir"; rm -f "$dir/installed.txt"
python3 -m venv --clear "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" >&2
cp "$here/requirements.txt" "$dir/installed.txt"
