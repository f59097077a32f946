# What story.sh and kills.sh share: a real control plane, an AWS-shaped server and karst between them. Sourced after `set -euo pipefail`
# and $all_seconds; see ../cluster/parts.sh for the rest. Here $aws is this folder and $here that of the cluster.
. "$(dirname "${BASH_SOURCE[0]}")/../cluster/parts.sh"
aws=$here; here=$root/tests/cluster
pods_wanted=${PODS:-30}
python=${MOTO:-$HOME/.cache/karst-moto}/venv/bin/python
data=$work/data; karst_pid=0; karst_runs=0; kubelets_pid=0; queue=interruptions

end_all() {
  local code=$?
  set +e
  "$aws/down.sh" "$work/moto"
  (exit $code)
  finish
}
in_account() { (. "$work/moto/env.sh"; PYTHONDONTWRITEBYTECODE=1 "$python" "$aws/world.py" "$@"); }
set_the_stage() {
  rm -rf "$data"  # of another cluster, if there is one
  tools_needed python3
  "$aws/build.sh" || { echo "$script.sh: the AWS-shaped server could not be installed" >&2; exit 4; }
  begin
  trap end_all EXIT
  check "the user karst gets the rights of EC2's node classes" k create clusterrolebinding test-karst-aws --clusterrole=karst-aws --user=karst
  check "and not those of kwok's" k delete clusterrolebinding test-karst-kwok
  moto=$("$aws/up.sh" "$work/moto" $((base + 8))) || exit 4
  listen=$((base + 9))
  check "queue, role and EKS cluster are made" stage
  check "the node class is accepted" k apply -f "$work/class.json"
  check "the node pool is accepted" k apply -f "$aws/manifests/pool.yaml"
  (exec "$python" "$aws/world.py" kubelets "$moto" "https://127.0.0.1:$((base + 2))" "$plane/certs/apiserver.crt" admin-token \
    > "$work/kubelets.out" 2>&1 < /dev/null) & kubelets_pid=$!
  started=("$kubelets_pid")
}
stage() { in_account stage "$queue" story > "$work/class.json"; }
start_karst() {  # start_karst [KILL_POINT]; $settings are variables for it, "A=1 B=2"
  karst_runs=$((karst_runs + 1))
  (. "$work/moto/env.sh"; export KARST_KILL_POINT=${1:-} CLUSTER_NAME=story INTERRUPTION_QUEUE=$queue LEADER_ELECTION_NAMESPACE=karpenter ${settings:-}
    exec "$karst" run --kubeconfig "$plane/kubeconfig.karst" --cloud aws --data "$data" --listen "127.0.0.1:$listen" \
      > "$work/karst.$karst_runs.out" 2> "$work/karst.$karst_runs.err" < /dev/null) & karst_pid=$!
  started=("$kubelets_pid" "$karst_pid")
}
karst_ready() { curl -fsS "http://127.0.0.1:$listen/readyz"; }
stop_karst() {
  kill -TERM "$karst_pid"
  local code=0; wait "$karst_pid" 2> /dev/null || code=$?
  karst_pid=0; started=("$kubelets_pid")
  check "karst stops on SIGTERM with exit code 0 (was $code)" [ "$code" = 0 ] || true
}
class_ready() {
  local got; got=$(k get ec2nodeclass default -o json | jq -c '[.status.conditions[]? | {type, status, reason, message}]'); echo "$got"
  jq -e 'any(.[]; .type == "Ready" and .status == "True")' <<< "$got"
}
# With its machines: nothing that was made for it is left in the account.
class_goes() {  # class_goes [SECONDS]
  check "no pod is wanted" k scale deployment shop --replicas=0
  check "classes and pools are deleted" k delete ec2nodeclass,nodepool --all --wait=false
  await "no node class is left" "${1:-180}" none_left ec2nodeclass || true
  check "nor a launch template or an instance profile" nothing_made || true
}
nothing_made() { local left; left=$(in_account made); echo "$left"; [ -z "$left" ]; }
machines() { curl -fsS "$moto/karst/instances" | jq -r "[.[] | select(.state == \"running\")] | length"; }
account_and_cluster() {  # what judge.py reads
  curl -fsS "$moto/karst/instances" > "$work/instances.json"
  jq -n --slurpfile nodes <(k get nodes -o json) --slurpfile claims <(k get nodeclaims -o json) --slurpfile pods <(k get pods -o json) \
    '{nodes: $nodes[0].items, claims: $claims[0].items, pods: $pods[0].items}' > "$work/objects.json"
}
interrupted_are_gone() {
  local left; left=$(jq -n --slurpfile sent "$work/sent.jsonl" --slurpfile all <(curl -fsS "$moto/karst/instances") \
    '[$all[0][] | select(.state == "running" or .state == "pending").id] - ([$all[0][].id] - [$sent[].instance]) | length')
  echo "$left of $(wc -l < "$work/sent.jsonl") still run"
  [ "$left" = 0 ]
}
nothing_leaves() { local left; left=$(k get nodeclaims -o json | jq -r '.items[] | select(.metadata.deletionTimestamp).metadata.name'); echo "$left"; [ -z "$left" ]; }
queue_is_empty() { local waiting; waiting=$(in_account waiting "$queue"); echo "$waiting messages"; [ "$waiting" = 0 ]; }
no_orphan() { account_and_cluster; judge; }
judge() { python3 "$aws/judge.py" "$work/sent.jsonl" "$work/instances.json" "$work/objects.json" "$work/log.jsonl"; }
