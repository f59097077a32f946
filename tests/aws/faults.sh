#!/usr/bin/env bash
# The account at its worst between real parts: faults.sh BUILD_DIR [DIR]. While a third of the machines is interrupted, most offers have no room, fleets
# come in part, answers are lost, doubled or cut, tokens are said to be used otherwise, calls fail and are throttled in a row. laws.py holds A1 to A6, T1
# and T2 of launching and terminating against what the account, the API server and the log say. ROUNDS plays all of it so often (1), and LONG=1 plays each
# fault alone as well, with minutes without any room. Ends with "N passed, N failed"; exit 4: a server does not run. About 1.5 minutes.
set -euo pipefail
all_seconds=${FAULTS_SECONDS:-1700}
. "$(dirname "$0")/parts.sh"
pods_wanted=${PODS:-18}
machines_max=8  # the pool's limit: six that are needed, and two that replace those that go

settled() {
  running "$pods_wanted" && interrupted_are_gone && account_and_cluster || return 1
  "$karst" log dump --data "$data" > "$work/log.jsonl" 2> "$work/dump.err" || { cat "$work/dump.err"; return 1; }
  judge
}
faults() {  # faults WHAT: from now on these; what came of those before is kept
  curl -fsS "$moto/karst/faults" | jq -c '.calls[]' >> "$work/played.jsonl"
  curl -fsS -d "$1" "$moto/karst/faults" > /dev/null
}
# One fault may be planned in several places, and a call may not come again before the next place: played once is enough.
never_played() {  # never_played LEDGER: what was planned and met no call in any place; the ledger must not be empty
  jq -sc 'if length == 0 then "no fault was planned" else group_by([.action, .do])[] | {action: .[0].action, do: .[0].do, played: (map(.played // 0) | add)} | select(.played == 0) end' "$1"
}
each_was_played() { local never; never=$(never_played "$1"); echo "$never"; [ -z "$never" ]; }
no_room_but_in() {  # no_room_but_in ZONE…: what /karst/faults calls capacity, of the pool's types
  jq -nc --args '[("m5.large", "c6a.large", "r5.large") as $type | ("a", "b", "c", "d", "e", "f") as $zone
    | {type: $type, zone: "us-east-1\($zone)", ct: "spot", code: "InsufficientInstanceCapacity"}
    | select($type != "r5.large" or (.zone as $z | $ARGS.positional | index($z) | not))]' -- "$@"
}
# Node classes are asked for once a minute: a phase that is over sooner has not met them all.
each_was_met() {
  { cat "$work/played.jsonl"; curl -fsS "$moto/karst/faults" | jq -c '.calls[]'; } > "$work/met.jsonl"
  each_was_played "$work/met.jsonl"
}
unplayed() { curl -fsS "$moto/karst/faults" | jq '[.calls[] | .times // 1] | add // 0'; }
all_played() { local left; left=$(unplayed); echo "$left not played"; [ "$left" = 0 ]; }
under() {  # under WHAT CALLS [CAPACITY]: a third is interrupted meanwhile, and everything comes in order
  local began=$SECONDS
  faults "{\"calls\": $2, \"capacity\": ${3:-[]}}"
  in_account interrupt "$moto" "$queue" 3 "$work/sent.jsonl" > "$work/interrupted"
  await "$1: nothing is lost, doubled or without owner" "${4:-90}" settled
  echo "# $1: $((SECONDS - began)) s, $(unplayed) faults not played"
}
storm='[{"action": "CreateFleet", "times": 2, "do": {"status": 503, "code": "RequestLimitExceeded"}}, {"action": "CreateFleet", "do": {"fewer": 1}},
  {"action": "CreateFleet", "times": 2, "do": {"status": 500, "code": "InternalError"}}, {"action": "DescribeInstances", "times": 2, "do": {"status": 500, "code": "InternalError"}}]'
answers='[{"action": "CreateFleet", "do": {"status": 400, "code": "IdempotentParameterMismatch"}}, {"action": "CreateFleet", "do": {"cut": "after"}},
  {"action": "DescribeInstances", "do": {"page": "twice"}}, {"action": "DescribeInstances", "do": {"page": "item"}}, {"action": "DescribeInstances", "do": {"page": "cut"}},
  {"action": "DescribeInstances", "do": {"page": "hole"}}, {"action": "DescribeInstances", "times": 2, "do": {"status": 503, "code": "RequestLimitExceeded"}},
  {"action": "TerminateInstances", "do": {"cut": "after"}}, {"action": "TerminateInstances", "times": 2, "do": {"status": 503, "code": "RequestLimitExceeded"}}]'

# What is asked at a start, and each minute. Each action fails three times in a row or more, so that the attempts at once do not hide it.
reads='[{"action": "GET /clusters/story", "times": 2, "do": {"status": 503, "code": "ServerException"}},
  {"action": "GetQueueUrl", "do": {"cut": "before"}}, {"action": "GetQueueUrl", "do": {"status": 500, "code": "InternalError"}},
  {"action": "DescribeInstances", "times": 2, "do": {"seconds": 12}}, {"action": "DescribeInstances", "do": {"cut": "after"}}, {"action": "DescribeInstances", "do": {"page": "cut"}},
  {"action": "DescribeSubnets", "times": 2, "do": {"cut": "before"}}, {"action": "DescribeSubnets", "do": {"body": ""}}, {"action": "DescribeSubnets", "do": {"body": "<html/>"}},
  {"action": "DescribeSecurityGroups", "do": {"page": "cut"}}, {"action": "DescribeSecurityGroups", "times": 3, "do": {"status": 503, "code": "RequestLimitExceeded"}},
  {"action": "GetParameter", "times": 4, "do": {"status": 400, "code": "ThrottlingException"}}, {"action": "GetParameter", "times": 2, "do": {"cut": "after"}}, {"action": "GetParameter", "do": {"body": "{"}},
  {"action": "DescribeImages", "times": 2, "do": {"status": 500, "code": "InternalError"}}, {"action": "DescribeImages", "do": {"page": "cut"}},
  {"action": "GetInstanceProfile", "times": 3, "do": {"status": 503, "code": "Throttling"}}, {"action": "GetInstanceProfile", "do": {"body": "<html"}}, {"action": "GetInstanceProfile", "do": {"cut": "after"}}]'
# What EC2 sells is read at a start, and the reading ends at a fault for a minute: so each has a start of its own, but for prices, without which it goes on.
sold='{"action": "DescribeInstanceTypes", "do": {"cut": "before"}}
{"action": "DescribeInstanceTypes", "do": {"page": "cut"}}
{"action": "DescribeInstanceTypes", "do": {"status": 503, "code": "RequestLimitExceeded"}}
{"action": "DescribeInstanceTypeOfferings", "do": {"body": "<html"}}
{"action": "DescribeSpotPriceHistory", "do": {"status": 500, "code": "InternalError"}}, {"action": "GetProducts", "do": {"body": "{\"PriceList\": ["}}'
made='[{"action": "CreateInstanceProfile", "do": {"status": 503, "code": "Throttling"}}, {"action": "CreateInstanceProfile", "do": {"cut": "after"}},
  {"action": "AddRoleToInstanceProfile", "do": {"status": 500, "code": "ServiceFailure"}}, {"action": "AddRoleToInstanceProfile", "do": {"cut": "after"}},
  {"action": "RunInstances", "do": {"status": 503, "code": "RequestLimitExceeded"}}]'
ended='[{"action": "DescribeLaunchTemplates", "do": {"page": "cut"}}, {"action": "DescribeLaunchTemplates", "do": {"body": "<html/>"}}, {"action": "DeleteLaunchTemplate", "do": {"status": 503, "code": "RequestLimitExceeded"}},
  {"action": "DeleteLaunchTemplate", "do": {"cut": "after"}}, {"action": "ListInstanceProfiles", "do": {"body": "<html/>"}},
  {"action": "RemoveRoleFromInstanceProfile", "do": {"cut": "before"}}, {"action": "DeleteInstanceProfile", "do": {"cut": "after"}}]'

alone() {  # every fault by itself
  local fault action do
  for fault in 'CreateFleet {"cut": "after"}' 'CreateFleet {"cut": "before"}' 'CreateFleet {"fewer": 1}' 'CreateFleet {"fewer": 2}' 'CreateFleet {"body": "<html"}' \
    'CreateFleet {"status": 400, "code": "IdempotentParameterMismatch"}' 'CreateFleet {"status": 500, "code": "InternalError"}' \
    'CreateFleet {"status": 503, "code": "RequestLimitExceeded", "headers": {"Retry-After": "2"}}' 'TerminateInstances {"cut": "after"}' \
    'TerminateInstances {"status": 500, "code": "InternalError"}' 'DescribeInstances {"page": "twice"}' 'DescribeInstances {"page": "item"}' \
    'DescribeInstances {"page": "cut"}' 'DescribeInstances {"page": "hole"}' 'DescribeInstances {"cut": "before"}' 'DescribeInstances {"body": ""}'; do
    action=${fault%% *} do=${fault#* }
    under "three times $action $do" "[{\"action\": \"$action\", \"times\": 3, \"do\": $do}]" "[]" 150
  done
}
no_room_at_all() {  # offers without room are left alone for three minutes, and longer each time
  faults "{\"capacity\": $(no_room_but_in)}"
  in_account interrupt "$moto" "$queue" 3 "$work/sent.jsonl" > "$work/interrupted"
  sleep 20
  faults '{}'
  await "no room at all for 20 s: nothing is lost, doubled or without owner" 900 settled
}

main() {
  set_the_stage
  check "the pool has a limit" k patch nodepool spot --type=merge -p "{\"spec\": {\"limits\": {\"cpu\": \"$((machines_max * 2))\"}}}"
  : > "$work/sent.jsonl"; : > "$work/played.jsonl"
  faults "{\"calls\": $made}"
  start_karst
  await "karst is ready" 60 karst_ready || { tail -n 20 "$work/karst.$karst_runs.err"; return 1; }
  await "the node class is ready, though its profile is hard to make" 120 class_ready
  check "the deployment is accepted" k apply -f "$aws/manifests/workload.yaml"
  check "it wants $pods_wanted pods" k scale deployment shop --replicas="$pods_wanted"
  await "$pods_wanted pods run on nodes" 180 running "$pods_wanted"
  [ -z "${LONG:-}" ] || alone
  for _ in $(seq "${ROUNDS:-1}"); do
    under "no room but in two offers, fleets in part, failures in a row" "$storm" "$(no_room_but_in us-east-1a us-east-1b)" "${STORM_SECONDS:-400}"
    under "lost, doubled and cut answers, another order's token" "$answers" "$(no_room_but_in us-east-1a us-east-1b)" "${STORM_SECONDS:-400}"
  done
  echo "# starts at which what EC2 sells is hard to read, and one at which no other read is answered at once"
  local fault
  while read -r fault; do
    kill -9 "$karst_pid"; wait "$karst_pid" 2> /dev/null || true
    faults "{\"calls\": [$fault]}"
    start_karst
    await "a start meets $fault" 60 all_played || true
  done <<< "$sold"
  kill -9 "$karst_pid"; wait "$karst_pid" 2> /dev/null || true
  faults "{\"calls\": $reads}"
  start_karst
  await "karst is ready all the same" 120 karst_ready || { tail -n 20 "$work/karst.$karst_runs.err"; return 1; }
  under "reads and IAM that time out, throttle, fail and are cut" "$reads" "[]" 400
  await "each of them was met" 300 each_was_met || true
  [ -z "${LONG:-}" ] || no_room_at_all
  faults '{}'
  await "the queue is empty" 60 queue_is_empty
  stop_karst
  settled > "$work/settled" || true
  curl -fsS "$moto/karst/journal" > "$work/journal.jsonl"
  laws() { python3 "$aws/laws.py" "$work/sent.jsonl" "$work/instances.json" "$work/objects.json" "$work/log.jsonl" "$work/journal.jsonl" "$machines_max"; }
  take_lines laws laws
  controls
  verified "all of it" "$data"
  echo "# the node class goes, though that is hard too"
  faults "{\"calls\": $ended}"
  start_karst
  await "karst is ready" 60 karst_ready || return 1
  class_goes 300
  stop_karst
  verified "the end" "$data"
  faults '{}'
  check "each of $(jq -sc 'map([.action, .do]) | unique | length' "$work/played.jsonl") faults that were planned was played ($(jq -s 'map(.played // 0) | add' "$work/played.jsonl") times in all)" each_was_played "$work/played.jsonl" || true
  check "one that met no call is found" one_is_missed || true
  echo "# $(wc -l < "$work/sent.jsonl") messages, $(jq length "$work/instances.json") machines; calls: $(curl -fsS "$moto/karst/calls" | jq -c 'with_entries(select(.value > 0))')"
}
# The laws themselves: what breaks one must be found.
breaks() {  # breaks LAW FILE FILTER: with the log, the journal, the machines or the objects changed so
  local law=$1 file=$work/$2 code=0; shift 2
  cp "$file" "$work/whole"
  jq -c "$@" "$work/whole" > "$file"
  laws > "$work/laws.out" 2>&1 || code=$?
  cp "$work/whole" "$file"
  [ $code = 1 ] && grep -qF "not ok $law" "$work/laws.out" || { cat "$work/laws.out"; return 1; }
}
one_is_missed() { never_played <(cat "$work/played.jsonl"; echo '{"action": "NobodyCallsIt", "do": {"cut": "after"}}') | jq -e -s 'any(.action == "NobodyCallsIt")'; }
controls() {
  check "A1 is broken by a second attempt beside an open one" breaks A1 log.jsonl 'select(.type != "OutcomeReceived")' || true
  check "A2 is broken by other bytes" breaks A2 journal.jsonl 'if .action == "CreateFleet" then .digest = "\(.at)" else . end' || true
  check "A4 is broken by a second claim for a pod" breaks A4 log.jsonl 'if .type == "PodsNominated" then ., (.payload.claim = "another") else . end' || true
  check "A5 is broken by a hundred machines" breaks A5 journal.jsonl 'if .action == "CreateFleet" then .alive = 100 else . end' || true
  check "A6 is broken by haste" breaks A6 journal.jsonl 'if .action == "CreateFleet" then .at = 1 else . end' || true
  check "T1 is broken by an end without a look" breaks T1 journal.jsonl 'select(.action != "DescribeInstances")' || true
  check "A3 is broken by a machine that two claims name" breaks A3 objects.json '.claims += .claims' || true
  check "A3 is broken by a machine that no claim names" breaks A3 objects.json '.claims = []' || true
  check "T2 is broken by the end of a machine that nobody interrupted" breaks T2 instances.json 'map(.state = "terminated")' || true
}
main
