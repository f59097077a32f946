#!/usr/bin/env bash
# karst under a policy from before Karpenter 1.0 (manifests/older_policy.json): narrow.sh BUILD_DIR [DIR]. No queue, no rights of IAM but
# PassRole, TerminateInstances by tag only. The AWS-shaped server checks each signature and each right. PODS pods (default 10) get machines,
# lose them when they are scaled down, and nothing is left. Ends with "N passed, N failed"; exit 4: a server does not run.
set -euo pipefail
all_seconds=${STORY_SECONDS:-300}
export PODS=${PODS:-10}
. "$(dirname "$0")/parts.sh"

stage() {  # the class names a profile that is there, and the tag by which machines may be ended
  in_account stage "$queue" story | jq 'del(.spec.role) | .spec.instanceProfile = "KarpenterNodeInstanceProfile-story"
    | .spec.tags = {"karpenter.sh/provisioner-name": "default"}' > "$work/class.json"
  in_account narrow "$aws/manifests/older_policy.json" > "$work/keys"
}
check_rights() { curl -sf -H 'Content-Type: text/plain' -d "$1" "$moto/moto-api/reset-auth" > /dev/null; }  # after so many calls
no_machine() { local left; left=$(machines); echo "$left machines"; [ "$left" = 0 ]; }
terminated() { curl -fsS "$moto/karst/instances" | jq -e '[.[] | select(.state == "terminated")] | length >= 2 and all(.[]; .tags["karpenter.sh/provisioner-name"] == "default")'; }
within_rights() {  # it asked for nothing that the policy does not grant, but for the profiles that a class's end does without; the stage's own calls are left out
  local beyond
  beyond=$(curl -fsS "$moto/karst/calls" | jq -r --slurpfile policy "$aws/manifests/older_policy.json" \
    '[$policy[0].Statement[].Action | if type == "array" then .[] else . end | split(":")[1]] as $granted | to_entries[] | select(.value > 0).key
      | select(IN($granted[]) | not) | select(test("^(GET|POST) /(clusters|moto-api)|^(Create(Queue|Role|User|InstanceProfile|AccessKey)|AddRoleToInstanceProfile|PutUserPolicy|ListInstanceProfiles)$") | not)')
  echo "$beyond"
  [ -z "$beyond" ]
}

main() {
  set_the_stage
  queue="" settings=$(cat "$work/keys")
  check_rights 0
  start_karst
  await "karst is ready" 60 karst_ready || { tail -n 20 "$work/karst.$karst_runs.err"; return 1; }
  await "the node class is ready" 60 class_ready
  check "the deployment is accepted" k apply -f "$aws/manifests/workload.yaml"
  echo "# $pods_wanted pods"
  check "it wants $pods_wanted pods" k scale deployment shop --replicas="$pods_wanted"
  await "$pods_wanted pods run on nodes" 120 running "$pods_wanted"
  check "each node belongs to one claim, and each claim to one node" one_to_one || true
  echo "# down to nothing"
  check "claims may go" k patch nodepool spot --type=merge -p '{"spec": {"disruption": {"consolidateAfter": "1s", "budgets": [{"nodes": "100%"}]}}}'
  check "no pod is wanted" k scale deployment shop --replicas=0
  await "no machine runs" 120 no_machine
  check "those that ran were ended by the tag" terminated || true
  await "no claim is left" 60 none_left nodeclaim
  check "class and pool are deleted" k delete ec2nodeclass,nodepool --all --wait=false
  await "the node class goes" 60 none_left ec2nodeclass || true
  check "it asked for nothing else that the policy does not grant" within_rights || true
  stop_karst
  verified "the story" "$data"
}
main
