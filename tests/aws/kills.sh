#!/usr/bin/env bash
# The story's interruptions, with karst killed in the middle of them and the account answering badly: kills.sh BUILD_DIR [DIR]. At each step of a launch
# and of a removal (docs/crash-points.md says where), at the places of the process itself, at RANDOM_KILLS random moments (10), and SAME times (6) in a row
# at the same launch karst ends by kill -9 and is started again. After each part, and every TOGETHER kills (6) of the first and the last, judge.py must find no machine without owner
# within 60 s, and nothing lost or doubled within 240 s more (an interruption shuts its offering for three minutes). FAULTS=1 plays the account's faults
# one by one as well; with SAME given that alone is played. Ends with "N passed, N failed"; exit 4: a server does not run.
set -euo pipefail
all_seconds=${KILLS_SECONDS:-2400}
. "$(dirname "$0")/parts.sh"
pods_wanted=${PODS:-18}
RANDOM=${KILL_SEED:-20261121}; kills=0

settled() {
  running "$pods_wanted" && interrupted_are_gone && account_and_cluster || return 1
  "$karst" log dump --data "$data" > "$work/log.jsonl" 2> "$work/dump.err" || { cat "$work/dump.err"; return 1; }
  judge
}
all_owned() { account_and_cluster && python3 "$aws/judge.py" owners "$work/instances.json" "$work/objects.json"; }
karst_is_dead() {
  [ "$karst_pid" != 0 ] || { echo "it ended otherwise"; return 1; }
  if kill -0 "$karst_pid" 2> /dev/null; then echo "it runs"; return 1; fi
  local code=0; wait "$karst_pid" 2> /dev/null || code=$?
  karst_pid=0; started=("$kubelets_pid")
  [ $code = 137 ]
}
kill_karst() { [ "$karst_pid" = 0 ] || kill -9 "$karst_pid"; wait "$karst_pid" 2> /dev/null || true; karst_pid=0; started=("$kubelets_pid"); }
interrupt() { in_account interrupt "$moto" "$queue" 3 "$work/sent.jsonl" > "$work/interrupted"; }
calls_of() { curl -fsS "$moto/karst/calls" | jq -r ".\"$1\" // 0"; }
asked_since() { [ "$(calls_of "$1")" -gt "$2" ]; }
faults() { curl -fsS -d "$1" "$moto/karst/faults" > /dev/null; }
starts() { start_karst "${1:-}"; await "karst is ready (start $karst_runs)" 240 karst_ready || { tail -n 20 "$work/karst.$karst_runs.err"; return 1; }; }
again() {  # again WHAT: it, or one that is started anew, brings everything in order
  [ "$karst_pid" != 0 ] || starts
  await "$1: no machine without owner" 60 all_owned
  await "$1: nothing is lost, doubled or without owner" 400 settled
}
few() {  # few WHAT: after every few kills, everything is brought in order
  kills=$((kills + 1))
  [ $((kills % ${TOGETHER:-6})) != 0 ] || { again "$1 and those before"; kill_karst; }
}
at_point() {  # at_point NAME N
  start_karst "$1:$2"
  case $1 in
    *-recover) interrupt ;;
    before-stop) await "karst is ready (start $karst_runs)" 240 karst_ready; interrupt; kill -TERM "$karst_pid" ;;
    *) interrupt ;;
  esac
  await "it was killed at $1:$2" 90 karst_is_dead
  few "$1:$2"
}
# The steps of docs/crash-points.md: title, step and place by tabs.
steps() { awk -F'|' '/^## A /{title = substr($0, 4)} /^$/{title = ""} title != "" && /^\| / && !/^\| step /{gsub(/^ +| +$/, "", $2); gsub(/[ `]/, "", $5); print title "\t" $2 "\t" $5}' "$root/docs/crash-points.md"; }
launch_one() {  # three pods fill a machine
  local room=$((3 * $(count nodes))); [ "$room" -gt "$pods_wanted" ] || room=$pods_wanted
  pods_wanted=$((room + 3)); k scale deployment shop --replicas="$pods_wanted" > /dev/null
}
remove_one() { in_account interrupt "$moto" "$queue" 0 "$work/sent.jsonl" > /dev/null; }
fleets_done() { curl -fsS "$moto/karst/journal" | jq -s '[.[] | select(.action == "CreateFleet" and (.made // []) != [])] | length'; }
done_since() { [ "$(fleets_done)" -gt "$1" ]; }
with_account() {  # with_account sent|done CALL: the account has the call; it carries it out after karst is dead, or has done so, and karst does not hear of it
  local before
  if [ "$1" = sent ]; then
    before=$(calls_of "$2")
    faults "{\"calls\": [{\"action\": \"$2\", \"do\": {\"seconds\": 3}}]}"
  else
    before=$(fleets_done)
    faults "{\"calls\": [{\"action\": \"$2\", \"do\": {\"late\": 5}}]}"
  fi
  start_karst
  local code=0
  pushed=$SECONDS
  if [ "$1" = sent ]; then await "$3" 120 or_push asked_since "$2" "$before" || code=1; else await "$3" 120 or_push done_since "$before" || code=1; fi
  kill_karst
  faults '{}'
  return $code
}
or_push() {  # or_push COMMAND...: and when it is long in coming, because the one before was settled without this step, there is one more to launch or to remove
  "$@" && return 0
  if [ $((SECONDS - pushed)) -ge 25 ]; then pushed=$SECONDS; "$push"; fi
  return 1
}
strike() {  # strike TITLE STEP PLACE
  local what="$1, $2: it was killed at $3"
  [ -n "$3" ] || { not_ok "$1, $2: no place to kill it at"; return 1; }
  [ "$1" = "A launch" ] && push=launch_one || push=remove_one
  case $3 in  # what was under way is over, or is found without this step: another one is needed
    done:* | *-append-facts@LaunchRequested | *@EvictRequested | *-append-facts@TerminateRequested*) $push ;;
    *@ObjectGone) check "a volume is detached" k delete volumeattachment shop ;;
  esac
  case $3 in
    *:*) with_account "${3%%:*}" "${3#*:}" "$what"; return ;;
  esac
  start_karst "$3:1"
  pushed=$SECONDS
  await "$what" 120 or_push karst_is_dead || { kill_karst; return 1; }
}
at_each_step() {
  local title step place last="" all=0 struck=0
  while IFS=$'\t' read -r title step place <&3; do
    if [ "$title" != "$last" ]; then
      [ -z "$last" ] || { again "$last that was killed at each step"; kill_karst; }
      last=$title
      echo "# $title, step by step"
      if [ "$title" = "A launch" ]; then
        launch_one
      else
        remove_one
        check "a volume is attached to the machine that goes" attach || true
      fi
    fi
    all=$((all + 1))
    if strike "$title" "$step" "$place"; then struck=$((struck + 1)); fi
  done 3< <(steps)
  again "$last that was killed at each step"; kill_karst
  check "each of the 31 steps of docs/crash-points.md was struck: $struck of $all" [ "$struck $all" = "31 31" ] || true
}
attach() {
  k apply -f - <<YAML
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: shop}
spec: {attacher: test, nodeName: $(jq -rs '.[-1].instance' "$work/sent.jsonl").ec2.internal, source: {persistentVolumeName: shop}}
YAML
}

# One launch, killed again and again. It is sent with the same token while its outcome is unclear, after pauses that double and RESENT times at most (retry.cc),
# and looked up then: so the kills are divided between the two.
RESENT=12
fleets_since() { curl -fsS "$moto/karst/journal" | jq -sc --argjson from "$1" '.[$from:] | map(select(.action == "CreateFleet"))'; }
same_launch() {  # same_launch TITLE TIMES answered|unanswered
  local title=$1 times=$2 resent=$(($2 / 2)) from claims_before n
  [ "$resent" -le $RESENT ] || resent=$RESENT
  [ "$3" = answered ] || [ "$resent" = $RESENT ] || times=$resent  # before the last of them there is nothing to look up
  echo "# the same launch killed $times times, $title"
  claims_before=$(k get nodeclaims -o json | jq -c '[.items[].metadata.uid]')
  from=$(curl -fsS "$moto/karst/journal" | wc -l)
  local starts_before=$karst_runs dead=0
  launch_one
  if [ "$3" = answered ]; then  # the list of what the account holds does not come meanwhile, or the machine would be found in it and the order not be sent again
    killed_again "before-append-facts@LaunchRequested" "its answer has come"
    faults '{"calls": [{"action": "DescribeInstances", "times": 100000, "do": {"seconds": 20, "cut": "before"}}]}'
    for n in $(seq 2 "$resent"); do killed_again "before-append-facts@LaunchRequested" "its answer has come"; done
    faults '{}'
    for n in $(seq $((times - resent))); do killed_again "before-append-facts@InstanceObserved|InstanceFindRequested" "its machine has been found"; done  # in a list, or by the search, which falls due after some minutes
  else
    faults '{"calls": [{"action": "CreateFleet", "times": 100000, "do": {"seconds": 20, "cut": "before"}}]}'
    for n in $(seq "$resent"); do sent_again; done
    for n in $(seq $((times - resent))); do  # a search whose answer is lost is asked again after pauses that double as well
      if [ "$n" -le 4 ]; then killed_again "before-append-facts@InstanceFindRequested" "the answer to its search has come"; else killed_again "before-append-answer@InstanceFindRequested" "it is to be searched"; fi
    done
    faults '{}'
  fi
  again "$title"
  local claims; claims=$(k get nodeclaims -o json | jq -c --argjson before "$claims_before" '[.items[].metadata.uid] - $before')
  check "it is one claim: $claims" [ "$(jq length <<< "$claims")" = 1 ] || true
  check "one machine was ever made for it, by its tags" one_machine "$(jq -r '.[0]' <<< "$claims")" || true
  check "a second one would be found" two_would_be_found "$(jq -r '.[0]' <<< "$claims")" || true
  local sends; sends=$(fleets_since "$from" | jq -c 'group_by(.token) | map({key: .[0].token, value: length}) | from_entries')
  check "it was sent $resent times or more by one token" [ "$(jq '[.[]] | max' <<< "$sends")" -ge "$resent" ] || true
  check "it was killed $times times" [ "$dead" = "$times" ] || true
  echo "# $title: $((karst_runs - starts_before)) starts, $dead kills, CreateFleet calls by client token: $sends, machines: $(cat "$work/made_for_it")"
  kill_karst
}
one_machine() {
  jq --arg uid "$1" '[.[] | select(any(.tags | to_entries[]; (.key | startswith("karst.sh/claims.")) and (.value | split(" ") | any(startswith($uid + ":")))))] | length' \
    "$work/instances.json" | tee "$work/made_for_it"
  [ "$(cat "$work/made_for_it")" = 1 ]
}
two_would_be_found() {
  cp "$work/instances.json" "$work/all_instances.json"
  jq '. + .' "$work/all_instances.json" > "$work/instances.json"
  local code=0; one_machine "$1" || code=$?
  cp "$work/all_instances.json" "$work/instances.json"
  one_machine "$1" && [ $code = 1 ]
}
killed_again() {  # killed_again PLACE WHEN
  start_karst "$1:1"
  await "kill $((dead + 1)): $2, and is not written" 120 karst_is_dead || { kill_karst; return; }
  dead=$((dead + 1))
}
sent_again() {
  local before; before=$(calls_of CreateFleet)
  start_karst
  await "kill $((dead + 1)): it was sent, and there is no answer" 120 asked_since CreateFleet "$before" || { kill_karst; return; }
  kill_karst
  dead=$((dead + 1))
}
same_launches() {
  same_launch "its answer lost" "${SAME:-6}" answered
  same_launch "never answered" "${SAME:-6}" unanswered
}
at_random() {  # at_random MILLISECONDS
  starts
  interrupt
  sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"
  kill_karst
  few "a kill after $1 ms"
}
under() {  # under WHAT FAULTS
  faults "$2"
  interrupt
  again "$1"
  faults '{}'
}

account_faults() {
  echo "# faults of the account"
  starts
  under "a launch whose answer is lost" '{"calls": [{"action": "CreateFleet", "do": {"cut": "after"}}]}'
  under "a launch that is lost" '{"calls": [{"action": "CreateFleet", "do": {"cut": "before"}}]}'
  under "throttled and failing launches" '{"calls": [{"action": "CreateFleet", "times": 2, "do": {"status": 503, "code": "RequestLimitExceeded"}},
    {"action": "CreateFleet", "do": {"status": 500, "code": "InternalError"}}]}'
  under "a termination whose answer is lost, and failing reads" '{"calls": [{"action": "TerminateInstances", "do": {"cut": "after"}},
    {"action": "DescribeInstances", "times": 2, "do": {"status": 503, "code": "RequestLimitExceeded"}}]}'
  under "deletions of messages that fail" '{"calls": [{"action": "DeleteMessageBatch", "times": 2, "do": {"status": 500, "code": "InternalError"}}]}'
  kill_karst
}

main() {
  set_the_stage
  : > "$work/sent.jsonl"
  [ -n "${FAULTS:-}" ] || faults '{"queue": {"WaitTimeSeconds": 1, "VisibilityTimeout": 5}}'  # or each kill hides messages for half a minute
  starts
  await "the node class is ready" 60 class_ready
  check "the deployment is accepted" k apply -f "$aws/manifests/workload.yaml"
  check "it wants $pods_wanted pods" k scale deployment shop --replicas="$pods_wanted"
  await "$pods_wanted pods run on nodes" 180 running "$pods_wanted"
  if [ -n "${SAME:-}" ]; then remove_one; again "one machine was interrupted"; fi
  stop_karst
  if [ -z "${SAME:-}" ]; then
    [ -z "${FAULTS:-}" ] || account_faults
    echo "# places of the process itself"
    for point in before-recover:1 after-recover:1 before-acknowledge:1 after-acknowledge:1 before-stop:1; do at_point "${point%:*}" "${point#*:}"; done
    at_each_step
  fi
  same_launches
  if [ -z "${SAME:-}" ]; then
    echo "# random moments"
    for _ in $(seq "${RANDOM_KILLS:-10}"); do at_random $((RANDOM % 4000)); done
  fi
  again "the end"
  await "the queue is empty" 90 queue_is_empty
  stop_karst
  verified "all of it" "$data"
  echo "# $karst_runs starts, $(wc -l < "$work/sent.jsonl") messages, $(jq length "$work/instances.json") machines; calls: $(curl -fsS "$moto/karst/calls" | jq -c 'with_entries(select(.value > 0))')"
}
main
