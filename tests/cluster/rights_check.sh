#!/usr/bin/env bash
# Are the shipped rights exactly sufficient? rights_check.sh AUDIT.jsonl ROLES.json UNUSED.txt [USER]: the API server's audit log,
# the roles that the user (default karst) has as `kubectl get clusterrole,role … -o json` prints them, and what this run need not show of
# them, one a line: "VERB RESOURCE REASON", a right that it need not have used; "any VERB RESOURCE REASON", a right on objects of any
# name, though it may have met one only. One line a check, "ok WHAT" or "not ok WHAT: found"; exit 1 if one failed, 2 if there is
# nothing to judge.
set -euo pipefail
audit=${1:?audit log}; roles=${2:?roles as JSON}; unused=${3:?list of unused rights}; user=${4:-karst}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
# A right is "VERB RESOURCE[/SUB][.GROUP]", and "=NAME" behind it if it is one on objects of that name only.
jq -r '.items[].rules[]? | (if .resourceNames then .resourceNames[] | "=" + . else "" end) as $name
  | (.apiGroups[]) as $group | (.resources[]) as $resource | .verbs[] as $verb
  | "\($verb) \($resource)\(if $group == "" then "" else "." + $group end)\($name)"' "$roles" | sort -u > "$work/granted"
jq -r --arg user "$user" 'select(.user.username == $user and .objectRef.resource != null) | .objectRef as $o
  | "\(.verb) \($o.resource)\(if ($o.subresource // "") == "" then "" else "/" + $o.subresource end)\(if ($o.apiGroup // "") == "" then "" else "." + $o.apiGroup end)=\($o.name // "")"' \
  "$audit" | sort -u > "$work/used_on"
sed 's/=.*//' "$work/used_on" | cat - "$work/used_on" | sort -u > "$work/used"
jq -r --arg user "$user" 'select(.user.username == $user and (.responseStatus.code == 401 or .responseStatus.code == 403)) | "\(.verb) \(.requestURI)"' \
  "$audit" | sort -u > "$work/refused"
sed 's/#.*//' "$unused" | awk 'NF && $1 != "any" { print $1 " " $2 }' | sort -u > "$work/listed"
sed 's/#.*//' "$unused" | awk '$1 == "any" { print $2 " " $3 }' | sort -u > "$work/listed_any"
awk '!/^#/ && NF == ($1 == "any" ? 3 : 2) { print }' "$unused" > "$work/without_reason"
[ -s "$work/granted" ] && [ -s "$work/used" ] || { echo "rights_check.sh: $roles grants nothing, or $audit holds no request of $user" >&2; exit 2; }
failed=0
none() {  # none WHAT FILE: the file must be empty
  if [ -s "$2" ]; then echo "not ok $1: $(head -20 "$2" | paste -sd ';')"; failed=1; else echo "ok $1"; fi
}
none "no request of $user was refused" "$work/refused"
grep -E '\*' "$work/granted" > "$work/stars" || true
none "no right is a star" "$work/stars"
comm -23 "$work/granted" <(sort -u "$work/used" "$work/listed") > "$work/idle"
none "each of the $(wc -l < "$work/granted") rights was used or is listed with a reason ($(comm -12 "$work/granted" "$work/used" | wc -l) used)" "$work/idle"
# RBAC knows names for these verbs. What was asked of one object alone could be a right on that one alone.
grep -E '^(get|update|patch|delete) [^=]*$' "$work/granted" | comm -12 - <(sed 's/=.*//' "$work/used_on" | uniq -u) | comm -23 - "$work/listed_any" |
  while read -r right; do grep "^$right=" "$work/used_on"; done > "$work/wide" || true
none "no right is on every object where one would do" "$work/wide"
comm -13 "$work/granted" <(sort -u "$work/listed" "$work/listed_any") > "$work/stale"
none "no right is listed that nobody has" "$work/stale"
none "each listed right has a reason" "$work/without_reason"
comm -12 "$work/used" "$work/listed" | sed 's/^/# used by now, may leave the list: /'
exit "$failed"
