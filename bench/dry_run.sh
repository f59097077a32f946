#!/usr/bin/env bash
# The dry run at size: 500 Deployments of 200 pods each against one NodePool over the whole EC2
# catalogue. A fifth of them is bound to a zone, a fifth spread over zones, a tenth asks for arm64.
# Prints what was bought, the time and the peak memory. Needs the release build and GNU time.
set -euo pipefail

readonly ROOT="$(cd "$(dirname "$0")/.." && pwd)"
readonly DEPLOYMENTS="${1:-500}" REPLICAS="${2:-200}"
readonly FOLDER="$(mktemp -d)"
trap 'rm -rf "$FOLDER"' EXIT

awk -v deployments="$DEPLOYMENTS" -v replicas="$REPLICAS" 'BEGIN {
  print "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec:\n  template:\n    spec:"
  print "      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand, spot]},"
  print "        {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}]"
  print "      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}"
  cpus = split("50 100 200 250 500 750 1000 1500 2000 4000", cpu, " ")
  sizes = split("64 128 256 512 1024 2048 4096 8192", memory, " ")
  for (i = 0; i < deployments; ++i) {
    extra = ""
    if (i % 10 < 2) extra = "nodeSelector: {topology.kubernetes.io/zone: us-east-1" substr("abcdf", i % 5 + 1, 1) "}, "
    else if (i % 10 < 4) extra = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: d" i "}}}], "
    else if (i % 10 < 5) extra = "nodeSelector: {kubernetes.io/arch: arm64}, "
    printf "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d%d}\nspec:\n  replicas: %d\n", i, replicas
    printf "  selector: {matchLabels: {app: d%d}}\n  template:\n    metadata: {labels: {app: d%d}}\n", i, i
    printf "    spec: {%scontainers: [{name: c, image: i, resources: {requests: {cpu: %dm, memory: %dMi}}}]}\n", extra, cpu[i * 7 % cpus + 1], memory[i * 11 % sizes + 1]
  }
}' >"$FOLDER/all.yaml"

/usr/bin/time -f '%e s, %U s of CPU, peak %M KiB' "$ROOT/build/release/karst" solve -f "$FOLDER/all.yaml" \
  >"$FOLDER/out.txt" 2>"$FOLDER/err.txt"
grep -A 2 '^TOTAL' "$FOLDER/out.txt"
tail -n 1 "$FOLDER/err.txt"
