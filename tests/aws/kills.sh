#!/usr/bin/env bash
# The story's interruptions, with karst killed in the middle of them and the account answering badly: kills.sh BUILD_DIR [DIR]. For each named
# kill point (src/daemon/kill_points.h), for a template, a launch and a termination that the account carries out after karst is dead, and at RANDOM_KILLS
# random moments (10) karst ends by kill -9 and is started again. After every TOGETHER kills (6) judge.py must find no machine without owner within
# 60 s, and nothing lost or doubled within 240 s more (an interruption shuts its offering for three minutes). FAULTS=1 plays the account's faults one by
# one as well, SAME plays one launch so often instead of all that. Ends with "N passed, N failed"; exit 4: a server does not run.
set -euo pipefail
all_seconds=${KILLS_SECONDS:-1200}
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
  if kill -0 "$karst_pid" 2> /dev/null; then echo "it runs"; return 1; fi
  local code=0; wait "$karst_pid" 2> /dev/null || code=$?
  karst_pid=0; started=("$kubelets_pid")
  [ $code = 137 ]
}
kill_karst() { kill -9 "$karst_pid"; wait "$karst_pid" 2> /dev/null || true; karst_pid=0; started=("$kubelets_pid"); }
interrupt() { in_account interrupt "$moto" "$queue" 3 "$work/sent.jsonl" > "$work/interrupted"; }
calls_of() { curl -fsS "$moto/karst/calls" | jq -r ".\"$1\" // 0"; }
asked_since() { [ "$(calls_of "$1")" -gt "$2" ]; }
faults() { curl -fsS -d "$1" "$moto/karst/faults" > /dev/null; }
starts() { start_karst "${1:-}"; await "karst is ready (start $karst_runs)" 60 karst_ready || { tail -n 20 "$work/karst.$karst_runs.err"; return 1; }; }
again() {  # again WHAT: it, or one that is started anew, brings everything in order
  [ "$karst_pid" != 0 ] || starts
  await "$1: no machine without owner" 60 all_owned
  await "$1: nothing is lost, doubled or without owner" 240 settled
}
few() {  # few WHAT: after every few kills, everything is brought in order
  kills=$((kills + 1))
  [ $((kills % ${TOGETHER:-6})) != 0 ] || { again "$1 and those before"; kill_karst; }
}
at_point() {  # at_point NAME N
  start_karst "$1:$2"
  case $1 in
    *-recover) interrupt ;;
    before-stop) await "karst is ready (start $karst_runs)" 60 karst_ready; interrupt; kill -TERM "$karst_pid" ;;
    *) interrupt ;;
  esac
  await "it was killed at $1:$2" 90 karst_is_dead
  few "$1:$2"
}
while_sent() {  # while_sent ACTION: the account has the call, and carries it out after karst is dead
  starts
  faults "{\"calls\": [{\"action\": \"$1\", \"do\": {\"seconds\": 3}}]}"
  local before; before=$(calls_of "$1")
  interrupt
  await "$1 is on its way" 60 asked_since "$1" "$before"
  kill_karst
  faults '{}'
  again "$1 that was carried out after the kill"
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
  stop_karst
  if [ -n "${SAME:-}" ]; then
    echo "# the same launch, $SAME times"
    for _ in $(seq "$SAME"); do while_sent CreateFleet; kill_karst; done
  else
    [ -z "${FAULTS:-}" ] || account_faults
    echo "# kill points"
    for point in before-recover:1 after-recover:1 before-append-facts:8 after-append-facts:8 before-append-answer:8 after-append-answer:8 \
      before-acknowledge:1 after-acknowledge:1 before-dispatch:4 after-dispatch:4 before-stop:1; do
      at_point "${point%:*}" "${point#*:}"
    done
    again "the last kill points"; kill_karst
    echo "# calls on their way"
    for action in CreateLaunchTemplate CreateFleet TerminateInstances; do while_sent $action; kill_karst; done
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
