#!/usr/bin/env bash
# The 50-pod story with a bad line: faults.sh BUILD_DIR [DIR]. BUILD_DIR holds the program `karst`. Between karst and the API server
# stands fault_proxy, which resets, answers 429, 500 and 503, does a thing and loses its answer, cuts bodies, is slow, is behind,
# forgets versions (410), and cuts every connection now and then. One request of three goes to a second API server on the same etcd,
# which hears of everything 0.7 s late. Nothing may be lost, nothing doubled. Seeds: FAULT_SEED (default 1).
# Ends with "N passed, N failed"; exit 4: no control plane.
set -euo pipefail
source "$(dirname "$0")/parts.sh"
tools_needed python3 go
export LEADER_ELECTION_NAMESPACE=karpenter
data=$work/data; rm -rf "$data"

# On the same etcd, with the first one's certificate and keys, over the late pipe.
second_server() {
  cp -r "$plane/certs" "$plane/certs.second"
  (cd "$plane" && exec "${BIN:-$HOME/.cache/karst-cluster}/kube-apiserver" --etcd-servers "http://127.0.0.1:$((base + 5))" --bind-address 127.0.0.1 \
    --advertise-address 127.0.0.1 --endpoint-reconciler-type none --secure-port "$((base + 6))" --cert-dir "$plane/certs.second" \
    --token-auth-file tokens.csv --authorization-mode RBAC --service-account-issuer https://kubernetes.default.svc \
    --service-account-key-file sa.pub --service-account-signing-key-file sa.key --service-cluster-ip-range 10.0.0.0/24 \
    --disable-admission-plugins ServiceAccount --audit-policy-file "$here/audit_policy.yaml" --audit-log-path "$plane/audit.second.jsonl" \
    --audit-log-mode blocking > second.log 2>&1 < /dev/null) &
  echo $! > "$plane/second.pid"
}
ask_second() {
  curl -s --cacert "$plane/certs/apiserver.crt" -H 'Authorization: Bearer admin-token' "https://127.0.0.1:$((base + 6))$1"
}

begin
(cd "$here" && GOTOOLCHAIN=auto go build -o "$work/fault_proxy" ./fault_proxy) || exit 4
listen=$((base + 9))
check "node pools and node class are accepted" k apply -f "$here/manifests/pools.yaml"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/proxy.key" -out "$work/proxy.crt" -subj /CN=fault-proxy \
  -addext 'subjectAltName = IP:127.0.0.1' -days 1 2> /dev/null
"$work/fault_proxy" -listen "127.0.0.1:$((base + 5))" -late "127.0.0.1:$base" > "$work/late.txt" 2> "$work/late.err" &
late=$!; started+=("$late")
second_server || exit 4
second=$(cat "$plane/second.pid"); started+=("$second")
second_is_ready() { grep -qx ok <(ask_second /readyz); }
await "a second API server is ready" 60 second_is_ready
"$work/fault_proxy" -listen "127.0.0.1:$((base + 8))" -to "https://127.0.0.1:$((base + 2))" -also "https://127.0.0.1:$((base + 6))" -ca "$plane/certs/apiserver.crt" \
  -cert "$work/proxy.crt" -key "$work/proxy.key" -seed "${FAULT_SEED:-1}" > "$work/faults.txt" 2> "$work/proxy.err" &
proxy=$!; started+=("$proxy")
sed "s|server: \"[^\"]*\", certificate-authority: \"[^\"]*\"|server: \"https://127.0.0.1:$((base + 8))\", certificate-authority: \"$work/proxy.crt\"|" \
  "$plane/kubeconfig.karst" > "$work/kubeconfig"
check "karst's way goes over the proxy" grep -q ":$((base + 8))" "$work/kubeconfig"
"$karst" run --kubeconfig "$work/kubeconfig" --cloud kwok --data "$data" --listen "127.0.0.1:$listen" > "$work/karst.out" 2> "$work/karst.err" < /dev/null &
pid=$!; started+=("$pid")
await "karst is ready" 30 curl -fsS "http://127.0.0.1:$listen/readyz"

echo "# up and down, with faults"
kill -USR1 $proxy $late
second_is_behind() {
  local name=late-$RANDOM
  k create configmap "$name" > /dev/null
  ! ask_second "/api/v1/namespaces/default/configmaps?resourceVersion=0" | grep -q "\"$name\""
}
await "the second API server is behind" 30 second_is_behind
check "the deployments are accepted" k apply -f "$here/manifests/workloads.yaml"
await "50 pods run" 120 running 50
await "each node belongs to one claim, and each claim to one node" 30 one_to_one || true
claim=$(k get nodeclaims -l karpenter.sh/nodepool=batch -o json | jq -r '.items[0].metadata.name')
check "a claim is deleted by hand" k delete nodeclaim "$claim" --wait=false
await "the claim $claim is gone" 120 none_left nodeclaim "$claim"
await "50 pods run again" 120 running 50
check "the deployments are scaled to zero" k scale deployment --replicas=0 --all
await "no node is left" 300 none_left nodes
await "no claim is left" 60 none_left nodeclaims
kill -USR2 $proxy $late
check "karst runs on" kill -0 $pid
await "karst knows that nothing is left" 60 knows_none_left $listen || true
code=0; kill -TERM $pid; wait $pid || code=$?
check "karst stops with exit code 0 (was $code)" [ $code = 0 ] || true
kill -TERM $proxy $late; wait $proxy $late || true
kill -TERM $second; while kill -0 $second 2> /dev/null; do sleep 0.2; done
started=()
sed 's/^/# /' "$work/faults.txt"
for fault in 'done, and the answer lost' 'done, and the answer cut' '429' '503' '500, not done' '502, but done' 'reset before' 'a slow body' 'watch: 410' 'watch: cut' \
  'watch: a stale' 'every connection cut' 'second API server'; do
  check "there was: $fault" grep -q "$fault" "$work/faults.txt" || true
done

check "the second API server was behind" grep -q 'came late' "$work/late.txt" || true

echo "# what the log and the API server say"
verified karst "$data"
"$karst" log dump --data "$data" > "$work/log.jsonl"
k get nodes,nodeclaims -o json > "$work/end.json"
jq -sc 'sort_by(.stageTimestamp)[]' "$plane/audit.jsonl" "$plane/audit.second.jsonl" > "$work/audit.jsonl"
take_lines audit "$here/audit_checks.sh" "$work/audit.jsonl"
take_lines join python3 "$here/join.py" "$work/audit.jsonl" "$work/log.jsonl" --end "$work/end.json"
