#!/usr/bin/env bash
# Are the shipped rights exactly sufficient? rights_check.sh AUDIT.jsonl ROLES.json UNUSED.txt [USER]: the API server's audit log,
# the roles that the user (default karst) has as `kubectl get clusterrole,role … -o json` prints them, and the rights that this
# run need not have used, one a line: "VERB RESOURCE REASON". One line a check, "ok WHAT" or "not ok WHAT: found"; exit 1 if one
# failed, 2 if there is nothing to judge.
set -euo pipefail
audit=${1:?audit log}; roles=${2:?roles as JSON}; unused=${3:?list of unused rights}; user=${4:-karst}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
# A right is "VERB RESOURCE[/SUB][.GROUP]".
jq -r '.items[].rules[]? | (.apiGroups[]) as $group | (.resources[]) as $resource | .verbs[] as $verb
  | "\($verb) \($resource)\(if $group == "" then "" else "." + $group end)"' "$roles" | sort -u > "$work/granted"
jq -r --arg user "$user" 'select(.user.username == $user and .objectRef.resource != null) | .objectRef as $o
  | "\(.verb) \($o.resource)\(if ($o.subresource // "") == "" then "" else "/" + $o.subresource end)\(if ($o.apiGroup // "") == "" then "" else "." + $o.apiGroup end)"' \
  "$audit" | sort -u > "$work/used"
jq -r --arg user "$user" 'select(.user.username == $user and (.responseStatus.code == 401 or .responseStatus.code == 403)) | "\(.verb) \(.requestURI)"' \
  "$audit" | sort -u > "$work/refused"
sed 's/#.*//' "$unused" | awk 'NF { print $1 " " $2 }' | sort -u > "$work/listed"
awk '!/^#/ && NF == 2 { print }' "$unused" > "$work/without_reason"
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
comm -13 "$work/granted" "$work/listed" > "$work/stale"
none "no right is listed that nobody has" "$work/stale"
none "each listed right has a reason" "$work/without_reason"
comm -12 "$work/used" "$work/listed" | sed 's/^/# used by now, may leave the list: /'
exit "$failed"
