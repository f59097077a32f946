#!/usr/bin/env bash
# Ways of a node that time, volumes and taints decide: termination.sh BUILD_DIR [DIR]. BUILD_DIR holds the program `karst`.
# A do-not-disrupt pod and one that a budget protects are deleted when their claims' terminationGracePeriod is over, and not before; a
# node waits for the volumes of its drained pods, not for those of a pod that stays, and past its deadline for none; a node with
# startup taints is Initialized when somebody has taken them off; an empty node is left alone while its daemon may not be disrupted; a
# pod under two budgets, which the API server evicts for nobody, stays until one is gone, and critical pods leave after it.
# Ends with "N passed, N failed"; exit 4: no control plane.
set -euo pipefail
source "$(dirname "$0")/parts.sh"
tools_needed python3
export LEADER_ELECTION_NAMESPACE=karpenter
data=$work/data; rm -rf "$data"
all_seconds=${STORY_SECONDS:-300}
grace=20      # terminationGracePeriod of the pool timed
pod_grace=5   # terminationGracePeriodSeconds of its pods

claim_of_node() { k get nodeclaims -o json | jq -r --arg node "$1" '.items[] | select(.status.nodeName == $node).metadata.name'; }
node_of_pod() { k get pod "$1" -o jsonpath='{.spec.nodeName}'; }
bound() { [ "$(k get pvc "$@" -o jsonpath='{.items[*].status.phase}')" = "Bound Bound Bound" ]; }
exists() { k get "$@" -o name; }
attachment() {  # attachment NAME NODE SOURCE: as an attacher would make it, which never detaches
  k create -f - << ATTACHMENT
{"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "$1"},
 "spec": {"attacher": "disks.example.com", "nodeName": "$2", "source": $3}}
ATTACHMENT
}
node_label() { k get node "$1" -o json | jq -r --arg key "$2" '.metadata.labels[$key] // ""'; }
has_label() { [ "$(node_label "$1" "$2")" = true ]; }
daemon_on() { k get pods -l app=daemon --field-selector "spec.nodeName=$1" -o jsonpath='{.items[0].metadata.name}'; }
budget_blocks() { k get poddisruptionbudget "$1" -o json | jq -e '.status | .currentHealthy == 1 and .disruptionsAllowed == 0'; }
only_left() { local names; names=$(k get nodes -o json | jq -r '[.items[].metadata.name] | sort | join(" ")'); echo "$names"; [ "$names" = "$(printf '%s\n' "$@" | sort | paste -sd ' ')" ]; }
left_alone() {  # left_alone CLAIM NODE: neither goes, nor is about to
  local found; found=$(k get nodeclaim/"$1" node/"$2" -o json | jq -c '[.items[] | [.kind, .metadata.deletionTimestamp, .spec.taints]]')
  echo "$found"
  jq -e 'length == 2 and all(.[1] == null and ([.[2][]?.key] | index("karpenter.sh/disrupted") == null))' <<< "$found"
}
deadline_of() { k get nodeclaim "$1" -o json | jq -r '.metadata.annotations["karpenter.sh/nodeclaim-termination-timestamp"] // ""'; }
has_deadline() {  # the claim's deletion and the pool's grace, for everybody to read
  k get nodeclaim "$1" -o json | jq -e --argjson grace $grace '.metadata | (.deletionTimestamp | fromdate) + $grace
    == (.annotations["karpenter.sh/nodeclaim-termination-timestamp"] | fromdate)'
}
untouched() { [ "$(k get pod "$1" -o json | jq -r '.metadata | .uid + " " + (.deletionTimestamp // "")')" = "$2 " ]; }
# forced POD UID DEADLINE: karst deleted it once, as that pod, not before the deadline less its own grace, with what was left. How long
# after that says how busy the machine is.
forced() {
  local found
  found=$(jq -nc --arg pod "$1" '[inputs | select(.user.username == "karst" and .verb == "delete" and .objectRef.resource == "pods" and .objectRef.name == $pod)
    | {at: .requestReceivedTimestamp, code: .responseStatus.code, uid: .requestObject.preconditions.uid, grace: .requestObject.gracePeriodSeconds}]' "$plane/audit.jsonl")
  echo "$found, the deadline is $3"
  jq -e --arg uid "$2" --arg deadline "$3" --argjson grace $pod_grace 'length == 1 and (.[0] | .code == 200 and .uid == $uid and .grace >= 1 and .grace <= $grace
    and ((.at[0:19] + "Z" | fromdate) as $at | ($deadline | fromdate) as $last | $at >= $last - $grace - 1 and $at <= $last + 10))' <<< "$found"
}
# What the API server said to evictions that karst asked for, each code once, must be CODES.
evictions_met() {  # evictions_met POD CODES
  local found
  found=$(jq -nc --arg pod "$1" '[inputs | select(.user.username == "karst" and .stage == "ResponseComplete" and .verb == "create" and .objectRef.subresource == "eviction"
    and .objectRef.name == $pod).responseStatus.code] | unique' "$plane/audit.jsonl")
  echo "$found"
  [ "$found" = "$2" ]
}
# node_deleted NODE FROM: karst deleted it, and not before that time.
node_deleted() {
  local found
  found=$(jq -nc --arg node "$1" '[inputs | select(.user.username == "karst" and .verb == "delete" and .objectRef.resource == "nodes" and .objectRef.name == $node
    and .responseStatus.code == 200).requestReceivedTimestamp]' "$plane/audit.jsonl")
  echo "$found, not before $2"
  jq -e --arg from "$2" 'length > 0 and all(.[0:19] >= $from[0:19])' <<< "$found"
}
volumes_given_up() {  # volumes_given_up CLAIM: its status said so
  jq -ne --arg claim "$1" '[inputs | select(.user.username == "karst" and .objectRef.resource == "nodeclaims" and .objectRef.subresource == "status" and .objectRef.name == $claim)
    | .responseObject.status.conditions[]? | select(.type == "VolumesDetached" and .status == "False" and .reason == "TerminationGracePeriodElapsed")] | length > 0' "$plane/audit.jsonl"
}
evicted_in_order() {  # by karst, each once, in this order
  local found
  found=$(jq -nr '[inputs | select(.user.username == "karst" and .verb == "create" and .objectRef.subresource == "eviction" and .responseStatus.code == 201
    and (.objectRef.name as $name | $ARGS.positional | index($name) != null))] | sort_by(.requestReceivedTimestamp) | map(.objectRef.name) | join(" ")' "$plane/audit.jsonl" --args "$@")
  echo "evicted: $found"
  [ "$found" = "$*" ]
}

begin
listen=$((base + 9))
check "pools and disks are accepted" k apply -f "$here/manifests/termination_pools.yaml"
await "the claims of the disks are bound" 30 bound drained shared staying
"$karst" run --kubeconfig "$plane/kubeconfig.karst" --cloud kwok --data "$data" --listen "127.0.0.1:$listen" > "$work/karst.out" 2> "$work/karst.err" < /dev/null &
pid=$!; started+=("$pid")
await "karst is ready" 30 curl -fsS "http://127.0.0.1:$listen/readyz"
check "seven pods and a daemon are accepted" k apply -f "$here/manifests/termination_pods.yaml"
await "all but one of them run, and two daemons" 60 running 8
held_node=$(node_of_pod held); guarded_node=$(node_of_pod guarded); volumes_node=$(node_of_pod drained)
claims_are_named() { for node in "$@"; do [ -n "$(claim_of_node "$node")" ] || return 1; done; }
await "their claims name their nodes" 30 claims_are_named "$held_node" "$guarded_node" "$volumes_node"
held=$(claim_of_node "$held_node"); guarded=$(claim_of_node "$guarded_node"); volumes=$(claim_of_node "$volumes_node")
held_uid=$(k get pod held -o jsonpath='{.metadata.uid}'); guarded_uid=$(k get pod guarded -o jsonpath='{.metadata.uid}')
check "the two with disks share a node" [ "$(node_of_pod staying)" = "$volumes_node" ]
check "the two that hold their nodes do not" [ "$held_node" != "$guarded_node" ]
for name in drained shared staying; do
  check "the disk $name is attached to their node" attachment "$name" "$volumes_node" "{\"persistentVolumeName\": \"$name\"}"
done
check "so is one without a name" attachment inline "$volumes_node" \
  '{"inlineVolumeSpec": {"accessModes": ["ReadWriteOnce"], "csi": {"driver": "disks.example.com", "volumeHandle": "inline"}}}'
check "a disk that nobody will detach is attached to the node of held" attachment stuck "$held_node" '{"persistentVolumeName": "stuck"}'

echo "# their claims are deleted"
check "the three claims are deleted" k delete nodeclaim "$held" "$guarded" "$volumes" --wait=false
await "the claim of held tells its deadline, $grace s after its deletion" 10 has_deadline "$held"
await "the claim of guarded, too" 10 has_deadline "$guarded"
held_end=$(deadline_of "$held"); guarded_end=$(deadline_of "$guarded")
check "that of the disks has none" [ -z "$(deadline_of "$volumes")" ] || true
await "an event tells it" 10 event NodeClaim TerminationGracePeriodExpiring "All pods will be deleted by $held_end" "$held" || true
await "the node of guarded tells that a budget holds its pod" 10 event Node FailedDraining "evicting pod violates a PDB" "$guarded_node" || true
await "the node of held tells that it waits" 10 event Node FailedDraining "pods are waiting to be evicted" "$held_node" || true

echo "# volumes"
await "the drained pod is gone" 20 none_left pod drained
await "its node waits for its disk, and for no other" 10 event Node AwaitingVolumeDetachment "Awaiting deletion of bound volumeattachments (drained)" "$volumes_node" || true
await "so says its claim" 10 condition "$volumes" VolumesDetached Unknown AwaitingVolumeDetachment || true

echo "# startup taints"
starting=$(k get nodeclaims -l karpenter.sh/nodepool=starting -o jsonpath='{.items[0].metadata.name}')
await "a claim waits for the startup taint" 30 condition "$starting" Initialized Unknown StartupTaintsExist || true
starting_node=$(k get nodeclaim "$starting" -o jsonpath='{.status.nodeName}')
check "its node is registered" has_label "$starting_node" karpenter.sh/registered || true
check "it is not marked as initialized" [ -z "$(node_label "$starting_node" karpenter.sh/initialized)" ] || true
check "its pod has no node" [ -z "$(node_of_pod starter)" ] || true
check "no second claim was made for it" [ "$(count nodeclaims -l karpenter.sh/nodepool=starting)" = 1 ] || true
check "somebody takes the taint off" k taint node "$starting_node" example.com/agent=missing:NoSchedule-
await "the claim is Initialized" 20 condition "$starting" Initialized True Initialized || true
await "the node is marked as initialized" 10 has_label "$starting_node" karpenter.sh/initialized || true
await "its pod runs" 20 pod_runs starter
check "the taint stays off" [ "$(k get node "$starting_node" -o json | jq -c '.spec.taints // []')" = "[]" ] || true

echo "# the disk is detached"
check "the node waits still" exists node "$volumes_node" || true
detached_at=$(date -u +%Y-%m-%dT%H:%M:%SZ)
check "the drained pod's disk is detached" k delete volumeattachment drained
await "the claim $volumes is gone" 30 none_left nodeclaim "$volumes"
check "so is its node" none_left node "$volumes_node" || true
check "the other disks are attached still" exists volumeattachment shared staying inline || true

echo "# the deadlines"
await "held is gone" 30 none_left pod held
await "guarded is gone" 10 none_left pod guarded
await "the claim of guarded is gone" 20 none_left nodeclaim "$guarded"
await "the claim of held, whose disk is attached still, is gone" 20 none_left nodeclaim "$held"
check "their nodes are gone" none_left node "$held_node" "$guarded_node" || true
check "the disk is attached still" exists volumeattachment stuck || true
# Not by a look at the pods meanwhile, for which a busy machine may be too slow: deleted once, as said here, they ran until then.
check "no eviction of held was asked for" evictions_met held "[]" || true
check "each eviction of guarded was refused" evictions_met guarded "[429]" || true
check "held was deleted at its deadline less its grace" forced held "$held_uid" "$held_end" || true
check "guarded was deleted at its deadline less its grace" forced guarded "$guarded_uid" "$guarded_end" || true
check "the node of held waited for its disk until its deadline" node_deleted "$held_node" "$held_end" || true
check "its claim told that it did not wait longer" volumes_given_up "$held" || true
check "the node of the drained pod waited until its disk was detached" node_deleted "$volumes_node" "$detached_at" || true

echo "# empty nodes"
noted_node=$(node_of_pod noted); budgeted_node=$(node_of_pod budgeted)
await "their claims name their nodes" 30 claims_are_named "$noted_node" "$budgeted_node"
noted=$(claim_of_node "$noted_node"); budgeted=$(claim_of_node "$budgeted_node")
noted_daemon=$(daemon_on "$noted_node"); budgeted_daemon=$(daemon_on "$budgeted_node")
check "one daemon asks not to be disrupted" k annotate pod "$noted_daemon" karpenter.sh/do-not-disrupt=true
check "the other gets a label" k label pod "$budgeted_daemon" budget=daemon
check "a budget protects it" k create poddisruptionbudget daemon --selector=budget=daemon --min-available=1
await "which allows no eviction" 30 budget_blocks daemon
check "the pods beside them, and elsewhere, are deleted" k delete pod noted budgeted starter staying --force --grace-period=0
await "the nodes without daemons are gone" 60 only_left "$noted_node" "$budgeted_node"
check "that of the daemon that asks not to be disrupted is left alone" left_alone "$noted" "$noted_node" || true
check "that of the daemon that a budget protects is left alone" left_alone "$budgeted" "$budgeted_node" || true
check "the one may be disrupted again" k annotate pod "$noted_daemon" karpenter.sh/do-not-disrupt-
check "the other's budget is taken away" k delete poddisruptionbudget daemon
await "no node is left" 60 none_left nodes
await "no claim is left" 30 none_left nodeclaims

echo "# two budgets over one pod, and a critical pod beside it"
check "they are accepted" k apply -f "$here/manifests/termination_tiers.yaml"
await "the pods run" 60 running 2
tiers_node=$(node_of_pod twice)
check "on one node" [ "$(node_of_pod vital)" = "$tiers_node" ]
await "its claim names it" 30 claims_are_named "$tiers_node"
tiers=$(claim_of_node "$tiers_node"); vital_uid=$(k get pod vital -o jsonpath='{.metadata.uid}')
check "the claim is deleted" k delete nodeclaim "$tiers" --wait=false
await "the node tells that the API server evicts no pod under two budgets" 20 event Node FailedDraining "eviction does not support multiple PDBs" "$tiers_node" || true
check "the critical pod runs on" untouched vital "$vital_uid" || true
check "one of the budgets is taken away" k delete poddisruptionbudget second
await "the claim is gone" 60 none_left nodeclaim "$tiers"
check "so are the pods" none_left pods -l '!controller' --field-selector=status.phase=Running || true
check "the ordinary one was evicted first" evicted_in_order twice vital || true
await "no node is left after that" 30 none_left nodes
await "karst knows that nothing is left" 60 knows_none_left $listen || true
code=0; kill -TERM $pid; wait $pid || code=$?
started=()
check "karst stops with exit code 0 (was $code)" [ $code = 0 ] || true
verified karst "$data"
"$karst" log dump --data "$data" > "$work/log.jsonl"
k get nodes,nodeclaims -o json > "$work/end.json"
take_lines audit "$here/audit_checks.sh" "$plane/audit.jsonl" guarded held
take_lines join python3 "$here/join.py" "$plane/audit.jsonl" "$work/log.jsonl" --end "$work/end.json"
