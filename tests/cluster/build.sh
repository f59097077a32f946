#!/usr/bin/env bash
# Builds the control plane's binaries (etcd, kube-apiserver, kube-scheduler, kube-controller-manager, kwok), helm and a candidate for
# Karpenter's lease with the Go toolchain into $1 (default: ~/.cache/karst-cluster). About 7 minutes on two cores the first time, nothing to do afterwards.
# helm is a tool of the same module, so that the packages of k8s.io are compiled once for all; kwok does not compile with those.
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-$HOME/.cache/karst-cluster}
kwok_version=v0.7.0
export GOTOOLCHAIN=auto # an older go fetches the one that go.mod names
export GOGC=400 # of the compiler: a quarter less time, for some more memory
mkdir -p "$out"
stamp=$(cat go.mod go.sum cmd/*/main.go | sha256sum | cut -d' ' -f1)-$kwok_version
complete() { for name in etcd kube-apiserver kube-scheduler kube-controller-manager kwok helm candidate; do [ -x "$out/$name" ] || return 1; done; }
if complete && [ "$(cat "$out/stamp" 2> /dev/null)" = "$stamp" ]; then exit 0; fi
command -v go > /dev/null || { echo "build.sh: go (1.21 or newer) is not in PATH; install it, or put it there" >&2; exit 4; }
go build -ldflags '-s -w' -o "$out/" ./cmd/... helm.sh/helm/v3/cmd/helm
[ -x "$out/kwok" ] || GOBIN=$out go install "sigs.k8s.io/kwok/cmd/kwok@$kwok_version"
echo "$stamp" > "$out/stamp"
