#!/usr/bin/env bash
# Every rule of deploy/crds before a real API server: crds.sh BUILD_DIR [DIR]. BUILD_DIR holds the program `karst`, whose reader of
# manifests is compared. What is checked: crds.py. Ends with "N passed, N failed". Exit 0: all passed; 1: some failed; 4: no control plane.
set -euo pipefail
source "$(dirname "$0")/parts.sh"
tools_needed python3
start_plane
k apply -f "$root/deploy/crds" > /dev/null
k wait --for=condition=Established crd --all --timeout=30s > /dev/null
take_lines crds python3 "$here/crds.py" "$karst" "$plane/kubeconfig.admin" "$work"
