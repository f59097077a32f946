#!/usr/bin/env bash
# Every rule of deploy/crds before a real API server: crds.sh BUILD_DIR [DIR]. BUILD_DIR holds the program `karst`, whose reader of
# manifests is compared. What is checked: crds.py. Ends with "N passed, N failed". Exit 0: all passed; 1: some failed; 4: no control plane.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
karst=$(cd "${1:?usage: crds.sh BUILD_DIR [DIR]}" && pwd)/karst
[ -x "$karst" ] || { echo "crds.sh: there is no program $karst; build it first (tools/build)" >&2; exit 2; }
for tool in kubectl openssl curl python3; do
  command -v $tool > /dev/null || { echo "crds.sh: $tool is not in PATH; tools/dev/install installs it" >&2; exit 4; }
done
own_work=no; [ $# -ge 2 ] || own_work=yes
work=${2:-$(mktemp -d -t karst-crds.XXXXXX)}; mkdir -p "$work"; work=$(cd "$work" && pwd)
finish() {
  local code=$? passed failed
  set +e
  trap - EXIT INT TERM
  "$here/down.sh" "$work/plane"
  passed=$(grep -c '^ok ' "$work/lines"); failed=$(grep -c '^not ok ' "$work/lines")
  if [ $code != 0 ] && [ "$failed" = 0 ]; then failed=1; echo "not ok the test of the CRDs ended early (exit $code)"; fi
  if [ "$failed" != 0 ]; then echo "kept for a look: $work"; elif [ $own_work = yes ]; then rm -rf "$work"; fi
  echo "$passed passed, $failed failed"
  [ $code = 4 ] && exit 4
  [ "$failed" = 0 ] && exit 0
  exit 1
}
: > "$work/lines"
trap finish EXIT
trap 'exit 130' INT TERM
"$here/build.sh" || { echo "crds.sh: the control plane's programs could not be built" >&2; exit 4; }
"$here/up.sh" "$work/plane" "$((20000 + RANDOM % 1200 * 10))" > /dev/null || exit 4
admin=$work/plane/kubeconfig.admin
kubectl --kubeconfig "$admin" apply -f "$root/deploy/crds" > /dev/null
kubectl --kubeconfig "$admin" wait --for=condition=Established crd --all --timeout=30s > /dev/null
python3 "$here/crds.py" "$karst" "$admin" "$work" | tee "$work/lines"
