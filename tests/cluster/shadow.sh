#!/usr/bin/env bash
# karst as a shadow on a real control plane: shadow.sh BUILD_DIR [DIR]. With the shipped role that holds no verb that writes, it
# stands first alone before pending pods, then beside a karst that acts, then before nodes that nobody removes. It says what it
# would do, does nothing, and the API server's own record proves it. Prints a line per check, ends with "N passed, N failed".
# Exit 0: all passed; 1: some failed; 4: no control plane. Waits are for conditions and have SHADOW_SECONDS (300) together.
set -euo pipefail
source "$(dirname "$0")/parts.sh"
tools_needed
all_seconds=${SHADOW_SECONDS:-300}
export LEADER_ELECTION_NAMESPACE=karpenter

lines() { grep -c "\"message\":\"$1\"" "$work/shadow.out"; }  # how many lines of the shadow's log have that message
says() { local n; n=$(lines "$2"); echo "$n lines say: $2"; [ "$n" -ge "$1" ]; }
claims_ready() { k get nodeclaims -o json | jq -e '[.items[] | any(.status.conditions[]?; .type == "Ready" and .status == "True")] | length > 0 and all'; }
ready() { curl -fsS "http://127.0.0.1:$1/readyz"; }
# The shadow's nodes by its own log, and those of the API server.
same_nodes() {
  diff <("$karst" state --data "$work/shadow" -o json nodes | jq -r '.. | .name? // empty' | sort) <(k get nodes -o name | sed 's|node/||' | sort)
}
would_taint_each() {
  local told; told=$(jq -r 'select(.message == "would have tainted node") | .Node.name' "$work/shadow.out" | sort -u)
  echo "told of: $told"
  # It may have told of others, which the acting karst removed meanwhile.
  [ -n "$told" ] && [ -z "$(comm -23 <(k get nodes -o name | sed 's|node/||' | sort) <(echo "$told"))" ]
}
writes() { jq -c 'select(.user.username == "karst-shadow" and (.verb | IN("get", "list", "watch") | not) and (.objectRef.resource | IN("selfsubjectaccessreviews", "selfsubjectreviews") | not))' "$plane/audit.jsonl"; }
none_written() { local found; found=$(writes); echo "$found"; [ -z "$found" ]; }
nothing_open() {  # every command of the shadow's log has ended as not sent
  "$karst" log dump --data "$work/shadow" > "$work/dump.jsonl"
  local asked ended
  asked=$(grep -c 'Requested"' "$work/dump.jsonl" || true)
  ended=$(grep -c '"not_sent"' "$work/dump.jsonl" || true)
  echo "$asked commands, $ended ended as not sent"
  [ "$asked" -gt 0 ] && [ "$asked" = "$ended" ]
}
acting_refuses() {
  local code=0
  "$karst" run --kubeconfig "$plane/kubeconfig.karst" --cloud kwok --data "$work/shadow" --listen 127.0.0.1:0 > /dev/null 2> "$work/mixed.err" || code=$?
  cat "$work/mixed.err"
  [ $code = 2 ] && grep -q 'this is the log of a shadow' "$work/mixed.err"
}

set_the_stage() {
  begin
  k apply -f "$root/deploy/manifests/shadow/rbac.yaml" > /dev/null
  k create clusterrolebinding story-shadow --clusterrole=karst-shadow --user=karst-shadow > /dev/null
  k apply -f "$here/manifests/pools.yaml" > /dev/null
  FEATURE_GATES=NodeOverlay=true,CapacityBuffer=true "$karst" run --shadow --kubeconfig "$plane/kubeconfig.karst-shadow" --cloud kwok --data "$work/shadow" \
    --listen "127.0.0.1:$((base + 8))" > "$work/shadow.out" 2> "$work/shadow.err" < /dev/null &
  shadow_pid=$!; started=("$shadow_pid")
  await "the shadow is ready" 30 ready $((base + 8)) || { tail -5 "$work/shadow.err"; exit 1; }
}
alone() {
  echo "# alone before 50 pending pods"
  k apply -f "$here/manifests/workloads.yaml" > /dev/null
  await "it says which claims it would make" 60 says 3 "would have created nodeclaim" || true
  check "there is no claim" [ "$(count nodeclaims)" = 0 ] || true
  check "there is no node" [ "$(count nodes)" = 0 ] || true
}
beside() {
  echo "# beside a karst that acts"
  "$karst" run --kubeconfig "$plane/kubeconfig.karst" --cloud kwok --data "$work/acting" --listen "127.0.0.1:$((base + 9))" \
    > "$work/acting.out" 2> "$work/acting.err" < /dev/null &
  acting_pid=$!; started+=("$acting_pid")
  await "50 pods run on the other's nodes" 120 running 50 || true
  await "each of the other's claims is Ready" 60 claims_ready || true
  await "the shadow's state shows the other's nodes" 30 same_nodes || true
  check "the other's claims are as many as its nodes ($(count nodes))" [ "$(count nodeclaims)" = "$(count nodes)" ] || true
}
before_empty_nodes() {
  echo "# before nodes that nobody removes"
  kill -9 $acting_pid; wait $acting_pid 2> /dev/null || true; started=("$shadow_pid")
  k scale deployment --replicas=0 --all > /dev/null
  await "it says of each node that it would go" 60 would_taint_each || true
  check "none of them was touched" [ "$(k get nodes -o json | jq '[.items[] | select(.metadata.deletionTimestamp != null
    or ([.spec.taints[]?.key] | index("karpenter.sh/disrupted") != null))] | length')" = 0 ] || true
}
judge() {
  kill -TERM $shadow_pid
  local code=0; wait $shadow_pid || code=$?
  started=()
  check "the shadow stops on SIGTERM with exit code 0 (was $code)" [ $code = 0 ] || true
  check "the API server saw it read" jq -es '[.[] | select(.user.username == "karst-shadow")] | length > 10' "$plane/audit.jsonl" || true
  check "the API server saw no write of it" none_written || true
  { k get clusterrole karst-shadow -o json; } | jq '{items: [.]}' > "$work/roles.json"
  sed -nE '/^(list|watch) /p' "$here/rights_unused.txt" > "$work/unused.txt"
  take_lines rights "$here/rights_check.sh" "$plane/audit.jsonl" "$work/roles.json" "$work/unused.txt" karst-shadow
  check "each command of its log ended as not sent" nothing_open || true
  check "replay --verify agrees with every round" "$karst" replay --data "$work/shadow" --verify || true
  check "a karst that acts refuses its log" acting_refuses || true
}
set_the_stage
alone
beside
before_empty_nodes
judge
