#!/usr/bin/env bash
# cluster.sh [PODS...]: pods created → all bound, on a real control plane with KWOK and the real kube-scheduler, raised to 2,000 requests/s
# as the deployment's controller is. Default: 500 2000 5000. For each count a control plane of its own; the pods are one Deployment, asked for
# while karst runs and is ready. Prints seconds until the last pod has its node, nodes, and what karst used: peak resident memory, CPU seconds.
# Beside it the floor, in the same control plane: karst is stopped, its nodes stay, the same pods are asked for again. What the API server,
# the deployment's controller and kube-scheduler need for them alone is then left.
# Environment: BUILD (folder of the program karst; default build/release), POD_CPU (default 1), POD_MEMORY (default 1Gi), KEEP (a folder that
# gets karst's data and output).
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
# Asked of the API server itself: a kubectl each tenth of a second takes a third of a core from what is measured.
api() { curl -fsS --cacert "$work/plane/certs/apiserver.crt" -H 'Authorization: Bearer admin-token' "https://127.0.0.1:26002$1"; }
unbound() { api '/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3D&limit=5000' | jq '.items | length'; }
someone_is_unbound() { api '/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3D&limit=1' | jq -e '.items | length > 0' > /dev/null; }

ask_for() {
  k apply -f - > /dev/null <<K
apiVersion: apps/v1
kind: Deployment
metadata: {name: load}
spec:
  replicas: $1
  selector: {matchLabels: {app: load}}
  template:
    metadata: {labels: {app: load}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: none, resources: {requests: {cpu: "${POD_CPU:-1}", memory: ${POD_MEMORY:-1Gi}}}}]
K
}
# Leaves in $seconds how long the last of $1 pods waited for its node.
until_all_are_bound() {
  local start; start=$(date +%s%N)
  ask_for "$1"
  for _ in $(seq 1500); do
    if [ "$(api /apis/apps/v1/namespaces/default/deployments/load | jq '.status.replicas // 0')" = "$1" ] && ! someone_is_unbound; then break; fi
    sleep 0.2
  done
  seconds=$(awk "BEGIN { printf \"%.1f\", ($(date +%s%N) - $start) / 1e9 }")
  [ "$(unbound)" = 0 ] || { echo "cluster.sh: $(unbound) of $1 pods have no node" >&2; tail -3 "$work/karst.err" >&2; exit 1; }
}
remove_the_pods() {
  k delete deployment load --cascade=foreground > /dev/null
  k wait --for=delete pod --all --timeout=300s > /dev/null
}

run() {
  local pods=$1 seconds nodes peak cpu span
  start_plane
  start_karst
  until_all_are_bound "$pods"
  nodes=$(k get nodes --no-headers | wc -l); peak=$(peak_mib); cpu=$(cpu_seconds)
  # The API server's own clock, in whole seconds: first pod created to last pod bound.
  span=$(k get pods -o json | jq '[.items[] | {c: (.metadata.creationTimestamp | fromdate),
    b: ([.status.conditions[] | select(.type == "PodScheduled" and .status == "True").lastTransitionTime] | first | fromdate)}] | (map(.b) | max) - (map(.c) | min)')
  printf '%5d pods: %5.1f s as seen from outside (%s s by the pods'"'"' own times), %d nodes; karst: peak %s MiB, %s CPU s' \
    "$pods" "$seconds" "$span" "$nodes" "$peak" "$cpu"
  kill -TERM $karst_pid; wait $karst_pid || true; karst_pid=0
  remove_the_pods
  until_all_are_bound "$pods"
  printf '; floor, on nodes that are there: %.1f s\n' "$seconds"
  "$here/down.sh" "$work/plane"
  [ -z "${KEEP:-}" ] || cp -r "$work/data" "$work/karst.out" "$work/karst.err" "$KEEP/"
  rm -rf "$work/data"
}

[ $# -gt 0 ] || set -- 500 2000 5000
for pods in "$@"; do run "$pods"; done
