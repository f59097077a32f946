#!/usr/bin/env bash
# Reads the API server's own audit log ($1) and judges what the user karst did. Trusts nothing that karst says of itself.
# Further arguments: the pods whose deadlines passed in the story, each of which must have been deleted, and no other.
# One line a check, "ok WHAT" or "not ok WHAT: found"; exit 1 if one failed, 2 if the log says nothing about karst.
set -euo pipefail
audit=${1:?audit log, one JSON event a line}; shift
overdue=$(jq -nc '$ARGS.positional | sort' --args "$@")
entries=$(mktemp); trap 'rm -f "$entries"' EXIT
jq -c 'select(.user.username == "karst" and .stage == "ResponseComplete")
  | {id: .auditID, verb, uri: .requestURI, resource: .objectRef.resource, sub: (.objectRef.subresource // ""),
     code: .responseStatus.code, asked: (.requestObject.metadata?.name? // ""), meta: (.responseObject.metadata // {})}' "$audit" > "$entries"
[ -s "$entries" ] || { echo "audit_checks.sh: $audit holds no finished request of the user karst" >&2; exit 2; }
failed=0
# none WHAT JQ-FILTER: over all entries the filter, given the array of them, must yield an empty array.
none() {
  local found; found=$(jq -sc "$2" "$entries")
  if [ "$found" = "[]" ]; then echo "ok $1"; else echo "not ok $1: $(head -c 600 <<< "$found")"; failed=1; fi
}
doubled='group_by(.) | map(select(length > 1) | .[0])'
claims='map(select(.verb == "create" and .resource == "nodeclaims" and .code == 201).meta)'
nodes='map(select(.verb == "create" and .resource == "nodes" and .code == 201).meta)'
none "no command made two claims" "$claims | map(.annotations[\"karst.sh/command-id\"] // \"none: \" + .name) | $doubled"
none "every claim names its command" "$claims | map(select(.annotations[\"karst.sh/command-id\"] == null).name)"
none "no claim name was used twice" "$claims | map(.name) | $doubled"
none "no attempt of a claim made two nodes" \
  "$nodes | map((.annotations[\"karst.sh/claim-uid\"] // .name) + \" attempt \" + (.annotations[\"karst.sh/attempt\"] // \"none\")) | $doubled"
none "every node names its claim, command and attempt" \
  "$nodes | map(select([.annotations[\"karst.sh/claim-uid\", \"karst.sh/command-id\", \"karst.sh/attempt\", \"karst.sh/launch-token\"]] | any(. == null)).name)"
none "no node name was used twice" "$nodes | map(.name) | $doubled"
none "no claim got a second node" "$nodes | map(.annotations[\"karst.sh/claim-uid\"] // .name) | $doubled"
none "the rights of the user karst suffice" 'map(select(.code == 401 or .code == 403) | {verb, uri}) | unique'
none "no request was malformed" 'map(select(.code as $code | [400, 405, 406, 415] | index($code) != null) | {verb, uri, code}) | unique'
deleted='map(select(.verb == "delete" and .resource == "pods").uri | sub(".*/"; "")) | unique'
none "pods left by eviction only, but for $# past their deadline" "($deleted) as \$deleted | (\$deleted - $overdue) + ($overdue - \$deleted)"
# Events are notices (docs/decisions/0004), the lease and the questions at the start are no effects: no command asks for them.
none "every write carries the id of its command" \
  'map(select((.verb | IN("create", "patch", "update", "delete")) and (.resource | IN("events", "leases", "selfsubjectaccessreviews", "selfsubjectreviews") | not) and (.id | test("^[a-z2-7]{26}-[0-9]+-[0-9]+$") | not)) | {verb, uri, id})'
none "no attempt of a command reached the server twice" \
  "map(select((.verb | IN(\"create\", \"patch\", \"update\", \"delete\")) and .code != 401 and (.id | test(\"^[a-z2-7]{26}-\"))) | .verb + \" \" + .uri + \" \" + .asked + \" \" + .id) | $doubled"
exit "$failed"
