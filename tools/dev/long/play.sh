# Sourced by the long runs on an AWS-shaped server: builds karst, then `play TITLE ENVIRONMENT... SCRIPT` runs a story of tests/aws and
# prints its figures; `code` is 1 once one of them has failed.
cmake --preset release >&2
cmake --build build/release --target karst --parallel "${KARST_JOBS:-$(nproc)}" >&2
code=0
play() {
  local title=$1 work; shift
  work=$(mktemp -d -t karst-aws.XXXXXX)
  env "${@:1:$#-1}" "${!#}" build/release "$work" > "$work.out" 2>&1 || code=1
  cat "$work.out" >&2
  echo "$title: $(tail -n 1 "$work.out")"
  echo '```'
  grep -E '^(#|not ok)' "$work.out" | grep -v 'control plane, in' || true
  echo '```'
  rm -f "$work.out"
  [ $code != 0 ] || rm -rf "$work"
}
