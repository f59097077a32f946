#!/usr/bin/env bash
# cluster.sh [PODS...]: pods created → all bound, on a real control plane with KWOK and the real kube-scheduler, raised to 2,000 requests/s
# as the deployment's controller is. Default: 500 2000 5000. For each count a control plane of its own; the pods are one Deployment, asked for
# while karst runs and is ready. Prints seconds until the last pod has its node, nodes, and what karst used: peak resident memory, CPU seconds.
# Environment: BUILD (folder of the program karst; default build/release), POD_CPU (default 1), POD_MEMORY (default 1Gi).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
karst=${BUILD:-$root/build/release}/karst
here=$root/tests/cluster
work=$(mktemp -d -t karst-bench-cluster.XXXXXX)
karst_pid=0
finish() {
  set +e
  [ $karst_pid = 0 ] || { kill -9 $karst_pid; wait $karst_pid; } 2> /dev/null
  "$here/down.sh" "$work/plane" 2> /dev/null
  rm -rf "$work"
}
trap finish EXIT
k() { kubectl --kubeconfig "$work/plane/kubeconfig.admin" "$@"; }

start_plane() {
  KWOK=1 REQUESTS_PER_SECOND=2000 "$here/up.sh" "$work/plane" 26000 > /dev/null
  k apply -f "$root/deploy/crds" > /dev/null
  k wait --for=condition=Established crd --all --timeout=30s > /dev/null
  k apply -f - > /dev/null <<K
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
K
}
start_karst() {
  "$karst" run --kubeconfig "$work/plane/kubeconfig.admin" --cloud kwok --data "$work/data" --listen 127.0.0.1:26009 > "$work/karst.out" 2> "$work/karst.err" &
  karst_pid=$!
  for _ in $(seq 300); do curl -fsS http://127.0.0.1:26009/readyz > /dev/null 2>&1 && return; sleep 0.1; done
  tail -5 "$work/karst.err" >&2; exit 4
}
cpu_seconds() { awk -v hz="$(getconf CLK_TCK)" '{ printf "%.2f", ($14 + $15) / hz }' "/proc/$karst_pid/stat"; }
peak_mib() { awk '/^VmHWM/ { printf "%.0f", $2 / 1024 }' "/proc/$karst_pid/status"; }
unbound() { k get pods --field-selector spec.nodeName= --no-headers 2> /dev/null | wc -l; }

run() {
  local pods=$1 start end
  start_plane
  start_karst
  start=$(date +%s%N)
  k apply -f - > /dev/null <<K
apiVersion: apps/v1
kind: Deployment
metadata: {name: load}
spec:
  replicas: $pods
  selector: {matchLabels: {app: load}}
  template:
    metadata: {labels: {app: load}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: none, resources: {requests: {cpu: "${POD_CPU:-1}", memory: ${POD_MEMORY:-1Gi}}}}]
K
  for _ in $(seq 3000); do
    if [ "$(k get deployment load -o jsonpath='{.status.replicas}')" = "$pods" ] && [ "$(unbound)" = 0 ]; then break; fi
    sleep 0.1
  done
  end=$(date +%s%N)
  [ "$(unbound)" = 0 ] || { echo "cluster.sh: $(unbound) of $pods pods have no node" >&2; tail -3 "$work/karst.err" >&2; exit 1; }
  # The API server's own clock, in whole seconds: first pod created to last pod bound.
  local span; span=$(k get pods -o json | jq '[.items[] | {c: (.metadata.creationTimestamp | fromdate),
    b: ([.status.conditions[] | select(.type == "PodScheduled" and .status == "True").lastTransitionTime] | first | fromdate)}] | (map(.b) | max) - (map(.c) | min)')
  printf '%5d pods: %5.1f s as seen from outside (%s s by the pods'"'"' own times), %d nodes; karst: peak %s MiB, %s CPU s\n' \
    "$pods" "$(awk "BEGIN { print ($end - $start) / 1e9 }")" "$span" "$(k get nodes --no-headers | wc -l)" "$(peak_mib)" "$(cpu_seconds)"
  kill -TERM $karst_pid; wait $karst_pid || true; karst_pid=0
  "$here/down.sh" "$work/plane"
  [ -z "${KEEP:-}" ] || cp -r "$work/data" "$work/karst.out" "$work/karst.err" "$KEEP/"
  rm -rf "$work/data"
}

[ $# -gt 0 ] || set -- 500 2000 5000
for pods in "$@"; do run "$pods"; done
