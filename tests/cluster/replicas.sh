#!/usr/bin/env bash
# Two replicas, one lease: replicas.sh BUILD_DIR [DIR]. BUILD_DIR holds the program `karst`. Each has a data directory of its own.
# The leader is stopped (SIGSTOP) past its lease between the durable launch and its sending; the other takes over and finishes; the
# first is let go on. Then the same the other way round, from outside, while nodes go. Judged from the API server's own record:
# audit_checks.sh, join.py, epochs.py. Ends with "N passed, N failed"; exit 4: no control plane.
set -euo pipefail
source "$(dirname "$0")/parts.sh"
rm -rf "$work/first" "$work/second"
tools_needed python3
export LEADER_ELECTION_NAMESPACE=karpenter

replica() {  # replica NAME LISTEN [KILL_POINT]: its pid is in $pid
  KARST_KILL_POINT=${3:-} "$karst" run --kubeconfig "$plane/kubeconfig.karst" --cloud kwok --data "$work/$1" --listen "127.0.0.1:$2" \
    > "$work/$1.out" 2> "$work/$1.err" < /dev/null &
  pid=$!
  started+=("$pid")
}
metric() { curl -fsS --max-time 2 "http://127.0.0.1:$1/metrics" | sed -n "s/^$2 //p"; }
ready() { curl -fsS --max-time 2 "http://127.0.0.1:$1/readyz"; }
leads() { [ "$(metric "$1" karst_leading)" = 1 ] && ready "$1"; }
stands_by() { [ "$(metric "$1" karst_leading)" = 0 ]; }
is_stopped() { [ "$(sed 's/.*) //' "/proc/$1/stat" | cut -c1)" = T ]; }
lease_holder() { k get lease -n karpenter karpenter-leader-election -o jsonpath='{.spec.holderIdentity}'; }
holder_is_not() { [ "$(lease_holder)" != "$1" ] && [ -n "$(lease_holder)" ]; }
goes_or_gone() { [ "$(count nodes)" -lt "$1" ] || going 2; }  # besides the one that is held
runs_still() { [ "$(k get pod "$1" -o json | jq -r '.metadata.uid + (.metadata.deletionTimestamp // "") + " " + .status.phase')" = "$2 Running" ]; }
evictions() {  # evictions POD CODE REPLICA: how many that replica asked for, and were answered so
  local log; log=$("$karst" log dump --data "$work/$3" | jq -rn 'first(inputs | select(.type == "LogCreated").payload.id)')
  jq -n --arg pod "$1" --argjson code "$2" --arg log "$log" '[inputs | select(.stage == "ResponseComplete" and .verb == "create" and .objectRef.subresource == "eviction"
    and .objectRef.name == $pod and .responseStatus.code == $code and (.auditID | startswith($log)))] | length' "$plane/audit.jsonl"
}
made() { jq -n --arg resource "$1" '[inputs | select(.verb == "create" and .objectRef.resource == $resource and .responseStatus.code == 201)] | length' "$plane/audit.jsonl"; }
was_evicted_by() { [ "$(evictions "$1" 201 "$2")" = 1 ]; }
was_refused_by() { local n; n=$(evictions "$1" 429 "$2"); echo "$n refused"; [ "$n" -gt 0 ]; }
says_nothing_of_nodes() { ! grep -E '"message":"(launched|registered|initialized|deleted) node' "$work/$1.out"; }
nodes_counted() {  # nodes_counted FROM TO METRIC: so many by both replicas together
  local sum; sum=$(for at in 8 9; do curl -fsS --max-time 2 "http://127.0.0.1:$((base + at))/metrics"; done | awk -v name="$3{" 'index($0, name) == 1 { sum += $NF } END { print sum + 0 }')
  echo "$sum are in $3 of both replicas, expected $1 to $2"
  [ "$sum" -ge "$1" ] && [ "$sum" -le "$2" ]
}
asks_no_cloud() { local shown; shown=$(curl -fsS --max-time 2 "http://127.0.0.1:$1/metrics" | grep -E '^(karst_instances|karst_fleet_price_dollars_per_hour|karpenter_nodepools_usage)') || true; echo "$shown"; [ -z "$shown" ]; }
is_no_leader() { ! grep -qx leads "$work/candidate.out"; }
are_unschedulable() { [ "$(k get pods -o json | jq '[.items[] | select(any(.status.conditions[]?; .type == "PodScheduled" and .reason == "Unschedulable"))] | length')" = "$1" ]; }
pending_seen() { curl -fsS --max-time 2 "http://127.0.0.1:$1/metrics" | awk -v least="$2" '/^karpenter_pods_state\{.*phase="Pending"/ { sum += $NF } END { print sum + 0; exit sum < least }'; }
stops() {  # stops NAME PID
  local code=0
  kill -TERM "$2"; wait "$2" || code=$?
  check "replica $1 stops with exit code 0 (was $code)" [ $code = 0 ] || true
}

begin
check "node pools and node class are accepted" k apply -f "$here/manifests/pools.yaml"

echo "# the leader stops between the durable launch and its sending"
replica first $((base + 8)) before-dispatch:3:stop; first=$pid
await "the first replica leads" 30 leads $((base + 8))
replica second $((base + 9)); second=$pid
await "the second replica is ready" 30 ready $((base + 9))
check "the second replica stands by" stands_by $((base + 9)) || true
old=$(lease_holder)
check "the deployments are accepted" k apply -f "$here/manifests/workloads.yaml"
await "the first replica stops itself while it launches" 60 is_stopped $first
before=$(count nodes)
check "it left $(count nodeclaims) claims and $(count nodes) nodes" [ "$(count nodeclaims)" -gt "$(count nodes)" ] || true
await "somebody else holds the lease" 40 holder_is_not "$old"
await "the second replica leads" 10 leads $((base + 9))
await "50 pods run" 60 running 50
echo "# $(count nodes) nodes for 50 pods"
await "each node belongs to one claim, and each claim to one node" 30 one_to_one || true
kill -CONT $first
await "the first replica stands by" 20 stands_by $((base + 8))
await "the first replica follows" 20 ready $((base + 8))
check "50 pods run as before" running 50 || true
all=$(made nodes)  # not those that are there: kube-scheduler may leave one empty, which goes
# One that joined when nobody led, or that the first had no time left to tell of, is counted by none.
await "each node was counted once" 10 nodes_counted $((all - before)) "$all" karpenter_nodes_created_total || true
check "the first replica told nothing of the second's nodes" says_nothing_of_nodes first || true
check "it shows nothing that only a leader asks for" asks_no_cloud $((base + 8)) || true

echo "# the other way round, while nodes go"
old=$(lease_holder)
# A budget holds one of them, so that its drain is under way whenever the leader is stopped.
check "a budget protects apart" k create poddisruptionbudget apart --selector=app=apart --min-available=2
await "which allows no eviction" 30 budget_blocks apart 2
held=$(k get pods -l app=apart -o jsonpath='{.items[0].metadata.name}')
held_uid=$(k get pod "$held" -o jsonpath='{.metadata.uid}'); held_node=$(k get pod "$held" -o jsonpath='{.spec.nodeName}')
check "the claim of one of its nodes is deleted" k delete nodeclaim "$(k get nodeclaims -o json | jq -r --arg node "$held_node" '.items[] | select(.status.nodeName == $node).metadata.name')" --wait=false
await "the second replica asks for its eviction, and is refused" 30 was_refused_by "$held" second
there=$(count nodes)
check "the other deployments are scaled to zero" k scale deployment --replicas=0 web batch zonal even
await "more nodes go" 60 goes_or_gone "$there"
kill -STOP $second
await "the second replica is stopped" 5 is_stopped $second
check "while at least one node is on its way" going 1
await "the first replica holds the lease" 40 holder_is_not "$old"
await "the first replica asks for the eviction, too" 30 was_refused_by "$held" first
check "the pod runs on" runs_still "$held" "$held_uid" || true
check "its node is on its way still" going 1 || true
# Scaled down first, its pods would go without an eviction.
check "the budget is taken away" k delete poddisruptionbudget apart
await "the pod is gone" 30 none_left pod "$held"
await "by an eviction that the first replica asked for" 5 was_evicted_by "$held" first || true
check "no pod is wanted any more" k scale deployment --replicas=0 --all
await "no node is left" 90 none_left nodes
await "no claim is left" 30 none_left nodeclaims
all=$(made nodes)  # with one for the pod that took the place of the evicted one, if it was made
kill -CONT $second
await "the second replica stands by" 20 stands_by $((base + 9))
await "the first replica knows that nothing is left" 60 knows_none_left $((base + 8)) || true
# What it could not end while it led may stay open until it leads again.
await "so does the second, which does not ask for machines" 60 all_zero $((base + 9)) karpenter_cluster_state_node_count karst_nodeclaims karst_leading || true

echo "# the leader goes, and gives the lease back"
old=$(lease_holder)
# One that went when nobody led is counted by none.
await "no node that went was counted twice" 10 nodes_counted 0 "$all" karpenter_nodes_terminated_total || true
stops first $first
await "the second replica leads at once" 8 leads $((base + 9))

echo "# a Karpenter, as its client elects, and karst: one acts at a time"
"${BIN:-$HOME/.cache/karst-cluster}/candidate" "$plane/kubeconfig.admin" karpenter karpenter-elsewhere > "$work/candidate.out" 2> "$work/candidate.err" < /dev/null &
candidate=$!; started+=("$candidate")
mine=$(lease_holder)
await "it sees that karst holds the lease" 20 grep -qxF "sees $mine" "$work/candidate.out"
check "and does not lead" is_no_leader || true
stops second $second
await "it leads when karst has gone, and given the lease back" 20 grep -qx leads "$work/candidate.out"
replica first $((base + 8)); first=$pid
await "karst is ready beside it" 30 ready $((base + 8))
check "karst stands by" stands_by $((base + 8)) || true
check "pods are wanted" k scale deployment web --replicas=5
await "kube-scheduler has no place for them" 30 are_unschedulable 5
await "karst has seen them" 20 pending_seen $((base + 8)) 5
sleep 3  # nothing tells of what is not done: three times the batch window
check "karst makes no claim: the other one leads" none_left nodeclaims || true
kill -TERM "$candidate"; wait "$candidate" || true
check "it led, and leads no more" [ "$(tail -n 1 "$work/candidate.out")" = led ] || true
await "karst leads" 20 leads $((base + 8))
await "5 pods run" 60 running 5
check "they are not wanted any more" k scale deployment web --replicas=0
await "their nodes are gone" 90 none_left nodes
await "so are their claims" 30 none_left nodeclaims
await "karst knows it" 60 knows_none_left $((base + 8)) || true
stops first $first
started=()

echo "# what the logs and the API server say"
verified "the first replica" "$work/first"
verified "the second replica" "$work/second"
for name in first second; do "$karst" log dump --data "$work/$name" > "$work/$name.jsonl"; done
k get nodes,nodeclaims -o json > "$work/end.json"
take_lines audit "$here/audit_checks.sh" "$plane/audit.jsonl"
take_lines join python3 "$here/join.py" "$plane/audit.jsonl" "$work/first.jsonl" "$work/second.jsonl" --end "$work/end.json"
take_lines epochs "$here/epochs.py" "$plane/audit.jsonl" "$work/first.jsonl" "$work/second.jsonl"
unsent=$(grep -c 'not sent: the lease does not cover it' "$work/first.jsonl" || true)
check "the stopped leader kept back what it had not sent ($unsent commands)" [ "$unsent" -gt 0 ] || true
# The checker itself: a write that is moved to past its lease must be found.
jq -c 'if .verb == "create" and .objectRef.resource == "nodes" then .requestReceivedTimestamp = "2100-01-01T00:00:00.000000Z" else . end' "$plane/audit.jsonl" > "$work/late.jsonl"
if "$here/epochs.py" "$work/late.jsonl" "$work/first.jsonl" "$work/second.jsonl" > "$work/late.out" 2>&1; then not_ok "the checker finds a write past its lease"
else check "the checker finds a write past its lease" grep -q "not ok every write left while" "$work/late.out" || true; fi
# So must one that the first replica decided in its first epoch, if it left in its last one: the lease was its own then.
log=$(jq -r 'select(.type == "LogCreated") | .payload.id' "$work/first.jsonl")
holder=$(jq -rs '[.[] | select(.type == "EpochOpened") | .payload.holder] | last' "$work/first.jsonl")
last_term=$(jq -rs --arg holder "$holder" '[.[] | select(.objectRef.resource == "leases" and .responseStatus.code == 200
  and .responseObject.spec.holderIdentity == $holder) | .requestReceivedTimestamp] | max' "$plane/audit.jsonl")
jq -c --arg log "$log" --arg when "$last_term" 'if .verb == "create" and .objectRef.resource == "nodeclaims" and (.auditID | startswith($log))
  then .requestReceivedTimestamp = $when else . end' "$plane/audit.jsonl" > "$work/moved.jsonl"
"$here/epochs.py" "$work/moved.jsonl" "$work/first.jsonl" "$work/second.jsonl" > "$work/moved.out" 2>&1 || true
check "the checker finds a write of an earlier epoch" grep -q "not ok every write left in the epoch" "$work/moved.out" || true
check "which the lease alone does not show" grep -q "^ok every write left while" "$work/moved.out" || true
