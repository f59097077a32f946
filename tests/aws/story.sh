#!/usr/bin/env bash
# karst's main job on EC2: story.sh BUILD_DIR [DIR]. A real control plane, an AWS-shaped server with a real SQS queue, karst with the shipped
# rights in between. PODS pods (default 30) get machines through CreateFleet; a third of the machines is interrupted at once by messages of
# the queue; all pods run again. judge.py joins messages, machines, objects and log. SHIFT=1: also with a zone that traffic is shifted away from. Ends with "N passed, N failed"; exit 4: a server does not run.
set -euo pipefail
all_seconds=${STORY_SECONDS:-600}
. "$(dirname "$0")/parts.sh"

finds() { local text=$1; shift; "$@" > "$work/finds.out" 2>&1 && return 1; grep -qF "$text" "$work/finds.out" || { cat "$work/finds.out"; return 1; }; }

main() {
  set_the_stage
  echo "# $pods_wanted pods"
  check "without the cluster's name it does not start, and says what to set" nameless_start || true
  shadow
  [ -z "${SHIFT:-}" ] || { settings="ENABLE_ZONAL_SHIFT=true EKS_CONTROL_PLANE=true"; shift_away ""; }
  start_karst
  await "karst is ready" 60 karst_ready || { tail -n 20 "$work/karst.$karst_runs.err"; return 1; }
  await "the node class is ready" 60 class_ready
  await "$pods_wanted pods run on nodes" 180 running "$pods_wanted"
  check "each node belongs to one claim, and each claim to one node" one_to_one || true
  local before; before=$(machines)
  check "there are $before machines" [ "$before" -ge 3 ]

  echo "# a third of them is interrupted"
  in_account interrupt "$moto" "$queue" 3 "$work/sent.jsonl" > "$work/interrupted"
  echo "# $(cat "$work/interrupted") messages"
  await "the interrupted machines are given back" 180 interrupted_are_gone
  await "so are their claims, once they are proven gone" 60 nothing_leaves
  await "$pods_wanted pods run on nodes again" 180 running "$pods_wanted"
  await "the queue is empty" 60 queue_is_empty || true
  await "each node belongs to one claim, and each claim to one node, again" 60 one_to_one || true

  [ -z "${SHIFT:-}" ] || shifted

  echo "# a node class that finds nothing"
  check "it is accepted" k apply -f "$aws/manifests/broken_class.yaml"
  await "its status says what is wrong" 60 broken_is_told || true
  check "it is taken back" k delete ec2nodeclass broken --wait=false
  curl -fsS "http://127.0.0.1:$listen/metrics" > "$work/metrics" || true
  check "there are metrics of the account" grep -q '^karpenter_cloudprovider_' "$work/metrics" || true
  stop_karst
  verified "the story" "$data"
  "$karst" log dump --data "$data" > "$work/log.jsonl"
  secrets
  check "on-demand prices are the price list's, not the embedded table's" price_of_the_list || true
  account_and_cluster
  take_lines judge judge
  controls
  echo "# the node classes go"
  start_karst
  await "karst is ready" 60 karst_ready || return 1
  class_goes
  stop_karst
  verified "the end" "$data"
  k get clusterrole/karst-aws -o json | jq '{items: [.]}' > "$work/roles.json"
  take_lines rights "$here/rights_check.sh" "$plane/audit.jsonl" "$work/roles.json" /dev/null
  echo "# calls: $(curl -fsS "$moto/karst/calls" | jq -c 'with_entries(select(.value > 0))')"
}
# The class's user data has a token: the machines get it, and nobody else (docs/decisions/0019).
secrets() {
  echo "# a token in user data"
  "$karst" audit export --data "$data" --format jsonl > "$work/trail.jsonl"
  jq -r '.bytes // empty' "$work/trail.jsonl" | while read -r line; do base64 -d <<< "$line"; done > "$work/trail.bytes"
  local format view table  # Parquet has what these have, compressed: tests/cluster/canary.sh reads it
  : > "$work/export.err"
  for format in csv sqlite cloudevents cloudevents-batch; do "$karst" audit export --data "$data" --format $format --out "$work/events.$format" 2>> "$work/export.err"; done
  for view in decisions nodeclaims; do "$karst" audit export --data "$data" --format csv --view $view --out "$work/$view.csv" 2>> "$work/export.err"; done
  for table in pods nodes claims pools; do "$karst" state --data "$data" -o json $table > "$work/state.$table.json" 2>> "$work/export.err"; done
  check "the search would find what the state and the views hold" bash -c 'for file; do grep -qF us-east-1 "$file" || exit 1; done' - "$work/state.claims.json" "$work/decisions.csv" "$work/nodeclaims.csv" "$work/events.cloudevents-batch" || true
  check "the launch templates hold it" bash -c 'PYTHONDONTWRITEBYTECODE=1; . "$1/moto/env.sh"; "$2" "$3/world.py" user_data > "$1/user_data"; grep -qF canary-5b0e "$1/user_data"' - "$work" "$python" "$aws" || true
  check "the class's hash of it is in the log" grep -qF "$(printf '#!/bin/bash\njoin --token canary-5b0e-user-data\n' | sha256sum | cut -d ' ' -f 1)" "$work/log.jsonl" || true
  # Plain, and in base64 at each of its three offsets.
  python3 -c 'import base64; print("canary-5b0e", *(base64.b64encode(b"." * n + b"canary-5b0e-user-data").decode()[4:-4] for n in range(3)), sep="\n")' > "$work/canaries"
  for place in "$data" "$work/shadow" "$work/log.jsonl" "$work/trail.jsonl" "$work/trail.bytes" "$work/events.csv" "$work/events.sqlite" \
      "$work/events.cloudevents" "$work/events.cloudevents-batch" "$work/decisions.csv" "$work/nodeclaims.csv" "$work"/state.*.json "$work/metrics" "$work/shadow.out" "$work/shadow.err" "$work/export.err" "$work"/karst.*.out "$work"/karst.*.err; do
    check "it is not in ${place#"$work/"}" bash -c '[ -e "$1" ] && ! grep -raFl -f "$2" "$1"' - "$place" "$work/canaries" || true
  done
}
# Before karst acts: it looks, decides, and changes nothing.
shadow() {
  echo "# a shadow before $pods_wanted pending pods"
  k apply -f "$root/deploy/manifests/shadow/rbac.yaml" > /dev/null
  for role in karst-shadow karst-shadow-aws; do k create clusterrolebinding "story-$role" --clusterrole=$role --user=karst-shadow > /dev/null; done
  (. "$work/moto/env.sh"; export CLUSTER_NAME=story INTERRUPTION_QUEUE=$queue
    exec "$karst" run --shadow --kubeconfig "$plane/kubeconfig.karst-shadow" --cloud aws --data "$work/shadow" --listen "127.0.0.1:$listen" \
      > "$work/shadow.out" 2> "$work/shadow.err" < /dev/null) & karst_pid=$!
  started=("$kubelets_pid" "$karst_pid")
  await "the shadow is ready" 60 karst_ready || { tail -n 20 "$work/shadow.err"; return 1; }
  check "the deployment is accepted" k apply -f "$aws/manifests/workload.yaml"
  check "it wants $pods_wanted pods" k scale deployment shop --replicas="$pods_wanted"
  await "it says which claims it would make" 60 grep -q '"message":"would have created nodeclaim"' "$work/shadow.out" || true
  stop_karst
  verified "the shadow" "$work/shadow"
  check "it has only read from the account" only_read || true
  check "there is no claim" [ -z "$(k get nodeclaims -o name)" ] || true
}
# What ARC says of the cluster: a shift away from the zone of that id, or none. It is asked with the node class, each minute.
shift_away() {
  jq -nc --arg id "$1" '{zonalShifts: [{appliedStatus: "APPLIED", awayFrom: $id, expiryTime: (now + 3600 | floor)} | select($id != "")], autoshifts: []}
    | {calls: [{action: "GET /managedresources/arn:aws:eks:us-east-1:123456789012:cluster/story", times: 1000, do: {body: tojson}}]}' \
    | curl -fsS -d @- "$moto/karst/faults" > /dev/null
}
told_by_pool() { k get events -A -o json | jq -e --arg reason "$1" 'any(.items[]; .involvedObject.kind == "NodePool" and .reason == $reason)'; }
nodes_in() { k get nodes -l "topology.kubernetes.io/zone=$1" -o json | jq -c '[.items[].metadata.name]'; }
none_but() {  # none_but NAMES ZONE: there is no other node in the zone; some of them may have gone
  local new; new=$(jq -nc --argjson before "$1" --argjson now "$(nodes_in "$2")" '$now - $before'); echo "$new"
  [ "$new" = "[]" ]
}
shifted() {
  local zone id before
  read -r zone id < <(k get nodes -o json | jq -r '[.items[].metadata.labels["topology.kubernetes.io/zone"]] | group_by(.) | max_by(length)[0]' \
    | while read -r name; do k get ec2nodeclass default -o json | jq -r --arg name "$name" '.status.subnets[] | select(.zone == $name) | "\(.zone) \(.zoneID)"'; done)
  before=$(nodes_in "$zone")
  echo "# traffic is shifted away from $zone ($id), where $(jq length <<< "$before") machines are"
  shift_away "$id"
  await "the pool says so" 100 told_by_pool ZonalShiftActive || true
  check "twice as many pods are wanted" k scale deployment shop --replicas=$((pods_wanted * 2))
  await "$((pods_wanted * 2)) pods run on nodes" 180 running $((pods_wanted * 2))
  check "no machine was bought in $zone" none_but "$before" "$zone" || true
  shift_away ""
  await "the pool says that it is over" 100 told_by_pool ZonalShiftCleared || true
}
only_read() {
  local writes; writes=$(curl -fsS "$moto/karst/calls" | jq -r 'to_entries[] | select(.value > 0).key | select(test("^(Describe|Get|List|GET )") | not)')
  echo "$writes"
  [ -z "$(grep -vE '^(Create(Queue|Role)|POST /clusters)$' <<< "$writes")" ]  # the stage's own
}
nameless_start() {
  local code=0
  (. "$work/moto/env.sh"; export LEADER_ELECTION_NAMESPACE=karpenter; exec "$karst" run --kubeconfig "$plane/kubeconfig.karst" --cloud aws --data "$work/nameless" --listen 127.0.0.1:0) \
    > "$work/nameless.out" 2>&1 < /dev/null || code=$?
  cat "$work/nameless.out"
  [ $code = 2 ] && grep -q "set CLUSTER_NAME" "$work/nameless.out"
}
price_of_the_list() {  # the seed's price of m5.large is not July's
  local want; want=$(jq '.prices["m5.large"] * 1e9 | round' "$aws/moto/seed.json")
  jq -se --argjson want "$want" '[.[] | select(.type == "CatalogueObserved") | .payload.types[] | select(.name == "m5.large").offerings[]
    | select(.capacity_type == "on-demand").price_nanos_per_hour] | last == $want' "$work/log.jsonl" \
    && jq -se '[.[] | select(.type == "CatalogueObserved").payload] | last | .on_demand_source == "the price list" and .spot_source == "the spot price history"' "$work/log.jsonl"
}
broken_is_told() {
  local got; got=$(k get ec2nodeclass broken -o json | jq -c '[.status.conditions[]? | {type, status, reason, message}]'); echo "$got"
  jq -e 'any(.[]; .type == "Ready" and .status == "False") and any(.[]; .type == "ValidationSucceeded" and .status == "False" and .message != "")' <<< "$got"
}
# The judge itself: what is not so must be found.
controls() {
  cp "$work/instances.json" "$work/all_instances.json"
  jq '. + [.[0] | .id = "i-00000000000000000" | .state = "running"]' "$work/all_instances.json" > "$work/instances.json"
  check "the judge finds a machine without owner" finds "not ok every running machine has a claim" judge || true
  jq '[range(0; 101) as $n | .[0] | .id = "i-\($n)"]' "$work/all_instances.json" > "$work/instances.json"
  check "the judge finds a launch that was doubled" finds "not ok no order made more machines" judge || true
  cp "$work/all_instances.json" "$work/instances.json"
  cp "$work/log.jsonl" "$work/whole_log.jsonl"
  grep -v "$(jq -rs '.[0].message' "$work/sent.jsonl")" "$work/whole_log.jsonl" > "$work/log.jsonl" || true
  check "the judge finds a lost message" finds "not ok each of the messages sent is in the log" judge || true
  cp "$work/whole_log.jsonl" "$work/log.jsonl"
}
main
