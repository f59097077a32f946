"""What join.py reads: the API server's audit log, and karst's log as `karst log dump` prints it. What is no request or no command for the
joiner is counted."""
import collections
import copy
import json
import re

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
UNASKED = {("create", "leases"), ("update", "leases"), ("create", "events"), ("patch", "events"),
           ("create", "selfsubjectaccessreviews"), ("create", "selfsubjectreviews")}
ENDS = ("DaemonStarted", "LeadershipLost")  # what was under way before has ended without an answer, or may not be sent
AUDIT_ID = re.compile(r"^([a-z2-7]{26})-(\d+)-(\d+)$")


def read_audit(path, users):
    """(requests that came to their end, how many lines tell of other stages: (stage, verb))."""
    entries, others = [], collections.Counter()
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        if event.get("stage") not in ("ResponseComplete", "Panic"):  # after a panic there is no other line about it
            others[event.get("stage"), event["verb"]] += 1
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
    return entries, others


class Log:
    def __init__(self, path):
        self.id, self.commands, self.outcomes = "", {}, collections.defaultdict(list)
        self.questions, self.ended = {}, 0  # commands that write nothing; where something last ended what was under way
        self.seen, self.gone, self.last = collections.defaultdict(dict), collections.defaultdict(dict), {}
        for line in open(path, encoding="utf-8"):
            event = json.loads(line)
            kind, payload, position = event["type"], event["payload"], event["position"]
            if kind == "LogCreated":
                self.id = payload["id"]
            elif kind in MAKES:
                self.commands[position] = (kind, payload)
            elif kind.endswith("Requested"):
                self.questions[position] = kind
            elif kind in ENDS:
                self.ended = position
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

    def open_since_its_end(self, position):
        """Whether a command has no answer because its process, or its lease, ended."""
        return position not in self.outcomes and position < self.ended

    def without_object(self, side, resource, uid):
        """As if the log had not `seen` it, or not seen it `gone`."""
        other, things = copy.copy(self), getattr(self, side)
        setattr(other, side, collections.defaultdict(dict, {**things, resource: {u: n for u, n in things[resource].items() if u != uid}}))
        return other

    def without_answer(self, position):
        other = copy.copy(self)
        other.outcomes, other.ended = collections.defaultdict(list, {p: some for p, some in self.outcomes.items() if p != position}), 0
        return other

    def without(self, position):
        other = copy.copy(self)
        other.commands = {p: command for p, command in self.commands.items() if p != position}
        return other
