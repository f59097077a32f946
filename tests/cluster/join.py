#!/usr/bin/env python3
"""Joins what the API server recorded with what karst's log says, and trusts nothing of karst's: join.py AUDIT LOG... [--end END]
AUDIT: the API server's audit log (audit_policy.yaml), JSON lines. LOG: one log of karst each, as `karst log dump` prints it.
END: `kubectl get nodes,nodeclaims -o json` at the end of the story; then the log's last word on each object must agree.
--user: whose requests are karst's (default karst; may be repeated). One line a check; exit 1 if one failed, 2 if an input says nothing.
Every claim, node, eviction and taint on one side must be on the other: a write without a command, a command that was done without
a write, a write that is not what its command asked for, and an object that one side has and the other has not are all failures."""
import argparse
import collections
import json
import re
import sys

WRITES = ("create", "update", "patch", "delete")
# Command type -> the writes it may make: (verb, resource, subresource).
MAKES = {
    "NodeClaimCreateRequested": {("create", "nodeclaims", "")},
    "ObjectDeleteRequested": {("delete", "nodeclaims", ""), ("delete", "nodes", ""), ("delete", "pods", "")},
    "LaunchRequested": {("create", "nodes", "")},
    "TerminateRequested": {("delete", "nodes", ""), ("patch", "nodes", "")},  # kwok: the finalizer, then the node
    "TaintRequested": {("patch", "nodes", "")},
    "NodeSyncRequested": {("patch", "nodes", "")},
    "FinalizerRequested": {("patch", "nodes", ""), ("patch", "nodeclaims", "")},
    "EvictRequested": {("create", "pods", "eviction"), ("delete", "pods", "")},
    "ClaimMirrorRequested": {("patch", "nodeclaims", ""), ("patch", "nodeclaims", "status")},
    "PoolMirrorRequested": {("patch", "nodepools", ""), ("patch", "nodepools", "status")},
    "StatusMirrorRequested": {("patch", kind, "status") for kind in ("ec2nodeclasses", "nodeoverlays", "capacitybuffers")},
}
# What karst writes that no command asks for: its lease, notices (docs/decisions/0004), and its questions at the start.
UNASKED = {"leases", "events", "selfsubjectaccessreviews", "selfsubjectreviews"}
AUDIT_ID = re.compile(r"^([a-z2-7]{26})-(\d+)-(\d+)$")
DISRUPTED = "karpenter.sh/disrupted"

failed = 0


def check(what, wrong):
    global failed
    if wrong:
        failed += 1
        print(f"not ok {what}: {len(wrong)}, such as {'; '.join(str(one) for one in wrong[:3])}"[:700])
    else:
        print(f"ok {what}")


def read_audit(path, users):
    entries = []
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        if event.get("stage") != "ResponseComplete":
            continue
        ref = event.get("objectRef", {})
        meta = (event.get("responseObject") or {}).get("metadata") or {}
        entries.append({
            "mine": event["user"]["username"] in users, "id": event["auditID"], "verb": event["verb"], "resource": ref.get("resource", ""),
            "sub": ref.get("subresource", ""), "code": event.get("responseStatus", {}).get("code", 0),
            "name": ref.get("name") or meta.get("name", ""), "namespace": ref.get("namespace", ""), "uid": meta.get("uid", ""),
            "object": event.get("responseObject") or {}, "uri": event["requestURI"],
            "received": event["requestReceivedTimestamp"]})
    return entries


class Log:
    def __init__(self, path):
        self.id, self.commands, self.outcomes = "", {}, collections.defaultdict(list)
        self.seen, self.gone, self.last = collections.defaultdict(dict), collections.defaultdict(dict), {}
        for line in open(path, encoding="utf-8"):
            event = json.loads(line)
            kind, payload, position = event["type"], event["payload"], event["position"]
            if kind == "LogCreated":
                self.id = payload["id"]
            elif kind in MAKES:
                self.commands[position] = (kind, payload)
            elif kind == "OutcomeReceived":
                self.outcomes[payload["command"]].append(payload)
            elif kind == "NodeObserved":
                self.saw("nodes", payload)
            elif kind == "NodeClaimObserved":
                self.saw("nodeclaims", payload["claim"])
            elif kind in ("NodeGone", "NodeClaimGone"):
                self.gone["nodes" if kind == "NodeGone" else "nodeclaims"][payload.get("uid", "")] = payload["name"]
                self.last.pop(payload.get("uid", ""), None)

    def saw(self, resource, thing):
        self.seen[resource][thing["uid"]] = thing["name"]
        self.last[thing["uid"]] = (resource, thing["name"])


def names_of(kind, payload):
    """The names of the objects that a command is about."""
    if kind == "NodeClaimCreateRequested":
        return {payload["claim"]["name"]}
    if kind == "ObjectDeleteRequested" or kind == "FinalizerRequested":
        return {payload["object"]["name"]}
    if kind in ("TaintRequested", "NodeSyncRequested"):
        return {payload["node"]}
    if kind == "TerminateRequested":
        return {payload["provider_id"].rsplit("/", 1)[-1]}
    if kind == "LaunchRequested":
        return {"*" + item["claim_uid"] for item in payload["items"]}
    return {payload["name"]}


def about(entry, kind, payload):
    if kind == "LaunchRequested":
        annotations = entry["object"].get("metadata", {}).get("annotations", {})
        return entry["code"] != 201 or "*" + annotations.get("karst.sh/claim-uid", "") in names_of(kind, payload)
    return entry["name"] in names_of(kind, payload)


def tainted(node):
    return any(taint.get("key") == DISRUPTED for taint in node.get("spec", {}).get("taints") or [])


def label(entry):
    return f"{entry['verb']} {entry['resource']}{'/' + entry['sub'] if entry['sub'] else ''} {entry['name']} ({entry['code']}, {entry['id']})"


def join_writes(entries, logs):
    """Every write has its command, and asks for what the command says."""
    by_command = collections.defaultdict(list)
    stray, foreign, unlike = [], [], []
    for entry in entries:
        if not entry["mine"] or entry["verb"] not in WRITES or entry["resource"] in UNASKED:
            continue
        match = AUDIT_ID.match(entry["id"])
        if not match:
            stray.append(label(entry))
            continue
        log, position = logs.get(match[1]), int(match[2])
        if log is None or position not in log.commands:
            foreign.append(label(entry))
            continue
        kind, payload = log.commands[position]
        if (entry["verb"], entry["resource"], entry["sub"]) not in MAKES[kind] or not about(entry, kind, payload):
            unlike.append(f"{label(entry)} for {kind} {sorted(names_of(kind, payload))}")
        by_command[(match[1], position)].append((int(match[3]), entry))
    check("every write carries a command's id", stray)
    check("every write's command is in a log", foreign)
    check("every write is what its command asked for", unlike)
    return by_command


def join_commands(logs, by_command):
    """Every command that was done shows a write that had its effect; no attempt wrote twice."""
    unseen, doubled = [], []
    for log in logs.values():
        for position, (kind, payload) in log.commands.items():
            writes = by_command.get((log.id, position), [])
            done = [o for o in log.outcomes.get(position, []) if o.get("kind", "Done") in ("Done", 0)]
            effect = [e for _, e in writes if e["code"] in (200, 201, 202, 404, 409, 410)]
            if done and not effect and not unneeded(log, kind, payload):
                unseen.append(f"{kind} at {position} {sorted(names_of(kind, payload))}")
            most = len(payload["items"]) if kind == "LaunchRequested" else 1
            each = collections.Counter((attempt, e["resource"], e["sub"], e["verb"]) for attempt, e in writes if e["code"] < 300)
            doubled += [f"{kind} at {position}: {count} times {what}" for what, count in each.items() if count > most]
    check("every command that was done shows its write", unseen)
    check("no attempt of a command wrote twice", doubled)


def unneeded(log, kind, payload):
    """Commands that read first, and end without a write when the world already is as they want it."""
    return kind in ("TaintRequested", "NodeSyncRequested", "FinalizerRequested", "NodeClaimCreateRequested", "TerminateRequested")


def join_objects(entries, logs):
    """What was made is in a log, and what a log saw was made."""
    for resource in ("nodeclaims", "nodes"):
        made = {e["uid"]: e["name"] for e in entries if e["verb"] == "create" and e["resource"] == resource and not e["sub"] and e["code"] == 201}
        # The answer of a create whose sender was killed meanwhile says nothing: it may have been made.
        unclear = {e["name"] for e in entries if e["verb"] == "create" and e["resource"] == resource and not e["sub"] and e["code"] >= 500}
        seen = {}
        for log in logs.values():
            seen.update(log.seen[resource])
        check(f"every one of {len(made)} {resource} that were made is in a log", [n for uid, n in made.items() if uid not in seen])
        check(f"every one of {len(seen)} {resource} in a log was made", [n for uid, n in seen.items() if uid not in made and n not in unclear])


def join_effects(entries, by_command, logs):
    evicted = [e for e in entries if e["mine"] and e["sub"] == "eviction" and e["code"] in (200, 201)]
    asked = {(log.id, p) for log in logs.values() for p, (kind, _) in log.commands.items() if kind == "EvictRequested"
             and any(o.get("kind", "Done") in ("Done", 0, "Unclear", 2) for o in log.outcomes.get(p, []))}
    acted = {key for key, writes in by_command.items() for _, e in writes if e["sub"] == "eviction" and e["code"] in (200, 201)}
    answered = {(log.id, p) for log in logs.values() for p in log.outcomes}
    print(f"# {len(evicted)} evictions by the API server's account, {len(asked)} done or unclear by the logs'")
    check("every eviction that took place has its answer in a log, or ended with its process",
          [key for key in acted if key not in asked and key in answered])
    taints = [e for e in entries if e["verb"] == "patch" and e["resource"] == "nodes" and e["mine"] and e["code"] == 200 and tainted(e["object"])]
    # A server whose client went away answers 504, and may have done it.
    doubtful = set()
    for entry in entries:
        match = AUDIT_ID.match(entry["id"])
        command = match and logs.get(match[1]) and logs[match[1]].commands.get(int(match[2]))
        if entry["mine"] and entry["code"] >= 500 and command and command[0] == "TaintRequested" and command[1].get("add"):
            doubtful.add(entry["name"])
    first = {}
    for entry in sorted(taints, key=lambda e: e["received"]):  # a slow answer is written down after those that came later
        first.setdefault(entry["uid"], entry)
    print(f"# {len(first)} nodes were tainted {DISRUPTED} by karst")
    wrong = []
    for entry in first.values():
        match = AUDIT_ID.match(entry["id"])
        command = logs.get(match[1]) and logs[match[1]].commands.get(int(match[2])) if match else None
        if entry["name"] not in doubtful and (not command or command[0] != "TaintRequested" or not command[1].get("add")):
            wrong.append(label(entry))
    check("the first write that shows the taint is a command to taint", wrong)


def join_end(end, logs):
    now = {i["metadata"]["uid"]: ("nodes" if i["kind"] == "Node" else "nodeclaims", i["metadata"]["name"]) for i in end["items"]}
    for log in logs.values():
        check(f"the log {log.id[:6]} ends with what exists: {len(now)} objects",
              [f"only in the API server: {v}" for k, v in now.items() if k not in log.last]
              + [f"only in the log: {v}" for k, v in log.last.items() if k not in now])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("audit")
    parser.add_argument("log", nargs="+")
    parser.add_argument("--end")
    parser.add_argument("--user", action="append")
    args = parser.parse_args()
    entries = read_audit(args.audit, set(args.user or ["karst"]))
    logs = {log.id: log for log in (Log(path) for path in args.log)}
    writes = sum(e["mine"] and e["verb"] in WRITES for e in entries)
    commands = sum(len(log.commands) for log in logs.values())
    if writes == 0 or commands == 0:
        print(f"join.py: {writes} writes of karst in {args.audit}, {commands} commands in the logs: nothing to join", file=sys.stderr)
        sys.exit(2)
    print(f"# {writes} writes of karst's user beside {commands} commands")
    by_command = join_writes(entries, logs)
    join_commands(logs, by_command)
    join_objects(entries, logs)
    join_effects(entries, by_command, logs)
    if args.end:
        join_end(json.load(open(args.end, encoding="utf-8")), logs)
    sys.exit(1 if failed else 0)


main()
