# The end of story.sh, which sources this: down to nothing, past pods that a budget protects and pods that ask not to be disrupted.
# Their nodes are not empty, so they stay. When people delete their claims, the nodes are drained and wait for these pods, also after a
# kill; when the protection is lifted, the pods are evicted, and the nodes go.

scale_down() {
  echo "# down to nothing"
  local kept kept_nodes claims held; down_from=$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)
  check "a budget protects apart" k create poddisruptionbudget apart --selector=app=apart --min-available=$((2 * times))
  check "zonal asks not to be disrupted" k annotate pods -l app=zonal karpenter.sh/do-not-disrupt=true
  await "the budget allows no eviction" 60 budget_blocks apart $((2 * times)) || true
  kept=$(protected)
  kept_nodes=$(k get pods -l 'app in (apart, zonal)' -o json | jq -c '[.items[].spec.nodeName] | unique')
  claims=$(k get nodeclaims -o json | jq -r --argjson nodes "$kept_nodes" '.items[] | select(.status.nodeName as $node | $nodes | index($node)).metadata.name')
  # Gone in a second, none might be on its way when karst is killed: somebody else's finalizer holds one of those that must go.
  held=$(jq -rn --argjson kept "$kept_nodes" --slurpfile nodes <(k get nodes -o json) '[$nodes[0].items[].metadata.name] - $kept | .[0]')
  check "somebody holds the node $held" k patch node "$held" --type=json -p '[{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/hold"}]'
  kill_karst "while it is at rest"
  check "the other deployments are scaled to zero" k scale deployment web batch even --replicas=0
  start_karst
  await "only protected pods are left" 60 running $((8 * times))
  await "some nodes are going" 60 going 1
  kill_karst "while nodes go"
  check "it left some that are going" going 1 || true
  check "nobody holds the node any more" release "$held" || true
  start_karst
  await "only the protected pods' nodes are left" 120 only_needed || true
  check "they are the same pods on the same nodes" [ "$(protected)" = "$kept" ] || true
  check "none of these nodes is going, as none is empty" going_none || true
  # shellcheck disable=SC2086
  held_in_drain "$kept" $claims
  # shellcheck disable=SC2086
  let_go $claims
  check "all deployments are scaled to zero" k scale deployment --replicas=0 --all
  await "no pod is left" 60 none_left pods
  await "no node is left" 120 none_left nodes
  await "no claim is left" 60 none_left nodeclaims
  await "karst knows that nothing is left" 60 knows_none_left $listen || true
  stop_karst
  { k get clusterrole karst karst-kwok -o json; k get role -n karpenter karst-lease -o json; } | jq -s '{items: [.[] | .items // [.] | .[]]}' > "$work/roles.json"
}

held_in_drain() {  # held_in_drain PODS CLAIM...
  local kept=$1 refused; shift
  check "their $# claims are deleted by hand" k delete nodeclaim "$@" --wait=false
  await "all of them are going" 60 going $# || true
  await "each node of apart tells that a budget holds its pods" 60 told_by_all apart FailedDraining "evicting pod violates a PDB" || true
  await "each node of zonal tells that it waits for its pods" 60 told_by_all zonal FailedDraining "pods are waiting to be evicted" || true
  kill_karst "while the protected pods hold their nodes"
  refused=$(evictions apart 429)
  start_karst
  await "it asks again for the evictions that the budget forbids" 60 evictions_more "$refused" apart 429 || true
  await "each claim shows that it drains" 30 all_drain "$@" || true
  check "all of them are going still" going $# || true
  check "they are the same pods on the same nodes, and run" [ "$(protected)" = "$kept" ] || true
  check "none of apart was evicted" [ "$(evictions apart 201)" = 0 ] || true
  check "of none of zonal an eviction was asked" [ "$(evictions zonal)" = 0 ] || true
}

let_go() {  # let_go CLAIM...
  check "the budget is taken away" k delete poddisruptionbudget apart
  check "zonal may be disrupted again" k annotate pods -l app=zonal karpenter.sh/do-not-disrupt-
  await "their claims are gone" 120 none_left nodeclaim "$@"
  await "all pods of apart were evicted" 10 evictions_are $((2 * times)) apart 201 || true
  await "so were those of zonal" 10 evictions_are $((6 * times)) zonal 201 || true
  await "as many run elsewhere" 120 running $((8 * times)) || true
}

release() { k patch node "$1" --type=json -p "[{\"op\": \"remove\", \"path\": \"/metadata/finalizers/$(k get node "$1" -o json | jq '.metadata.finalizers | index("example.com/hold")')\"}]"; }
going_none() {
  wrong '[$nodes[] | select(.metadata.deletionTimestamp != null or ([.spec.taints[]?.key] | index("karpenter.sh/disrupted") != null)).metadata.name]
    + [$claims[] | select(.metadata.deletionTimestamp != null).metadata.name]'
}
protected() { k get pods -l 'app in (apart, zonal)' -o json | jq -r '[.items[] | .metadata.uid + " on " + .spec.nodeName + " " + .status.phase + (.metadata.deletionTimestamp // "")] | sort | join(", ")'; }
only_needed() {  # every node has a pod, and every claim a node
  wrong '([$pods[].spec.nodeName] | unique) as $used | ([$nodes[].metadata.name] - $used) + ($used - [$nodes[].metadata.name])
    + [$claims[] | select(.status.nodeName as $name | $used | index($name) == null).metadata.name]'
}
all_drain() { k get nodeclaim "$@" -o json | jq -e '(.items // [.]) | all(any(.status.conditions[]?; .type == "Drained" and .status == "Unknown" and .reason == "Draining"))'; }
told_by_all() {  # told_by_all APP REASON TEXT: an event of each node that has pods of it
  local silent
  silent=$(jq -nc --slurpfile pods <(k get pods -l "app=$1" -o json) --slurpfile events <(k get events --field-selector "involvedObject.kind=Node,reason=$2" -o json) --arg text "$3" \
    '[$pods[0].items[].spec.nodeName] as $nodes | [$events[0].items[] | select(.source.component == "karpenter" and (.message | contains($text))).involvedObject.name] as $told
      | if $nodes == [] then ["no pod"] else $nodes - $told end')
  echo "silent: $silent"
  [ "$silent" = "[]" ]
}
evictions() {  # evictions APP [CODE]: how many karst asked for, of the pods of that deployment that there are when scaling down
  jq -n --arg app "$1-" --argjson code "${2:-0}" --arg from "$down_from" '[inputs | select(.user.username == "karst" and .stage == "ResponseComplete" and .objectRef.subresource == "eviction"
    and .requestReceivedTimestamp >= $from and (.objectRef.name | startswith($app)) and ($code == 0 or .responseStatus.code == $code))] | length' "$plane/audit.jsonl"
}
evictions_are() { local n; n=$(evictions "${@:2}"); echo "$n evictions"; [ "$n" = "$1" ]; }
evictions_more() { local n; n=$(evictions "${@:2}"); echo "$n evictions"; [ "$n" -gt "$1" ]; }
