#!/usr/bin/env bash
# The real kube-scheduler binds every pod of karst's solutions: contract.sh BUILD_DIR [DIR [MANIFEST…]]. BUILD_DIR holds the
# program `karst`; the problems are contract/*.yaml unless named. What is done and what counts: contract.py. The figures are
# left in DIR/figures.md. Ends with "N passed, N failed". Exit 0: all passed; 1: some failed; 4: no control plane.
set -euo pipefail
source "$(dirname "$0")/parts.sh"
tools_needed python3
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- "$here"/contract/*.yaml
start_plane
k apply -f "$root/deploy/crds" > /dev/null  # so that kubectl can read node pools
k wait --for=condition=Established crd --all --timeout=30s > /dev/null
take_lines contract python3 "$here/contract.py" "$karst" "$plane/kubeconfig.admin" "$work" "$@"
