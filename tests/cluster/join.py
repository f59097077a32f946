#!/usr/bin/env python3
"""Joins what the API server recorded with what karst's log says, and trusts nothing of karst's: join.py AUDIT LOG... [--end END]
AUDIT: the API server's audit log (audit_policy.yaml), JSON lines. LOG: one log of karst each, as `karst log dump` prints it.
END: `kubectl get nodes,nodeclaims -o json` at the end of the story; then the log's last word on each object must agree.
--user: whose requests are karst's (default karst; may be repeated). One line a check; exit 1 if one failed, 2 if an input says nothing.
Every claim, node, eviction and taint on one side must be on the other: a write without a command, a command that was done without
a write, a write that is not what its command asked for, and an object that one side has and the other has not are all failures.
A command that was done without a write is believed if the object that the API server showed it was as it wants it, or was gone.
At last the joiner judges itself: on the same inputs with one thing taken away, for each kind of thing, it must find the gap."""
import argparse
import collections
import copy
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
    "NodeClassSyncRequested": {("patch", "ec2nodeclasses", "")},
    "StatusMirrorRequested": {("patch", kind, "status") for kind in ("ec2nodeclasses", "nodeoverlays", "capacitybuffers")},
}
# What karst writes that no command asks for: its lease, notices (docs/decisions/0004), and its questions at the start.
UNASKED = {"leases", "events", "selfsubjectaccessreviews", "selfsubjectreviews"}
AUDIT_ID = re.compile(r"^([a-z2-7]{26})-(\d+)-(\d+)$")
DISRUPTED = "karpenter.sh/disrupted"
FINALIZER = "karpenter.sh/termination"
ONE_WRITE = {"NodeClaimCreateRequested", "ObjectDeleteRequested", "TaintRequested", "NodeSyncRequested", "FinalizerRequested", "EvictRequested"}
DONE_IS_WRITTEN = "every command that was done shows its write"


class Report:
    """The checks of one pass over the inputs; a quiet one only remembers which failed."""
    def __init__(self, loud):
        self.loud, self.failed = loud, collections.Counter()

    def check(self, what, wrong):
        if wrong:
            self.failed[what] = len(wrong)
            self.note(f"not ok {what}: {len(wrong)}, such as {'; '.join(str(one) for one in wrong[:3])}"[:700])
        else:
            self.note(f"ok {what}")

    def note(self, line):
        if self.loud:
            print(line)


def read_audit(path, users):
    entries = []
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        if event.get("stage") != "ResponseComplete":
            continue
        ref = event.get("objectRef", {})
        meta = (event.get("responseObject") or {}).get("metadata") or {}
        body = event.get("requestObject")
        requested = body.get("metadata") or {} if isinstance(body, dict) else {}  # of a JSON patch: a list
        entries.append({
            "mine": event["user"]["username"] in users, "id": event["auditID"], "verb": event["verb"], "resource": ref.get("resource", ""),
            "sub": ref.get("subresource", ""), "code": event.get("responseStatus", {}).get("code", 0),
            "name": ref.get("name") or meta.get("name", "") or requested.get("name", ""), "namespace": ref.get("namespace", ""), "uid": meta.get("uid", ""),
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

    def done(self, position):
        return [o for o in self.outcomes.get(position, []) if o.get("kind", "Done") == "Done"]

    def without(self, position):
        other = copy.copy(self)
        other.commands = {p: command for p, command in self.commands.items() if p != position}
        return other


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
    """Whether a request is about what its command names. A refused create may have no name: the API server learns it from the body,
    and does not read that of one who has not the right, or whose body never came. Then its Audit-ID alone says whose it is."""
    if entry["verb"] == "create" and entry["code"] >= 400 and not entry["name"]:
        return True
    if kind == "LaunchRequested":
        annotations = entry["object"].get("metadata", {}).get("annotations", {})
        return entry["code"] != 201 or "*" + annotations.get("karst.sh/claim-uid", "") in names_of(kind, payload)
    return entry["name"] in names_of(kind, payload)


def has_taint(node, taint, value=True):
    """Karst's log leaves out the effect NoSchedule and an empty value."""
    return any(t["key"] == taint["key"] and t["effect"] == taint.get("effect", "NoSchedule") and (not value or t.get("value", "") == taint.get("value", ""))
               for t in node.get("spec", {}).get("taints") or [])


def tainted(node):
    return any(taint.get("key") == DISRUPTED for taint in node.get("spec", {}).get("taints") or [])


def finalized(thing):
    return FINALIZER in (thing["metadata"].get("finalizers") or [])


def synced(node, payload):
    meta = node["metadata"]
    return (all((meta.get(field) or {}).get(pair["key"]) == pair.get("value", "") for field in ("labels", "annotations") for pair in payload.get(field, []))
            and all(has_taint(node, taint) for taint in payload.get("add_taints", []))
            and not any(has_taint(node, taint, value=False) for taint in payload.get("remove_taints", []))
            and (not payload.get("add_finalizer") or finalized(node))
            and ("owner_uid" not in payload or any(owner["uid"] == payload["owner_uid"] for owner in meta.get("ownerReferences") or [])))


def registered(node):
    return (node["metadata"].get("labels") or {}).get("karpenter.sh/registered") == "true"


def as_wished(kind, payload, thing):
    """Whether an object is as a command wants it that reads first, and writes only if it must."""
    if kind == "TaintRequested":
        adds = bool(payload.get("add"))
        return thing["metadata"]["uid"] == payload["node_uid"] and has_taint(thing, payload["taint"], value=adds) == adds
    if kind == "NodeSyncRequested":
        return thing["metadata"]["uid"] == payload["node_uid"] and synced(thing, payload)
    if kind == "FinalizerRequested":
        return thing["metadata"]["uid"] == payload["object"]["uid"] and finalized(thing) == bool(payload.get("add"))
    return "deletionTimestamp" in thing["metadata"] and not finalized(thing)  # TerminateRequested


def label(entry):
    return f"{entry['verb']} {entry['resource']}{'/' + entry['sub'] if entry['sub'] else ''} {entry['name']} ({entry['code']}, {entry['id']})"


def join_writes(report, entries, logs):
    """Every write has its command, and asks for what the command says. Yields each command's requests: (attempt, entry)."""
    by_command = collections.defaultdict(list)
    stray, foreign, unlike = [], [], []
    for entry in entries:
        if not entry["mine"]:
            continue
        match = AUDIT_ID.match(entry["id"])
        if entry["verb"] not in WRITES:
            if match:
                by_command[(match[1], int(match[2]))].append((int(match[3]), entry))
            continue
        if entry["resource"] in UNASKED:
            continue
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
    report.check("every write carries a command's id", stray)
    report.check("every write's command is in a log", foreign)
    report.check("every write is what its command asked for", unlike)
    return by_command


def join_commands(report, logs, by_command):
    """Every command that was done shows a write that had its effect, or a read that it needed none; no attempt wrote twice."""
    unseen, doubled, denied, idle = [], [], [], collections.Counter()
    for log in logs.values():
        for position, (kind, payload) in log.commands.items():
            asked = by_command.get((log.id, position), [])
            writes = [(attempt, e) for attempt, e in asked if e["verb"] in WRITES]
            name = f"{kind} at {position} {sorted(names_of(kind, payload))}"
            for outcome in log.done(position):
                if not effective(kind, payload, outcome, asked):
                    unseen.append(name)
                elif not writes:
                    idle[kind] += 1
            refused = {o["attempt"] for o in log.outcomes.get(position, []) if o.get("kind") == "Refused"}
            denied += [f"{name}: {label(e)}" for attempt, e in writes if kind in ONE_WRITE and attempt in refused and e["code"] < 300]
            most = len(payload["items"]) if kind == "LaunchRequested" else 1
            each = collections.Counter((attempt, e["resource"], e["sub"], e["verb"]) for attempt, e in writes if e["code"] < 300)
            doubled += [f"{name}: {count} times {what}" for what, count in each.items() if count > most]
    report.note(f"# done without a write, as the API server showed that nothing was left to do: {dict(sorted(idle.items()))}")
    report.check(DONE_IS_WRITTEN, unseen)
    report.check("no command that was refused had its effect", denied)
    report.check("no attempt of a command wrote twice", doubled)


def effective(kind, payload, outcome, asked):
    """Whether the API server's record of a command's requests bears out that it was done."""
    codes = {e["code"] for _, e in asked if e["verb"] in WRITES}
    if kind in ("EvictRequested", "ObjectDeleteRequested"):
        return bool(codes & {200, 201, 202, 404, 409})  # gone, or another has its name
    if kind == "NodeClaimCreateRequested":
        return any(e["verb"] == "create" and (e["uid"] == outcome.get("object_uid") if e["code"] == 201 else e["code"] >= 500) for _, e in asked)
    if kind == "LaunchRequested":
        made = {e["name"] for _, e in asked if e["verb"] == "create" and (e["code"] == 201 or e["code"] >= 500)}
        wanted = {instance["provider_id"].rsplit("/", 1)[-1] for instance in outcome.get("instances", [])}
        return bool(wanted) and wanted <= made
    if kind.endswith("MirrorRequested"):
        return any(e["sub"] == "status" and e["code"] == 200 for _, e in asked)
    # A node may have been gone by then, and an object whose finalizer was to go.
    gone_is_done = kind == "TerminateRequested" or (kind == "FinalizerRequested" and not payload.get("add"))
    if gone_is_done and any(e["code"] == 404 or (e["verb"] == "delete" and e["code"] == 200 and e["object"].get("kind") == "Status") for _, e in asked):
        return True
    if kind == "NodeSyncRequested" and any(e["verb"] == "get" and e["code"] == 200 and registered(e["object"]) for _, e in asked):
        payload = {**payload, "add_taints": []}  # an earlier attempt gave them: a startup taint's owner may have taken it away since
    return any(e["code"] == 200 and "uid" in e["object"].get("metadata", {}) and as_wished(kind, payload, e["object"]) for _, e in asked)


def join_objects(report, entries, logs):
    """What was made is in a log, what a log saw was made, and what it saw go was deleted."""
    for resource in ("nodeclaims", "nodes"):
        about_it = [e for e in entries if e["resource"] == resource and not e["sub"]]
        made = {e["uid"]: e["name"] for e in about_it if e["verb"] == "create" and e["code"] == 201}
        deleted = {e["name"] for e in about_it if e["verb"] == "delete" and (e["code"] in (200, 202) or e["code"] >= 500)}
        # The answer of a create whose sender was killed meanwhile says nothing: it may have been made.
        unclear = {e["name"] for e in about_it if e["verb"] == "create" and e["code"] >= 500}
        seen, gone = {}, {}
        for log in logs.values():
            seen.update(log.seen[resource])
            gone.update(log.gone[resource])
        report.check(f"every one of {len(made)} {resource} that were made is in a log", [n for uid, n in made.items() if uid not in seen])
        report.check(f"every one of {len(seen)} {resource} in a log was made", [n for uid, n in seen.items() if uid not in made and n not in unclear])
        report.check(f"every one of {len(gone)} {resource} that went by a log was deleted", [n for n in gone.values() if n not in deleted])


def join_effects(report, entries, by_command, logs):
    evicted = [e for e in entries if e["mine"] and e["sub"] == "eviction" and e["code"] in (200, 201)]
    asked = {(log.id, p) for log in logs.values() for p, (kind, _) in log.commands.items() if kind == "EvictRequested"
             and any(o.get("kind", "Done") in ("Done", "Unclear") for o in log.outcomes.get(p, []))}
    acted = {key for key, writes in by_command.items() for _, e in writes if e["sub"] == "eviction" and e["code"] in (200, 201)}
    answered = {(log.id, p) for log in logs.values() for p in log.outcomes}
    report.note(f"# {len(evicted)} evictions by the API server's account, {len(asked)} done or unclear by the logs'")
    report.check("every eviction that took place has its answer in a log, or ended with its process",
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
    wrong = []
    for entry in first.values():
        match = AUDIT_ID.match(entry["id"])
        command = logs.get(match[1]) and logs[match[1]].commands.get(int(match[2])) if match else None
        if entry["name"] not in doubtful and (not command or command[0] != "TaintRequested" or not command[1].get("add")):
            wrong.append(label(entry))
    report.check("the first write that shows the taint is a command to taint", wrong)
    told = {payload["node_uid"]: payload["node"] for log in logs.values() for p, (kind, payload) in log.commands.items()
            if kind == "TaintRequested" and payload.get("add") and payload["taint"]["key"] == DISRUPTED and log.done(p)}
    shown = {e["uid"] for e in entries if e["resource"] == "nodes" and tainted(e["object"])}
    report.check(f"every one of {len(told)} nodes that the logs say were tainted was ({len(first)} by karst's writes)",
                 [name for uid, name in told.items() if uid not in shown] + (["not one by karst"] if told and not first else []))


def join_end(report, end, logs):
    now = {i["metadata"]["uid"]: ("nodes" if i["kind"] == "Node" else "nodeclaims", i["metadata"]["name"]) for i in end["items"]}
    for log in logs.values():
        report.check(f"the log {log.id[:6]} ends with what exists: {len(now)} objects",
                     [f"only in the API server: {v}" for k, v in now.items() if k not in log.last]
                     + [f"only in the log: {v}" for k, v in log.last.items() if k not in now])


def join(report, entries, logs):
    by_command = join_writes(report, entries, logs)
    join_commands(report, logs, by_command)
    join_objects(report, entries, logs)
    join_effects(report, entries, by_command, logs)
    return by_command


def gaps(entries, logs, by_command):
    """(what is taken away, the inputs without it, the check that must fail)"""
    for kind in MAKES:
        for key, asked in by_command.items():
            log = logs.get(key[0])
            if log is None or log.commands.get(key[1], ("",))[0] != kind or not log.done(key[1]) or len({attempt for attempt, _ in asked}) > 1:
                continue
            gone = {id(e) for _, e in asked if e["verb"] in WRITES and e["code"] < 300}
            if gone:
                yield f"a {kind} without its write", [e for e in entries if id(e) not in gone], logs, DONE_IS_WRITTEN
                yield f"a write without its {kind}", entries, {**logs, log.id: log.without(key[1])}, "every write's command is in a log"
                break
    if any(tainted(e["object"]) for e in entries):
        bare = []
        for entry in entries:
            thing = entry["object"]
            if tainted(thing):
                kept = [taint for taint in thing["spec"]["taints"] if taint["key"] != DISRUPTED]
                entry = {**entry, "object": {**thing, "spec": {**thing["spec"], "taints": kept}}}
            bare.append(entry)
        yield "that no node was tainted", bare, logs, DONE_IS_WRITTEN


def judge_itself(report, entries, logs, by_command):
    for what, some_entries, some_logs, expected in gaps(entries, logs, by_command):
        quiet = Report(loud=False)
        join(quiet, some_entries, some_logs)
        report.check(f"the joiner finds {what}", [] if quiet.failed[expected] > report.failed[expected] else [f"it finds {dict(quiet.failed)}"])


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
    report = Report(loud=True)
    report.note(f"# {writes} writes of karst's user beside {commands} commands")
    by_command = join(report, entries, logs)
    if args.end:
        join_end(report, json.load(open(args.end, encoding="utf-8")), logs)
    judge_itself(report, entries, logs, by_command)
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
