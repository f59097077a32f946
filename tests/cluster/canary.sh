#!/usr/bin/env bash
# Secrets that are planted where karst comes by never leave it: canary.sh BUILD_DIR [DIR]. Canaries are in environments, arguments and
# annotations of pods, in annotations of nodes, in secrets and config maps, and in the kubeconfig (a token that works, and
# credentials of others). They are looked for in every file of the log, in what the log reads as, in every export, in metrics, in what karst
# said, and in errors. Ends with "N passed, N failed"; exit 4: no control plane. User data: tests/aws/story.sh (kwok's machines have none).
set -euo pipefail
all_seconds=300
source "$(dirname "$0")/parts.sh"
tools_needed sqlite3 python3
readers=${KARST_EXPORTS:-$HOME/.cache/karst-exports}
"$root/tests/audit/build.sh" "$readers" || { echo "canary.sh: the readers of Parquet could not be installed" >&2; exit 4; }
canary=canary-7d1f # in every planted text
data=$work/data

config() {  # with other people's credentials beside our own
  cat > "$work/$1" << END
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: 'https://127.0.0.1:$((base + 2))', certificate-authority: $plane/certs/apiserver.crt}}]
users:
- {name: other, user: {username: admin, password: $canary-password}}
- {name: u, user: {token: $2}}
END
}
nowhere() {  # nowhere WHAT FILE...: no canary in any of the files, which are there; a file that must hold `general` proves the search
  local what=$1; shift
  check "no canary in $what" bash -c 'for file in "${@:2}"; do [ -e "$file" ] || { echo "$file is not there"; exit 1; }; done; ! grep -raFl -e "$1" -e karst-token "${@:2}"' \
    - "$canary" "$@" || true
}

begin
listen=$((base + 9))
k apply -f "$here/manifests/pools.yaml" > "$work/out"
k create secret generic shop --from-literal=password=$canary-secret > "$work/out"
k create configmap shop --from-literal=password=$canary-config > "$work/out"
k apply -f - > "$work/out" << END
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, annotations: {note: $canary-deployment}}
spec:
  replicas: 5
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}, annotations: {vault/token: $canary-annotation, karpenter.sh/unknown: $canary-ours}}
    spec:
      nodeSelector: {team: general}
      initContainers: [{name: first, image: none, env: [{name: A, value: $canary-init}]}]
      containers:
      - name: main
        image: registry.example/$canary-image
        command: [run, --password=$canary-command]
        args: [--token, $canary-argument]
        env: [{name: PASSWORD, value: $canary-environment}, {name: B, valueFrom: {secretKeyRef: {name: shop, key: password}}}]
        livenessProbe: {exec: {command: [sh, -c, $canary-probe]}}
        resources: {requests: {cpu: 500m, memory: 512Mi}}
      volumes: [{name: v, secret: {secretName: shop}}]
END
config kubeconfig karst-token
HOME=$work LEADER_ELECTION_NAMESPACE=karpenter "$karst" run --kubeconfig "$work/kubeconfig" --cloud kwok --data "$data" --listen "127.0.0.1:$listen" --log-level debug \
  > "$work/karst.out" 2> "$work/karst.err" < /dev/null &
started=("$!")
await "every pod has a node and runs" 90 running 5
for object in $(k get nodes -o name); do k annotate "$object" note=$canary-object vault.example/token=$canary-object > "$work/out"; done
k annotate --overwrite "$(k get pods -o name | head -n 1)" later=$canary-later > "$work/out"
k scale deployment shop --replicas=2 > "$work/out"
await "two pods are left" 60 running 2
seen() { [ "$(curl -fsS "http://127.0.0.1:$listen/metrics" | tee "$work/metrics" | grep -c '^karpenter_')" -gt 20 ]; }
await "metrics are there" 20 seen
kill -TERM "${started[0]}"; wait "${started[0]}" || true; started=()

echo "# errors"
config refused $canary-token
HOME=$work LEADER_ELECTION_NAMESPACE=karpenter timeout 60 "$karst" run --kubeconfig "$work/refused" --data "$work/none" --listen "127.0.0.1:$listen" > "$work/refused.out" 2> "$work/refused.err" < /dev/null || true
check "a refused token is an error" grep -q "does not accept the credentials" "$work/refused.err" || true
printf 'current-context: c\nusers: [{name: u, user: {token: [%s]}}]\n' $canary-broken > "$work/broken"
"$karst" run --kubeconfig "$work/broken" --data "$work/none" > "$work/broken.out" 2> "$work/broken.err" < /dev/null || true
check "a broken kubeconfig is an error" grep -q "^karst: " "$work/broken.err" || true

echo "# exports"
"$karst" log dump --data "$data" > "$work/dump.jsonl"
"$karst" audit export --data "$data" --format jsonl > "$work/trail.jsonl"
jq -r '.bytes // empty' "$work/trail.jsonl" | while read -r line; do base64 -d <<< "$line"; done > "$work/trail.bytes"
for format in csv cloudevents cloudevents-batch sqlite parquet; do "$karst" audit export --data "$data" --format $format --out "$work/export.$format" 2> "$work/export.$format.err"; done
for view in decisions nodeclaims; do
  "$karst" audit export --data "$data" --format csv --view $view > "$work/$view.csv"
  "$karst" audit export --data "$data" --format parquet --view $view --out "$work/$view.parquet" 2> "$work/$view.parquet.err"
done
sqlite3 "$work/export.sqlite" .dump > "$work/export.sql"
# Parquet and the log's tables are compressed: what they hold is searched as its readers show it, the log's also as it is.
for file in export decisions nodeclaims; do
  "$readers/venv/bin/python" -c 'import sys, pyarrow.parquet as p; t = p.read_table(sys.argv[1]); print(t.schema.metadata); print(*t.to_pylist(), sep="\n")' "$work/$file.parquet" > "$work/$file.parquet.txt"
done
for file in dump.jsonl trail.jsonl trail.bytes export.csv export.cloudevents export.cloudevents-batch export.sql decisions.csv nodeclaims.csv karst.out \
  export.parquet.txt decisions.parquet.txt nodeclaims.parquet.txt; do
  check "the search would find what $file holds" grep -qaF general "$work/$file" || true
done
check "the search would find what is in the files of the log" grep -rqaF general "$data" || true
check "the API server has the canaries" bash -c 'kubectl --kubeconfig "$1" get pods,nodes,nodeclaims -o json | grep -qF "$2-environment"' - "$plane/kubeconfig.admin" $canary || true
nowhere "the files of the log" "$data"
nowhere "the log as it reads" "$work/dump.jsonl"
nowhere "the trail, its bytes too" "$work/trail.jsonl" "$work/trail.bytes"
nowhere "tables" "$work/export.csv" "$work/decisions.csv" "$work/nodeclaims.csv" "$work/export.sqlite" "$work/export.sql" "$work/export.parquet" "$work"/*.parquet.txt
nowhere "CloudEvents" "$work/export.cloudevents" "$work/export.cloudevents-batch"
nowhere "metrics" "$work/metrics"
nowhere "what karst said" "$work/karst.out" "$work/karst.err"
nowhere "errors" "$work/refused.out" "$work/refused.err" "$work/broken.out" "$work/broken.err"
