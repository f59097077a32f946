#!/usr/bin/env bash
# karst as a shadow on a real control plane: shadow.sh BUILD_DIR [DIR]. With the shipped role that holds no verb that writes, it
# stands first alone before pending pods, then beside a karst that acts, then before nodes that nobody removes. It says what it
# would do, does nothing, and the API server's own record proves it. Prints a line per check, ends with "N passed, N failed".
# Exit 0: all passed; 1: some failed; 4: no control plane. Waits are for conditions and have SHADOW_SECONDS (300) together.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
karst=$(cd "${1:?usage: shadow.sh BUILD_DIR [DIR]}" && pwd)/karst
[ -x "$karst" ] || { echo "shadow.sh: there is no program $karst; build it first (tools/build)" >&2; exit 2; }
for tool in kubectl jq curl openssl; do
  command -v $tool > /dev/null || { echo "shadow.sh: $tool is not in PATH; tools/dev/install installs it" >&2; exit 4; }
done
own_place=no; [ $# -ge 2 ] || own_place=yes
place=${2:-$(mktemp -d -t karst-shadow.XXXXXX)}; mkdir -p "$place"; place=$(cd "$place" && pwd)
plane=$place/plane
export LEADER_ELECTION_NAMESPACE=karpenter
passed=0; failed=0; shadow_pid=0; acting_pid=0

ok() { passed=$((passed + 1)); echo "ok $1"; }
not_ok() { failed=$((failed + 1)); echo "not ok $1${2:+: $2}"; }
check() {
  local what=$1 output; shift
  if output=$("$@" 2>&1); then ok "$what"; else not_ok "$what" "$(tail -c 600 <<< "$output" | tr '\n' ' ')"; fi
}
await() {  # await WHAT SECONDS COMMAND...
  local what=$1 end=$((SECONDS + $2)); shift 2
  [ $end -lt $last_second ] || end=$last_second
  while ! "$@" > "$place/await.out" 2>&1; do
    if [ $SECONDS -ge $end ]; then not_ok "$what" "$(tail -c 400 "$place/await.out" | tr '\n' ' ')"; return 1; fi
    sleep 0.2
  done
  ok "$what"
}
finish() {
  local code=$? pid
  set +e
  trap - EXIT INT TERM
  for pid in $shadow_pid $acting_pid; do [ "$pid" = 0 ] || { kill -9 "$pid"; wait "$pid"; } 2> /dev/null; done
  "$here/down.sh" "$plane"
  if [ $failed = 0 ] && [ $code = 0 ]; then [ $own_place = no ] || rm -rf "$place"; else echo "kept for a look: $place"; fi
  [ $code != 4 ] || exit 4
  [ $code = 0 ] || [ $failed != 0 ] || { failed=1; echo "not ok the checks ended early (exit $code)"; }
  echo "$passed passed, $failed failed"
  [ $failed = 0 ] || exit 1
  exit 0
}
k() { kubectl --kubeconfig "$plane/kubeconfig.admin" "$@"; }
count() { k get "$@" --no-headers --ignore-not-found 2> /dev/null | wc -l; }
lines() { grep -c "\"message\":\"$1\"" "$place/shadow.out"; }  # how many lines of the shadow's log have that message
says() { local n; n=$(lines "$2"); echo "$n lines say: $2"; [ "$n" -ge "$1" ]; }
running() {
  local got; got=$(k get pods -o json | jq '[.items[] | select(.spec.nodeName != null and .status.phase == "Running")] | length')
  echo "$got pods run"; [ "$got" = 50 ]
}
claims_ready() { k get nodeclaims -o json | jq -e '[.items[] | any(.status.conditions[]?; .type == "Ready" and .status == "True")] | length > 0 and all'; }
ready() { curl -fsS "http://127.0.0.1:$1/readyz"; }
# The shadow's nodes by its own log, and those of the API server.
same_nodes() {
  diff <("$karst" state --data "$place/shadow" -o json nodes | jq -r '.. | .name? // empty' | sort) <(k get nodes -o name | sed 's|node/||' | sort)
}
would_taint_each() {
  local told; told=$(jq -r 'select(.message == "would have tainted node") | .Node.name' "$place/shadow.out" | sort -u)
  echo "told of: $told"
  # It may have told of others, which the acting karst removed meanwhile.
  [ -n "$told" ] && [ -z "$(comm -23 <(k get nodes -o name | sed 's|node/||' | sort) <(echo "$told"))" ]
}
writes() { jq -c 'select(.user.username == "karst-shadow" and (.verb | IN("get", "list", "watch") | not) and (.objectRef.resource | IN("selfsubjectaccessreviews", "selfsubjectreviews") | not))' "$plane/audit.jsonl"; }
none_written() { local found; found=$(writes); echo "$found"; [ -z "$found" ]; }
nothing_open() {  # every command of the shadow's log has ended as not sent
  "$karst" log dump --data "$place/shadow" > "$place/dump.jsonl"
  local asked ended
  asked=$(grep -c 'Requested"' "$place/dump.jsonl" || true)
  ended=$(grep -c '"not_sent"' "$place/dump.jsonl" || true)
  echo "$asked commands, $ended ended as not sent"
  [ "$asked" -gt 0 ] && [ "$asked" = "$ended" ]
}
acting_refuses() {
  local code=0
  "$karst" run --kubeconfig "$plane/kubeconfig.karst" --cloud kwok --data "$place/shadow" --listen 127.0.0.1:0 > /dev/null 2> "$place/mixed.err" || code=$?
  cat "$place/mixed.err"
  [ $code = 2 ] && grep -q 'this is the log of a shadow' "$place/mixed.err"
}

begin() {
  "$here/build.sh" || { echo "shadow.sh: the control plane's programs could not be built" >&2; exit 4; }
  base=${SHADOW_PORT:-$((20000 + RANDOM % 1200 * 10))}
  last_second=$((SECONDS + ${SHADOW_SECONDS:-300}))
  KWOK=1 "$here/up.sh" "$plane" "$base" > /dev/null || exit 4
  k apply -f "$root/deploy/crds" > /dev/null
  k wait --for=condition=Established crd --all --timeout=30s > /dev/null
  k apply -f "$root/deploy/manifests/karst/namespace.yaml" -f "$root/deploy/manifests/karst/rbac.yaml" > /dev/null
  k apply -f "$root/deploy/manifests/shadow/rbac.yaml" > /dev/null
  k create clusterrolebinding story-shadow --clusterrole=karst-shadow --user=karst-shadow > /dev/null
  k create clusterrolebinding story-karst --clusterrole=karst --user=karst > /dev/null
  k create clusterrolebinding story-karst-kwok --clusterrole=karst-kwok --user=karst > /dev/null
  k create rolebinding story-karst-lease --namespace=karpenter --role=karst-lease --user=karst > /dev/null
  k apply -f "$here/manifests/pools.yaml" > /dev/null
  "$karst" run --shadow --kubeconfig "$plane/kubeconfig.karst-shadow" --cloud kwok --data "$place/shadow" \
    --listen "127.0.0.1:$((base + 8))" > "$place/shadow.out" 2> "$place/shadow.err" < /dev/null &
  shadow_pid=$!
  await "the shadow is ready" 30 ready $((base + 8)) || { tail -5 "$place/shadow.err"; exit 1; }
}
alone() {
  echo "# alone before 50 pending pods"
  k apply -f "$here/manifests/workloads.yaml" > /dev/null
  await "it says which claims it would make" 60 says 3 "would have created nodeclaim" || true
  check "there is no claim" [ "$(count nodeclaims)" = 0 ]
  check "there is no node" [ "$(count nodes)" = 0 ]
}
beside() {
  echo "# beside a karst that acts"
  "$karst" run --kubeconfig "$plane/kubeconfig.karst" --cloud kwok --data "$place/acting" --listen "127.0.0.1:$((base + 9))" \
    > "$place/acting.out" 2> "$place/acting.err" < /dev/null &
  acting_pid=$!
  await "50 pods run on the other's nodes" 120 running || true
  await "each of the other's claims is Ready" 60 claims_ready || true
  await "the shadow's state shows the other's nodes" 30 same_nodes || true
  check "the other's claims are as many as its nodes ($(count nodes))" [ "$(count nodeclaims)" = "$(count nodes)" ]
}
before_empty_nodes() {
  echo "# before nodes that nobody removes"
  kill -9 $acting_pid; wait $acting_pid 2> /dev/null || true; acting_pid=0
  k scale deployment --replicas=0 --all > /dev/null
  await "it says of each node that it would go" 60 would_taint_each || true
  check "none of them was touched" [ "$(k get nodes -o json | jq '[.items[] | select(.metadata.deletionTimestamp != null
    or ([.spec.taints[]?.key] | index("karpenter.sh/disrupted") != null))] | length')" = 0 ]
}
judge() {
  kill -TERM $shadow_pid
  local code=0 line; wait $shadow_pid || code=$?
  shadow_pid=0
  check "the shadow stops on SIGTERM with exit code 0 (was $code)" [ $code = 0 ]
  check "the API server saw it read" jq -es '[.[] | select(.user.username == "karst-shadow")] | length > 10' "$plane/audit.jsonl"
  check "the API server saw no write of it" none_written
  { k get clusterrole karst-shadow -o json; } | jq '{items: [.]}' > "$place/roles.json"
  grep -E '^(list|watch) ' "$here/rights_unused.txt" > "$place/unused.txt"
  while read -r line; do
    case $line in "ok "*) ok "rights: ${line#ok }" ;; "not ok "*) not_ok "rights: ${line#not ok }" ;; "# "*) ;; *) not_ok "rights: $line" ;; esac
  done < <("$here/rights_check.sh" "$plane/audit.jsonl" "$place/roles.json" "$place/unused.txt" karst-shadow 2>&1)
  check "each command of its log ended as not sent" nothing_open
  check "replay --verify agrees with every round" "$karst" replay --data "$place/shadow" --verify
  check "a karst that acts refuses its log" acting_refuses
}
trap finish EXIT
trap 'exit 130' INT TERM
begin
alone
beside
before_empty_nodes
judge
