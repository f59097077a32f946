#!/usr/bin/env bash
# The chart and the plain manifests, judged by a real API server: chart.sh BUILD_DIR [DIR]. Values files of Karpenter's must
# render, the server must take the result (dry run), every value must arrive, and the chart's rights must be those of
# deploy/manifests. Prints a line per check and ends with "N passed, N failed". Exit 0: all passed; 1: some failed; 4: no control plane.
set -euo pipefail
source "$(dirname "$0")/parts.sh"
tools_needed
bin=${BIN:-$HOME/.cache/karst-cluster}
render() { "$bin/helm" template rel "$root/deploy/chart" --namespace karpenter --kube-version 1.34.4 "$@"; }
# taken NAME RENDER-ARGUMENTS...: it renders, the server takes it; what the server made of it is left in NAME.json.
taken() {
  local name=$1; shift
  check "$name renders" render_to "$work/$name.yaml" "$@" || return 0
  check "the API server takes $name" server_takes "$work/$name.yaml" "$work/$name.json" || true
}
render_to() { local file=$1; shift; render "$@" > "$file"; }
server_takes() { k apply --dry-run=server --validate=strict -o json -f "$1" > "$2"; }
# rights FILE [OTHER]: the rules of all roles in it but the role of another cloud (default karst-aws), one right a line.
rights() {
  jq -r --arg other "${2:-karst-aws}" '(.items // [.])[] | select(.kind == "ClusterRole" or .kind == "Role") | select(.metadata.name | endswith("-admin") or . == $other | not)
    | .rules[] | . as $rule | .apiGroups[] as $group | .resources[] as $resource | .verbs[] as $verb
    | "\($verb) \($group)/\($resource) \($rule.resourceNames // [] | join(","))"' "$1" | sort -u
}
same_rights() { diff <(rights "$1" "${3:-}") <(rights "$2" "${3:-}"); }
env_of() { jq -r --arg name "$2" '[.items[] | select(.kind == "StatefulSet").spec.template.spec.containers[0].env[] | select(.name == $name).value] | join("")' "$work/$1.json"; }
refused() {  # refused WHAT TEXT RENDER-ARGUMENTS...: rendering fails and says TEXT
  local what=$1 text=$2; shift 2
  if render "$@" > "$work/refused.out" 2>&1; then not_ok "$what is refused"; else check "$what is refused" grep -qF "$text" "$work/refused.out" || true; fi
}
notes_say() {  # notes_say FOLDER RENDER-ARGUMENTS...: what an installation prints names this folder; helm renders it as a template only
  local folder=$1; shift
  rm -rf "$work/notes"; cp -r "$root/deploy/chart" "$work/notes"
  { echo 'notes: |'; sed 's/^/  /' "$work/notes/templates/NOTES.txt"; } > "$work/notes/templates/notes.yaml"
  "$bin/helm" template rel "$work/notes" --namespace karpenter --kube-version 1.34.4 --show-only templates/notes.yaml "$@" > "$work/notes.out" || return 1
  cat "$work/notes.out"
  grep -qF -- "-- karst explain --data $folder pod/" "$work/notes.out"
}
no_writes() { ! rights "$1" | grep -vE '^(get|list|watch) '; }
# Every variable that the chart sets is one that `karst run` takes: the only complaint must be about the kubeconfig.
karst_takes_env() {
  local pairs
  mapfile -t pairs < <(jq -r '.items[] | select(.kind == "StatefulSet").spec.template.spec.containers[0].env[] | select(.value != null) | "\(.name)=\(.value)"' "$1")
  [ ${#pairs[@]} -gt 15 ] || { echo "only ${#pairs[@]} variables"; return 1; }
  local code=0
  env -i "${pairs[@]}" "$karst" run --cloud kwok --kubeconfig "$work/there-is-none" --data "$work/data" > "$work/run.out" 2> "$work/run.err" || code=$?
  cat "$work/run.err"
  [ $code = 2 ] && grep -q 'there-is-none' "$work/run.err"
}

main() {
  start_plane
  k create namespace karpenter > /dev/null; k create namespace karst-shadow > /dev/null
  check "helm lint finds nothing" "$bin/helm" lint --strict "$root/deploy/chart" || true
  taken defaults
  taken kwok --set karst.cloud=kwok --set fullnameOverride=karst
  taken aws --set karst.cloud=aws --set fullnameOverride=karst
  taken shadow --set karst.cloud=kwok --set karst.shadow=true
  taken trial --set karst.cloud=kwok --set karst.storage.emptyDir=true --set serviceAccount.create=false
  for values in karpenter_1_14 karpenter_0_29 karpenter_0_5; do taken $values --values "$here/chart/$values.yaml"; done
  check "each value of Karpenter 1.14 arrives" arrives || true
  for values in defaults karpenter_1_14; do
    check "karst run takes every variable of $values" karst_takes_env "$work/$values.json" || true
  done
  jq -c '(.. | objects | select(.name? == "FEATURE_GATES")).value = "Teleport=true"' "$work/defaults.json" > "$work/bad_gate.json"
  if karst_takes_env "$work/bad_gate.json" > "$work/bad_gate.out"; then not_ok "karst run refuses a gate that there is not"
  else check "karst run refuses a gate that there is not" grep -q 'there is no gate Teleport' "$work/bad_gate.out" || true; fi
  check "settings.aws of 0.29 arrives" [ "$(env_of karpenter_0_29 CLUSTER_NAME) $(env_of karpenter_0_29 INTERRUPTION_QUEUE)" = "demo demo" ] || true
  check "controller.clusterEndpoint of 0.5 arrives without its quotes" [ "$(env_of karpenter_0_5 CLUSTER_ENDPOINT)" = https://demo.invalid ] || true
  render --set karst.cloud=kwok --set 'controller.env[0].name=LEADER_ELECTION_NAMESPACE,controller.env[0].value=kube-system' \
    --set 'controller.env[1].name=LEADER_ELECTION_NAME,controller.env[1].value=mine' --show-only templates/rbac.yaml > "$work/lease.yaml"
  check "the rights to the lease are where controller.env puts it" lease_rights kube-system mine "$work/lease.yaml" || true
  render --set karst.cloud=kwok --show-only templates/rbac.yaml > "$work/lease.yaml"
  check "else in the release's namespace" lease_rights karpenter karpenter-leader-election "$work/lease.yaml" || true
  check "an emptyDir takes the place of the volume" jq -e '.items[] | select(.kind == "StatefulSet") | .spec.volumeClaimTemplates == null
    and .spec.template.spec.volumes[0].emptyDir != null' "$work/trial.json" || true
  check "a ServiceMonitor is rendered where the API is there" monitor || true
  refused "an unknown setting" 'settings.batchMaxduration: there is no such setting; did you mean batchMaxDuration?' --set settings.batchMaxduration=1s
  refused "a setting with a letter too few" 'settings.batchMaxDuraton: there is no such setting; did you mean batchMaxDuration?' --set settings.batchMaxDuraton=1s
  refused "an unknown feature gate" 'settings.featureGates.teleport: there is no such setting; there are:' --set settings.featureGates.teleport=true
  refused "a misspelt shadow" 'karst.shadwo: there is no such setting; did you mean shadow?' --set karst.shadwo=true
  refused "a shadow in another case" 'karst.Shadow: there is no such setting; did you mean shadow?' --set karst.Shadow=true
  refused "a shadow a level too high" 'shadow: there is no such setting; did you mean karst.shadow?' --set shadow=true
  refused "a shadow under a misspelt karst" 'krast.shadow: there is no such setting; did you mean karst.shadow?' --set krast.shadow=true
  refused "a shadow that is neither true nor false" 'karst.shadow: expected true or false, found "yes"' --set karst.shadow=yes
  refused "an unknown setting of the storage" 'karst.storage.sizes: there is no such setting; did you mean size?' --set karst.storage.sizes=1Gi
  refused "an argument that is no list" 'karst.extraArgs: expected a list, found "--pass"' --set karst.extraArgs=--pass
  check "the notes name the folder of the log" notes_say /data/log || true
  check "the notes of a shadow name its own" notes_say /data/shadow --set karst.shadow=true || true
  for cloud in azure huawei; do
    refused "the cloud $cloud, which no build has" "karst.cloud: \"$cloud\" is none; expected aws, kwok" --set karst.cloud=$cloud
  done
  echo "# the plain manifests"
  check "the API server takes deploy/manifests/karst" server_takes "$root/deploy/manifests/karst" "$work/plain.json" || true
  check "the API server takes deploy/manifests/shadow" server_takes "$root/deploy/manifests/shadow" "$work/plain_shadow.json" || true
  check "the chart's rights are those of the manifests" same_rights "$work/plain.json" "$work/kwok.json" || true
  check "for AWS too" same_rights "$work/plain.json" "$work/aws.json" karst-kwok || true
  check "the chart's shadow has the rights of the manifests' shadow" same_rights "$work/plain_shadow.json" "$work/shadow.json" karst-shadow-aws || true
  check "the shadow has no verb that writes" no_writes "$work/shadow.json" || true
  if no_writes "$work/kwok.json" > /dev/null; then not_ok "the check for writing verbs finds those of karst"; else ok "the check for writing verbs finds those of karst"; fi
}
arrives() { local missing; missing=$(jq -r -f "$here/chart/expected_1_14.jq" "$work/karpenter_1_14.json"); echo "$missing"; [ -z "$missing" ]; }
lease_rights() {  # lease_rights NAMESPACE NAME FILE: of the Role and its binding, and of no other object
  awk '/-lease$/ && /name:/ { getline; print $2 }' "$3" | sort | uniq -c
  [ "$(awk '/-lease$/ && /^  name:/ { getline; print $2 }' "$3" | sort | uniq -c | xargs)" = "2 $1" ] && grep -qF "resourceNames: [$2]" "$3"
}
monitor() {  # there is no such API on this server: looked at as text
  render --values "$here/chart/karpenter_1_14.yaml" --api-versions monitoring.coreos.com/v1 --show-only templates/service.yaml > "$work/monitor.yaml"
  for text in 'kind: ServiceMonitor' 'release: prometheus' 'sampleLimit: 5000' 'scrapeTimeout: 9s' 'action: labeldrop' 'regex: go_'; do
    grep -q "$text" "$work/monitor.yaml" || { echo "no $text"; return 1; }
  done
  ! grep -q ServiceMonitor "$work/karpenter_1_14.yaml"
}
main
