# What the scripts of this folder and of tests/aws share: sourced after `set -euo pipefail` by SCRIPT.sh BUILD_DIR [DIR], whose arguments it reads.
# Every check is a line "ok WHAT" or "not ok WHAT: found"; finish() ends with "N passed, N failed[, N skipped]". Every wait is for a condition.
# Exit 0: all passed; 1: some failed; 4: no control plane. A script that sets $all_seconds has so long for all its waits together.
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
script=$(basename "$0" .sh)
build=$(cd "${1:?usage: $script.sh BUILD_DIR [DIR]}" && pwd)
karst=$build/karst
[ -x "$karst" ] || { echo "$script.sh: there is no program $karst; build it first (tools/build)" >&2; exit 2; }
own_work=no; [ $# -ge 2 ] || own_work=yes
work=${2:-$(mktemp -d -t "karst-$script.XXXXXX")}; mkdir -p "$work"; work=$(cd "$work" && pwd)
plane=$work/plane
passed=0; failed=0; skipped=0; started=(); last_second=

ok() { passed=$((passed + 1)); echo "ok $1"; }
not_ok() { failed=$((failed + 1)); echo "not ok $1${2:+: $2}"; }
skip() { skipped=$((skipped + 1)); echo "# skipped: $1"; }
# check WHAT COMMAND...: one line, by the command's exit code; its output is shown when it failed.
check() {
  local what=$1 output; shift
  if output=$("$@" 2>&1); then ok "$what"; else not_ok "$what" "$(tail -c 600 <<< "$output" | tr '\n' ' ')"; return 1; fi
}
# await WHAT SECONDS COMMAND...: polls until the command succeeds; fails the check at the time, or when that for all waits is over.
await() {
  local what=$1 began=$SECONDS end=$((SECONDS + $2)); shift 2
  [ -z "$last_second" ] || [ $end -lt $last_second ] || end=$last_second
  while ! "$@" > "$work/await.out" 2>&1; do
    if [ $SECONDS -ge $end ]; then
      not_ok "$what" "still not so after $((SECONDS - began)) s: $(tail -c 400 "$work/await.out" | tr '\n' ' ')"; return 1
    fi
    sleep 0.2
  done
  ok "$what"
}
# take_lines AREA COMMAND...: a checker's own "ok" and "not ok" lines.
take_lines() {
  local area=$1 line; shift
  while read -r line; do
    case $line in "ok "*) ok "$area: ${line#ok }" ;; "not ok "*) not_ok "$area: ${line#not ok }" ;; "#"*) echo "$line" ;; *) not_ok "$area: $line" ;; esac
  done < <("$@" 2>&1)
}
finish() {
  local code=$? pid
  set +e
  trap - EXIT INT TERM
  for pid in "${started[@]}"; do { kill -9 "$pid"; wait "$pid"; } 2> /dev/null; done
  "$here/down.sh" "$plane"
  [ $code = 0 ] || [ $failed != 0 ] || { failed=1; echo "not ok it ended early (exit $code)"; }
  if [ $failed != 0 ]; then echo "kept for a look: $work"; elif [ "$own_work" = yes ]; then rm -rf "$work"; fi
  [ $skipped = 0 ] && echo "$passed passed, $failed failed" || echo "$passed passed, $failed failed, $skipped skipped"
  [ $code = 4 ] && exit 4
  [ $failed = 0 ] || exit 1
  exit 0
}
free_ports() {  # the first of ten free neighbouring ports below the range that the kernel hands out
  local base offset
  for _ in $(seq 50); do
    base=$((20000 + RANDOM % 1200 * 10))
    for offset in $(seq 0 9); do
      if (: < "/dev/tcp/127.0.0.1/$((base + offset))") 2> /dev/null; then continue 2; fi
    done
    echo $base; return
  done
  echo "$script.sh: no ten free ports between 20000 and 32000" >&2; return 1
}
k() { kubectl --kubeconfig "$plane/kubeconfig.admin" "$@"; }
count() { k get "$@" --no-headers --ignore-not-found 2> /dev/null | wc -l; }
has() { [ "$(count "${@:2}")" -ge "$1" ]; }
none_left() { [ "$(count "$@")" = 0 ]; }
all_zero() {  # all_zero PORT SERIES...: each of them is there, and 0
  curl -fsS --max-time 2 "http://127.0.0.1:$1/metrics" | grep -E "^($(IFS='|'; echo "${*:2}")) " | tee /dev/stderr | awk -v series=$(($# - 1)) '{ sum += $2 } END { exit NR != series || sum != 0 }'
}
knows_none_left() {  # knows_none_left PORT: karst has been told so too, and its log says it; before that it is not stopped
  all_zero "$1" karpenter_cluster_state_node_count karst_nodeclaims karst_commands_open karst_instances
}
running() {  # running N: so many pods have a node and run
  local got; got=$(k get pods -o json | jq '[.items[] | select(.spec.nodeName != null and .status.phase == "Running")] | length')
  echo "$got of $1 pods run; $(count nodes) nodes, $(count nodeclaims) claims"
  [ "$got" = "$1" ]
}
pod_runs() { [ "$(k get pod "$1" -o jsonpath='{.status.phase}')" = Running ]; }
event() {  # event KIND REASON TEXT [NAME]: one by Karpenter's component whose message holds TEXT
  local found; found=$(k get events --field-selector "involvedObject.kind=$1,reason=$2" -o json |
    jq -c --arg text "$3" --arg name "${4:-}" '[.items[] | select(.source.component == "karpenter" and (.message | contains($text))
      and ($name == "" or .involvedObject.name == $name) and .involvedObject.uid != "") | .message]')
  head -c 300 <<< "$found"
  [ "$found" != "[]" ]
}
condition() {  # condition CLAIM TYPE STATUS REASON
  k get nodeclaim "$1" -o json | jq -e --arg type "$2" --arg status "$3" --arg reason "$4" \
    '.status.conditions[] | select(.type == $type and .status == $status and .reason == $reason)'
}
# going N: so many nodes at least are on their way, tainted or in deletion like their claims; one that is gone is not.
going() {
  local found; found=$(jq -nc --slurpfile nodes <(k get nodes -o json) --slurpfile claims <(k get nodeclaims -o json) \
    '[$claims[0].items[] | select(.metadata.deletionTimestamp).status.nodeName] as $leaving | [$nodes[0].items[] | select(.metadata.deletionTimestamp
      or any(.spec.taints[]?; .key == "karpenter.sh/disrupted")).metadata.name | select(. as $name | $leaving | index($name))]')
  echo "on their way: $found"
  [ "$(jq length <<< "$found")" -ge "$1" ]
}
budget_blocks() { k get poddisruptionbudget "$1" -o json | jq -e --argjson pods "$2" '.status | .currentHealthy == $pods and .disruptionsAllowed == 0'; }
one_to_one() {  # each node belongs to one claim, and each claim to one node
  local found
  found=$(jq -nc --slurpfile nodes <(k get nodes -o json) --slurpfile claims <(k get nodeclaims -o json) \
    '($nodes[0].items | map(.spec.providerID) | sort) as $n | ($claims[0].items | map(.status.providerID) | sort) as $c
     | if $n == $c and ($n | unique) == $n then [] else [$n, $c] end')
  echo "$found"
  [ "$found" = "[]" ]
}
rights_of() {  # rights_of USER: those of the shipped service account, and nothing else
  k create clusterrolebinding "test-$1" --clusterrole=karst --user="$1" &&
    k create clusterrolebinding "test-$1-kwok" --clusterrole=karst-kwok --user="$1" &&
    k create rolebinding "test-$1-lease" --namespace=karpenter --role=karst-lease --user="$1"
}
start_plane() {  # start_plane [KWOK=1]: the bare control plane, ports from $base; from here on finish() tidies up
  trap finish EXIT
  trap 'exit 130' INT TERM
  echo "# the control plane, in $plane"
  "$here/build.sh" || { echo "$script.sh: the control plane's programs could not be built" >&2; exit 4; }
  [ -z "${all_seconds:-}" ] || last_second=$((SECONDS + all_seconds))  # building does not count
  base=${PORT:-$(free_ports)}
  env "$@" "$here/up.sh" "$plane" "$base" > /dev/null || exit 4
}
begin() {  # the control plane, with everything that karst needs
  start_plane KWOK=1
  check "the CRDs are accepted" k apply -f "$root/deploy/crds"
  check "the CRDs are established" k wait --for=condition=Established crd --all --timeout=30s
  check "the namespace is accepted" k apply -f "$root/deploy/manifests/karst/namespace.yaml"
  check "the shipped rights are accepted" k apply -f "$root/deploy/manifests/karst/rbac.yaml"
  check "the user karst gets the shipped rights" rights_of karst
}
tools_needed() {
  local tool
  for tool in kubectl jq curl openssl "$@"; do
    command -v "$tool" > /dev/null || { echo "$script.sh: $tool is not in PATH; tools/dev/install installs it" >&2; exit 4; }
  done
}
verified() {  # verified NAME DIR: the log agrees with every decision, and there are some
  check "replay --verify agrees with every round of $1" "$karst" replay --data "$2" --verify || true
}
