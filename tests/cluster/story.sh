#!/usr/bin/env bash
# karst's main job on a real control plane: story.sh BUILD_DIR [DIR]. BUILD_DIR holds the program `karst`.
# Starts kube-apiserver, etcd, kube-scheduler, controller-manager and KWOK, runs karst as a restricted user, and judges from
# outside. Prints a line per check and ends with "N passed, N failed". Exit 0: all passed; 1: some failed; 4: no control plane.
# STORY_TIMES multiplies the pods (10: 500 pods, `tools/long-run cluster`) and what the pools may have.
# Every wait is for a condition, and all of them together have STORY_SECONDS (default 600). What it started it ends.
set -euo pipefail
source "$(dirname "$0")/parts.sh"
. "$here/story_down.sh"
tools_needed python3
data=$work/data
times=${STORY_TIMES:-1}; pods_wanted=$((50 * times))
all_seconds=${STORY_SECONDS:-600}
karst_pid=0; karst_runs=0

start_karst() {
  karst_runs=$((karst_runs + 1))
  KARST_KILL_POINT=${1:-} FEATURE_GATES=NodeOverlay=true,CapacityBuffer=true LEADER_ELECTION_NAMESPACE=karpenter "$karst" run --kubeconfig "$plane/kubeconfig.karst" --cloud kwok --data "$data" --listen "127.0.0.1:$listen" \
    > "$work/karst.$karst_runs.out" 2> "$work/karst.$karst_runs.err" < /dev/null &
  karst_pid=$!
  started=("$karst_pid")
  await "karst is ready (start $karst_runs)" 30 curl -fsS "http://127.0.0.1:$listen/readyz" || { tail -20 "$work/karst.$karst_runs.err"; return 1; }
}
kill_karst() {
  if ! kill -9 $karst_pid; then not_ok "karst runs until it is killed" "$(tail -3 "$work/karst.$karst_runs.err")"; return 1; fi
  wait $karst_pid 2> /dev/null || true
  karst_pid=0; started=()
  ok "karst was killed with kill -9 $1"
}
karst_is_dead() {
  if kill -0 $karst_pid 2> /dev/null; then echo "it runs"; return 1; fi
  local code=0; wait $karst_pid 2> /dev/null || code=$?
  karst_pid=0; started=()
  [ $code = 137 ]
}
stop_karst() {
  kill -TERM $karst_pid
  local code=0; wait $karst_pid 2> /dev/null || code=$?
  karst_pid=0; started=()
  check "karst stops on SIGTERM with exit code 0 (was $code)" [ $code = 0 ] || true
}

claims_ready() {
  local got; got=$(k get nodeclaims -o json | jq -c '[.items[] | select([.status.conditions[]? | select(.status == "True").type]
    | contains(["Launched", "Registered", "Initialized", "Ready"]) | not).metadata.name]')
  echo "not ready: $got"
  [ "$got" = "[]" ]
}
# Over (pods, nodes, claims) as JSON: a jq filter that yields what is wrong, as an array.
wrong() {
  local found
  found=$(jq -nc --slurpfile pods <(k get pods -o json) --slurpfile nodes <(k get nodes -o json) --slurpfile claims <(k get nodeclaims -o json) \
    "(\$pods[0].items) as \$pods | (\$nodes[0].items) as \$nodes | (\$claims[0].items) as \$claims
     | (\$nodes | map({key: .metadata.name, value: .}) | from_entries) as \$node | $1")
  echo "$found"
  [ "$found" = "[]" ]
}
on_label() { wrong "[\$pods[] | select(.metadata.labels.app == \"$1\") | select(\$node[.spec.nodeName].metadata.labels[\"$2\"] != \"$3\").metadata.name]"; }

set_the_stage() {
  awk -v times="$times" '/^  replicas: / { $0 = "  replicas: " $2 * times } { print }' "$here/manifests/workloads.yaml" > "$work/workloads.yaml"
  sed "s/limits: {cpu: \"200\"}/limits: {cpu: \"$((200 * times))\"}/" "$here/manifests/pools.yaml" > "$work/pools.yaml"
  [ "$times" = 1 ] || export REQUESTS_PER_SECOND=500
  begin
  listen=$((base + 9))
  check "node pools and node class are accepted" k apply -f "$work/pools.yaml"
  refused "a budget of 150%" '.spec.disruption.budgets = [{nodes: "150%"}]'
  refused "a requirement on karpenter.sh/nodepool" '.spec.template.spec.requirements += [{key: "karpenter.sh/nodepool", operator: "Exists"}]'
  refused "the operator In without values" '.spec.template.spec.requirements += [{key: "a", operator: "In"}]'
  refused "an expiry that is no duration" '.spec.template.spec.expireAfter = "soon"'
}
refused() {  # the API server must refuse the pool web with this change
  if k get nodepool web -o json | jq "$2 | .metadata = {name: \"refused\"}" | k apply --dry-run=server -f - > "$work/refused.out" 2>&1
  then not_ok "a NodePool with $1 is refused"; else check "a NodePool with $1 is refused" grep -q "is invalid" "$work/refused.out" || true; fi
}

scale_up() {
  echo "# $pods_wanted pods in five deployments"
  start_karst before-dispatch:3  # the pools are told, the claims are made; the launches are durable, and not sent
  check "the deployments are accepted" k apply -f "$work/workloads.yaml"
  await "karst makes claims" 60 has 1 nodeclaims
  await "karst was killed with kill -9 while it launches" 60 karst_is_dead
  check "it left claims without nodes ($(count nodeclaims) claims, $(count nodes) nodes)" [ "$(count nodeclaims)" -gt "$(count nodes)" ] || true
  start_karst
  await "$pods_wanted pods run on nodes" 180 running "$pods_wanted"
  await "every claim is Launched, Registered, Initialized and Ready" 60 claims_ready || true
  check "each node belongs to one claim, and each claim to one node" one_to_one || true
  check "every node is karst's" wrong '[$nodes[] | select(.metadata.labels["karpenter.sh/nodepool"] == null).metadata.name]' || true
  check "web runs on the pool web" on_label web team web || true
  check "batch runs on spot" on_label batch karpenter.sh/capacity-type spot || true
  check "zonal runs in its zone" on_label zonal topology.kubernetes.io/zone test-zone-b || true
  check "zonal runs on arm64" on_label zonal kubernetes.io/arch arm64 || true
  check "even is spread over zones by at most one" wrong '[$pods[] | select(.metadata.labels.app == "even") | $node[.spec.nodeName].metadata.labels["topology.kubernetes.io/zone"]]
    | group_by(.) | map(length) | if length == 4 and max - min <= 1 then [] else . end' || true
  check "no two pods of apart share a node" wrong '[$pods[] | select(.metadata.labels.app == "apart").spec.nodeName] | group_by(.) | map(select(length > 1) | .[0])' || true
  check "claims carry finalizer, owner and pool" wrong \
    '[$claims[] | select((.metadata.finalizers // [] | index("karpenter.sh/termination") == null) or (.metadata.ownerReferences[0].kind? != "NodePool")
      or .metadata.labels["karpenter.sh/nodepool"] == null).metadata.name]' || true
  check "no node keeps the unregistered taint" wrong '[$nodes[] | select([.spec.taints[]?.key] | index("karpenter.sh/unregistered") != null).metadata.name]' || true
  echo "# $(count nodes) nodes for $pods_wanted pods"
  await "/metrics counts the pods as Karpenter's do" 30 metric "$pods_wanted" karpenter_pods_state 'phase="Running"' || true
  await "/metrics shows what each node has for pods" 30 metric_series "$(count nodes)" karpenter_nodes_allocatable 'resource_type="cpu"' || true
  await "/metrics counts the nodes" 30 metric "$(count nodes)" karpenter_cluster_state_node_count || true
  await "/metrics counts the pods that were bound since the start" 30 metric_more 0 karpenter_pods_bound_duration_seconds_count || true
  await "all lists and watches share a connection to the API server; writes have one, the lease, and kwok's machines" 20 connections 4 || true
  show_columns
  tell_events
  follow_a_volume
  share_a_status
  explain_others
}

connections() {  # connections N: karst has so many to the API server
  local mine open
  mine=$(for file in /proc/"$karst_pid"/fd/*; do readlink "$file" || true; done | sed -n 's/^socket:\[\(.*\)\]$/\1/p')
  open=$(awk -v port="$(printf %04X $((base + 2)))" 'NR == FNR { mine[$1]; next } $4 == "01" && ($10 in mine) && substr($3, 10) == port' <(echo "$mine") /proc/net/tcp | wc -l)
  echo "$open connections"
  [ "$open" = "$1" ]
}
# metric VALUE NAME [LABEL]: the sum of the series of that name that carry the label.
metric_sum() {
  curl -fsS "http://127.0.0.1:$listen/metrics" | awk -v name="$1" -v label="${2:-}" \
    '{ split($1, part, "{"); if (part[1] == name && index($0, label)) { sum += $NF; n++ } } END { printf "%.0f %d\n", sum, n }'
}
metric() { local sum; read -r sum _ <<< "$(metric_sum "$2" "${3:-}")"; echo "$2: $sum"; [ "$sum" = "$1" ]; }
metric_more() { local sum; read -r sum _ <<< "$(metric_sum "$2" "${3:-}")"; echo "$2: $sum"; [ "$sum" -gt "$1" ]; }
metric_series() { local n; read -r _ n <<< "$(metric_sum "$2" "${3:-}")"; echo "$2: $n series"; [ "$n" = "$1" ]; }

follow_a_volume() {
  check "a pod with a volume of its first use is accepted" k apply -f "$here/manifests/volume.yaml"
  await "the pod with the volume runs" 60 pod_runs keeper
  check "its node is in the one zone that its storage class allows" on_label keeper topology.kubernetes.io/zone test-zone-c || true
  check "its claim is bound" [ "$(k get pvc data -o jsonpath='{.status.phase}')" = Bound ] || true
  check "the pod with the volume is taken back" k delete -f "$here/manifests/volume.yaml" --wait=false
  await "the pod with the volume is gone" 60 none_left pod keeper
}

# What others write into a status stays there, however often both write (docs/decisions/0021-a-status-is-shared.md).
share_a_status() {
  # The oldest, whose pods stay: the newest may be that of the pod with the volume, and go as empty meanwhile.
  local claim before; claim=$(k get nodeclaims -l karpenter.sh/nodepool=web -o json | jq -r '.items | sort_by(.metadata.creationTimestamp)[0].metadata.name')
  before=$(status_writes "$claim")
  check "somebody writes into the status of a claim and of its pool, 20 times, and takes Ready away" others_write 20 "nodeclaim/$claim" nodepool/web || true
  await "the claim is Ready again" 60 condition "$claim" Ready True Ready || true
  await "the pool is Ready again" 60 says nodepool/web Ready=True/Ready || true
  check "the claim has the condition of somebody else" says "nodeclaim/$claim" example.com/Seen=True/Round20 || true
  check "so has the pool" says nodepool/web example.com/Seen=True/Round20 || true
  check "the claim has a field of somebody else" [ "$(k get nodeclaim "$claim" -o jsonpath='{.status.lastPodEventTime}')" = 2026-01-01T00:00:20Z ] || true
  check "karst wrote no more often than it had to ($before, then $(status_writes "$claim"))" [ "$before" -ge 1 -a $(($(status_writes "$claim") - before)) -ge 1 -a $(($(status_writes "$claim") - before)) -le 41 ] || true
}
others_write() {  # others_write TIMES OBJECT...: each time with a new condition and without Ready
  local n object tries
  for n in $(seq "$1"); do for object in "${@:2}"; do
    for tries in $(seq 50); do
      k get "$object" -o json | jq --arg n "$n" '(.status.conditions // []) as $all | .status.conditions = [$all[] | select(.type != "Ready" and .type != "example.com/Seen")]
        + [{type: "example.com/Seen", status: "True", reason: "Round\($n)", message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
        | if .kind == "NodeClaim" then .status.lastPodEventTime = (1767225600 + ($n | tonumber) | todate) else . end' | k replace --subresource=status -f - && continue 2
    done
    echo "$object: round $n: karst was there before in each of $tries tries"; return 1
  done; done
}
status_writes() {  # status_writes CLAIM: those of karst that were taken
  jq -n --arg name "$1" '[inputs | select(.user.username == "karst" and .verb == "patch" and .objectRef.subresource == "status" and .objectRef.name == $name and .responseStatus.code == 200)] | length' "$plane/audit.jsonl"
}

# What karst does not own and explains in its status.
explain_others() {
  check "two overlays and room for two pods are accepted" k apply -f "$here/manifests/explained.yaml"
  await "an overlay says that it is applied" 60 says nodeoverlay/cheaper Ready=True/Ready || true
  await "one of its weight says that it is in conflict" 60 says nodeoverlay/also-cheaper ValidationSucceeded=False/Conflict || true
  await "a buffer says what it stands for" 60 says capacitybuffer/spare ReadyForProvisioning=True/Resolved || true
  await "a buffer says that its room is there" 90 says capacitybuffer/spare Provisioning=True/FitsExistingCapacity || true
  check "kubectl shows how many pods it stands for" [ "$(k get capacitybuffer spare -o jsonpath='{.status.replicas}')" = 2 ] || true
  check "they are taken back" k delete -f "$here/manifests/explained.yaml" --wait=false
}
says() {  # says KIND/NAME TYPE=STATUS/REASON
  local got; got=$(k get "$1" -o json | jq -r '[.status.conditions[]? | "\(.type)=\(.status)/\(.reason)"] | join(" ")')
  echo "$got"
  grep -qF "$2" <<< "$got"
}

# What people see when they describe an object.
tell_events() {
  check "kubectl get events shows Nominated for a pod" event Pod Nominated "Pod should schedule on: nodeclaim/" || true
  check "kubectl get events shows a claim's conditions" event NodeClaim Launched "Status condition transitioned, Type: Launched, Status: Unknown -> True" || true
  check "a pod that no machine can take is accepted" k apply -f - << 'POD'
apiVersion: v1
kind: Pod
metadata: {name: huge}
spec: {containers: [{name: main, image: none, resources: {requests: {cpu: "4000"}}}]}
POD
  await "kubectl get events shows FailedScheduling for it" 60 event Pod FailedScheduling "Failed to schedule pod, " huge || true
  check "it is taken back" k delete pod huge --wait=false
}

# What kubectl get shows of pools and claims: Karpenter's columns, filled in.
show_columns() {
  await "kubectl get nodepools shows class, nodes and readiness" 30 pools_shown || true
  check "kubectl get nodeclaims shows type, capacity, zone, node and readiness" claims_shown || true
  check "kubectl get nodeclaims -o wide shows id, pool and class" claims_shown_wide || true
  check "claims carry the hash of their pool, and its version" wrong \
    '[$claims[] | select(.metadata.annotations["karpenter.sh/nodepool-hash"] == null or .metadata.annotations["karpenter.sh/nodepool-hash-version"] != "v3").metadata.name]' || true
  check "each claim's hash is its pool's" hashes_agree || true
  check "claims carry the class's label" wrong '[$claims[] | select(.metadata.labels["karpenter.kwok.sh/kwoknodeclass"] != "default").metadata.name]' || true
}
pools_shown() {
  local rows; rows=$(k get nodepools --no-headers); echo "$rows"
  [ "$(awk '$2 == "default" && $4 == "True" { n++; nodes += $3 } END { print n, nodes }' <<< "$rows")" = "3 $(count nodes)" ] || return 1
  k get nodepools -o json | jq -e '[.items[] | .status | select((.resources.nodes | tonumber) == .nodes and .resources.cpu != null
    and ([.conditions[] | select(.status == "True").type] | contains(["ValidationSucceeded", "NodeClassReady", "Ready"])))] | length == 3'
}
claims_shown() {
  local rows; rows=$(k get nodeclaims --no-headers); echo "$rows"
  [ "$(awk 'NF == 7 && $3 ~ /^(spot|on-demand)$/ && $4 ~ /^test-zone-/ && $5 ~ /^kwok-/ && $6 == "True" { n++ } END { print n + 0 }' <<< "$rows")" = "$(count nodeclaims)" ]
}
claims_shown_wide() {
  local rows; rows=$(k get nodeclaims -o wide --no-headers); echo "$rows"
  [ "$(grep -cE ' kwok://[^ ]+ +(web|batch|general) +default' <<< "$rows")" = "$(count nodeclaims)" ]
}
hashes_agree() {
  local hashes; hashes=$(k get nodepools -o json | jq -c '[.items[] | {key: .metadata.name, value: .metadata.annotations["karpenter.sh/nodepool-hash"]}] | from_entries')
  echo "$hashes"
  k get nodeclaims -o json | jq -e --argjson hashes "$hashes" '[.items[] | select(.metadata.annotations["karpenter.sh/nodepool-hash"]
    != $hashes[.metadata.labels["karpenter.sh/nodepool"]]).metadata.name] == []'
}

# The API server goes away and comes back while pods are waiting: nothing is lost, nothing is done twice.
server_away() {
  echo "# the API server is stopped and started"
  local pid args; pid=$(cat "$plane/apiserver.pid")
  mapfile -d '' -t args < "/proc/$pid/cmdline"
  check "two more pods are asked for" k scale deployment even --replicas=$((4 * times + 2))
  # kube-scheduler looks at a pod that it could not call unschedulable again after five minutes only.
  await "the scheduler has told of each" 30 all_judged $((pods_wanted + 2)) || true
  away_from=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
  kill -9 "$pid"  # asked to stop it waits for its watches to end
  await "the API server is stopped" 30 gone "$pid"
  await "karst tells that it cannot follow" 60 grep -q "cannot be followed at the moment" "$work/karst.$karst_runs.err" "$work/karst.$karst_runs.out" || true
  (cd "$plane" && exec "${args[@]}" > apiserver.2.log 2>&1 < /dev/null) & echo $! > "$plane/apiserver.pid"
  await "the API server is ready again" 60 k auth can-i list pods --all-namespaces --as karst
  away_until=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)  # until then it refuses whom it will know in a moment
  await "karst follows again" 90 grep -q "is followed again" "$work/karst.$karst_runs.err" "$work/karst.$karst_runs.out" || true
  pods_wanted=$((pods_wanted + 2))
  await "$pods_wanted pods run on nodes, after all" 120 running "$pods_wanted"
}
all_judged() { local got; got=$(k get pods -o json | jq '[.items[] | select(any(.status.conditions[]?; .type == "PodScheduled"))] | length'); echo "$got of $1 pods"; [ "$got" = "$1" ]; }
gone() { ! kill -0 "$1" 2> /dev/null; }

# A person deletes a claim under running pods: they are evicted, and run again elsewhere. A disruption budget first, then a
# do-not-disrupt pod holds the node until the person takes it away.
drain_one() {
  echo "# claims are deleted by hand"
  local claim node pods
  k create poddisruptionbudget batch --selector=app=batch --min-available=$((18 * times)) > /dev/null
  await "a budget of batch allows no eviction" 120 budget_blocks batch $((18 * times)) || true
  claim=$(k get nodeclaims -l karpenter.sh/nodepool=batch -o json | jq -r '.items[0].metadata.name')
  node=$(k get nodeclaim "$claim" -o jsonpath='{.status.nodeName}')
  pods=$(pods_on "$node")
  check "a claim with $(wc -w <<< "$pods") pods is deleted" k delete nodeclaim "$claim" --wait=false
  await "the node tells that a budget holds its pods" 60 event Node FailedDraining "evicting pod violates a PDB" "$node" || true
  check "not one of them was evicted" [ "$(pods_on "$node")" = "$pods" ] || true
  check "the claim shows that it drains" condition "$claim" Drained Unknown Draining || true
  check "the node is out of the load balancers" [ "$(k get node "$node" -o jsonpath='{.metadata.labels.node\.kubernetes\.io/exclude-from-external-load-balancers}')" = karpenter ] || true
  check "the budget is taken away" k delete poddisruptionbudget batch
  await "the claim $claim is gone" 90 none_left nodeclaim "$claim"
  await "$pods_wanted pods run on nodes again" 120 running "$pods_wanted"

  local pod; pod=$(k get pods -l app=web -o json | jq -r '.items[0].metadata.name')
  node=$(k get pod "$pod" -o jsonpath='{.spec.nodeName}')
  claim=$(k get nodeclaims -o json | jq -r --arg node "$node" '.items[] | select(.status.nodeName == $node).metadata.name')
  check "a pod asks not to be disrupted" k annotate pod "$pod" karpenter.sh/do-not-disrupt=true
  check "the claim of its node is deleted" k delete nodeclaim "$claim" --wait=false
  await "it is the last one on its node" 60 alone_on "$pod" "$node" || true
  await "the node tells that it waits" 60 event Node FailedDraining "pods are waiting to be evicted" "$node" || true
  check "the pod runs on" k get pod "$pod" || true
  check "it may be disrupted again" k annotate pod "$pod" karpenter.sh/do-not-disrupt-
  await "the claim $claim is gone" 90 none_left nodeclaim "$claim"
  await "$pods_wanted pods run on nodes again" 120 running "$pods_wanted"
}
pods_on() { k get pods --field-selector "spec.nodeName=$1" -o json | jq -r '[.items[].metadata.uid] | sort | join(" ")'; }
alone_on() { local found; found=$(k get pods --field-selector "spec.nodeName=$2" -o json | jq -r '[.items[].metadata.name] | join(" ")'); echo "$found"; [ "$found" = "$1" ]; }

# A pool takes its claims along; made again, it serves its pods again. A do-not-disrupt pod holds one of them until its deadline.
drop_pool() {
  echo "# a pool is deleted by hand"
  local claims node claim; claims=$(k get nodeclaims -l karpenter.sh/nodepool=general -o name)
  check "the pool general has claims" [ -n "$claims" ] || true
  overdue=$(k get pods -l app=zonal -o jsonpath='{.items[0].metadata.name}')
  node=$(k get pod "$overdue" -o jsonpath='{.spec.nodeName}')
  claim=$(k get nodeclaims -o json | jq -r --arg node "$node" '.items[] | select(.status.nodeName == $node).metadata.name')
  check "a pod of it asks not to be disrupted" k annotate pod "$overdue" karpenter.sh/do-not-disrupt=true
  check "the pool general is deleted" k delete nodepool general --wait=false
  await "the pod is the last one on its node" 60 alone_on "$overdue" "$node" || true
  await "all claims of the pool but its own are gone" 120 only_left "$claim" -l karpenter.sh/nodepool=general || true
  check "its claim gets a deadline" k annotate nodeclaim "$claim" "karpenter.sh/nodeclaim-termination-timestamp=$(date -u -d '3 seconds' +%Y-%m-%dT%H:%M:%SZ)"
  # shellcheck disable=SC2086
  await "its claims follow it" 120 none_left $claims
  check "it is made again" k apply -f "$work/pools.yaml"
  await "$pods_wanted pods run on nodes once more" 120 running "$pods_wanted"
}

only_left() { local found; found=$(k get nodeclaims "${@:2}" -o json | jq -r '[.items[].metadata.name] | join(" ")'); echo "$found"; [ "$found" = "$1" ]; }

finds() { local output; if output=$("${@:2}" 2>&1); then return 1; fi; grep -qF "$1" <<< "$output"; }

# Karpenter's key order, which parsers in the field rely on; a line that breaks it is printed.
log_lines_are_karpenters() {
  local text='"([^"\\]|\\.)*"'
  cat "$work"/karst.*.out > "$work/lines"
  [ -s "$work/lines" ] || { echo "karst said nothing"; return 1; }
  ! grep -vE "^\{\"level\":\"(DEBUG|INFO|WARN|ERROR)\",\"time\":\"[0-9]{4}-[0-9-]{5}T[0-9:]{8}\.[0-9]{3}Z\",\"logger\":\"controller\",\"message\":$text,\"commit\":$text,\"controller\":$text,(\"controllerGroup\":$text,\"controllerKind\":\"([A-Za-z]+)\",\"[A-Za-z]+\":\{\"name\":$text\},)?\"namespace\":$text,\"name\":$text,\"reconcileID\":$text(,.*)?\}\$" "$work/lines"
}
milestones() {  # each claim that came up is told of, step by step
  local step made
  made=$(jq -r 'select(.message == "initialized nodeclaim").NodeClaim.name' "$work/lines" | sort -u)
  [ -n "$made" ] || { echo "no claim is initialized"; return 1; }
  for step in "launched nodeclaim" "registered nodeclaim"; do
    jq -r --arg step "$step" 'select(.message == $step).NodeClaim.name' "$work/lines" | sort -u > "$work/told"
    comm -23 <(echo "$made") "$work/told" > "$work/untold"
    [ ! -s "$work/untold" ] || { echo "not told: $step of $(paste -sd, "$work/untold")"; return 1; }
  done
}

judge() {
  echo "# what the log and the API server say"
  check "replay --verify agrees with every round" "$karst" replay --data "$data" --verify || true
  local rounds decided
  rounds=$("$karst" log dump --data "$data" | grep -c '"RoundClosed"' || true)
  decided=$("$karst" replay --data "$data" --verify | sed -n 's/.* \([0-9]*\) rounds decided again.*/\1/p')
  check "it decided every round again ($decided of $rounds)" [ "$rounds" -gt 0 -a "$decided" = "$rounds" ] || true
  check "every log line has Karpenter's keys in their order" log_lines_are_karpenters || true
  check "the log tells how each claim came up" milestones || true
  jq -c --arg from "$away_from" --arg until "$away_until" 'select((.responseStatus.code == 403 and .user.username == "karst"
    and .requestReceivedTimestamp >= $from and .requestReceivedTimestamp <= $until) | not)' "$plane/audit.jsonl" > "$work/audit.jsonl"
  echo "# $(($(wc -l < "$plane/audit.jsonl") - $(wc -l < "$work/audit.jsonl"))) requests were refused while the API server came up"
  take_lines audit "$here/audit_checks.sh" "$work/audit.jsonl" "$overdue"
  take_lines rights "$here/rights_check.sh" "$work/audit.jsonl" "$work/roles.json" "$here/rights_unused.txt"
  "$karst" log dump --data "$data" > "$work/log.jsonl"
  k get nodes,nodeclaims -o json > "$work/end.json"
  take_lines join python3 "$here/join.py" "$work/audit.jsonl" "$work/log.jsonl" --end "$work/end.json"
  # The checker itself: a right too many, and one too few, must be found.
  jq '.items[0].rules += [{apiGroups: [""], resources: ["secrets"], verbs: ["get"]}]' "$work/roles.json" > "$work/roles_wide.json"
  check "the rights checker finds a right that nobody uses" finds "get secrets" \
    "$here/rights_check.sh" "$work/audit.jsonl" "$work/roles_wide.json" "$here/rights_unused.txt" || true
  jq 'del(.items[].rules[].resourceNames)' "$work/roles.json" > "$work/roles_unnamed.json"
  check "the rights checker finds a right on every lease" finds "update leases.coordination.k8s.io=karpenter-leader-election" \
    "$here/rights_check.sh" "$work/audit.jsonl" "$work/roles_unnamed.json" "$here/rights_unused.txt" || true
  jq -c 'select(.user.username == "karst") | .responseStatus.code = 403' "$work/audit.jsonl" > "$work/refused.jsonl"
  check "the rights checker finds a refused request" finds "not ok no request of karst was refused" \
    "$here/rights_check.sh" "$work/refused.jsonl" "$work/roles.json" "$here/rights_unused.txt" || true
  # The checker itself: a second node for the same claim must be found.
  jq -nc 'first(inputs | select(.verb == "create" and .objectRef.resource == "nodes" and .user.username == "karst"
    and .responseStatus.code == 201)) | ., .' "$work/audit.jsonl" > "$work/doubled.jsonl"
  if "$here/audit_checks.sh" "$work/doubled.jsonl" > "$work/doubled.out" 2>&1; then not_ok "the audit checker finds a doubled launch"
  else check "the audit checker finds a doubled launch" grep -q "not ok no attempt of a claim made two nodes" "$work/doubled.out" || true; fi
}

main() {
  set_the_stage
  scale_up
  server_away
  drain_one
  drop_pool
  scale_down
  judge
}
main
