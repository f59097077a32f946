"""tests/cluster/join.py on hand-made lines: refused creates, which have no name in the audit log, are joined by their Audit-ID, and nothing else is;
and what is on one side alone is found, or counted where it is believed."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

JOIN = pathlib.Path(__file__).resolve().parents[1] / "cluster" / "join.py"
LOG = "a" * 26
ASKED_FOR = "every write is what its command asked for"


def event(position, event_type, **payload):
    return {"position": position, "type": event_type, "payload": payload}


def create(position, name):
    return event(position, "NodeClaimCreateRequested", claim={"name": name})


def seen(position, name):
    return event(position, "NodeClaimObserved", claim={"name": name, "uid": "uid-" + name})


def request(position, code, name="", body=None, answer=None, resource="nodeclaims", attempt=1, audit_id=None):
    """A create as the API server writes it down; it has the object's name only if it read the body."""
    ref = {"resource": resource, "apiGroup": "karpenter.sh"}
    return {"stage": "ResponseComplete", "verb": "create", "auditID": audit_id or f"{LOG}-{position}-{attempt}", "user": {"username": "karst"},
            "objectRef": {**ref, "name": name} if name else ref, "responseStatus": {"code": code}, "requestObject": body,
            "responseObject": answer or {"kind": "Status", "metadata": {}}, "requestURI": "/apis/karpenter.sh/v1/nodeclaims",
            "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z"}


def made(position, name, **more):
    return request(position, 201, name, answer={"metadata": {"name": name, "uid": "uid-" + name}}, **more)


# What goes well in each case: the claim one.
STORY = [event(1, "LogCreated", id=LOG), create(10, "one"), event(11, "OutcomeReceived", command=10, attempt=1, object_uid="uid-one"), seen(12, "one")]


def refused(position, name):
    return [create(position, name), event(position + 1, "OutcomeReceived", command=position, attempt=1, kind="Refused")]


def registration(position, code, labels):
    """A node's registration with a startup taint, which was done with a look at the node: it was so already."""
    node = {"metadata": {"name": "n", "uid": "uid-n", "labels": labels}, "spec": {}}
    return ([event(position, "NodeSyncRequested", node="n", node_uid="uid-n", add_taints=[{"key": "cni"}]), event(position + 1, "OutcomeReceived", command=position, attempt=1)],
            [{**request(position, code, "n", answer=node, resource="nodes"), "verb": "get"}])


def unclear(position, name):
    """A create that the API server answered with 504: the log has seen the claim all the same."""
    return ([create(position, name), event(position + 1, "OutcomeReceived", command=position, attempt=1, kind="Unclear"), seen(position + 2, name)],
            [request(position, 504, name)])


def eviction(position, code):
    return {**request(position, code, "p", resource="pods"), "objectRef": {"resource": "pods", "subresource": "eviction", "name": "p"}}


def tainted(position, username):
    node = {"metadata": {"name": "n", "uid": "uid-n"}, "spec": {"taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]}}
    return {**request(position, 200, "n", answer=node, resource="nodes"), "verb": "patch", "user": {"username": username}}


def join(events, requests, end=None):
    with tempfile.TemporaryDirectory() as folder:
        audit, log = pathlib.Path(folder, "audit.jsonl"), pathlib.Path(folder, "log.jsonl")
        audit.write_text("".join(json.dumps(one) + "\n" for one in requests))
        log.write_text("".join(json.dumps(one) + "\n" for one in events))
        more = []
        if end is not None:
            more = ["--end", pathlib.Path(folder, "end.json")]
            more[1].write_text(json.dumps({"items": [{"kind": "NodeClaim", "metadata": {"name": name, "uid": "uid-" + name}} for name in end]}))
        result = subprocess.run([sys.executable, JOIN, audit, log, *more], capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


class Join(unittest.TestCase):
    def test_refused_creates(self):
        body = {"metadata": {"name": "two"}}
        terminate = event(20, "TerminateRequested", provider_id="kwok://two")
        table = [  # name, the log's further events, the API server's further requests, the check that must fail
            ("no right", refused(20, "two"), [request(20, 403)], None),
            ("a failure before the body was read", refused(20, "two"), [request(20, 500)], None),
            ("a failure after it", refused(20, "two"), [request(20, 500, body=body)], None),
            ("refused with its name", refused(20, "two"), [request(20, 422, "two", body)], None),
            ("refused and tried again", refused(20, "two"), [request(20, 500), request(20, 403, attempt=2)], None),
            ("a refused create beside a JSON patch", refused(20, "two"), [request(20, 403), {**request(0, 200, "n", [{"op": "test"}], audit_id="x", resource="events"), "verb": "patch"}], None),
            ("another's name", refused(20, "two"), [request(20, 403, "three")], ASKED_FOR),
            ("another's body", refused(20, "two"), [request(20, 500, body={"metadata": {"name": "three"}})], ASKED_FOR),
            ("a create that was not refused needs its name", refused(20, "two"), [request(20, 202)], ASKED_FOR),
            ("a command of another kind", [terminate], [request(20, 403)], ASKED_FOR),
            ("another resource", refused(20, "two"), [request(20, 403, resource="nodes")], ASKED_FOR),
            ("a command that is in no log", [], [request(20, 403)], "every write's command is in a log"),
            ("no command's id", [], [request(0, 403, audit_id="f0e1")], "every write carries a command's id"),
            ("a refusal that the log takes for a success", [create(20, "two"), event(21, "OutcomeReceived", command=20, attempt=1, object_uid="uid-two")],
             [request(20, 403)], "every command that was done shows its write"),
            ("a startup taint is given once", *registration(20, 200, {"karpenter.sh/registered": "true"}), None),
            ("a startup taint that was never given", *registration(20, 200, {}), "every command that was done shows its write"),
            ("a success that the log takes for a refusal", refused(20, "two") + [seen(22, "two")], [made(20, "two")], "no command that was refused had its effect"),
        ]
        for name, events, requests, fails in table:
            self.judged(name, STORY + events, [made(10, "one")] + requests, fails)

    def test_one_side_alone(self):
        evict, answer = event(20, "EvictRequested", name="p"), event(21, "OutcomeReceived", command=20, attempt=1)
        deleted = {**request(0, 200, "one", answer={"metadata": {"name": "one", "uid": "uid-one"}}, audit_id="x"), "verb": "delete", "user": {"username": "admin"}}
        gone = event(30, "NodeClaimGone", name="one", uid="uid-one")
        went, deleted_is_seen = "each of the nodeclaims that went by a log was deleted", "each of the nodeclaims that were deleted, and are gone, went by a log"
        doubtful = "nodeclaims in a log whose making the API server answered with 5xx (not most of them)"
        ended, answered = "every command without an answer was under way when its process or its lease ended", "every eviction that took place has its answer in a log"
        several = [unclear(position, f"c{position}") for position in (40, 50, 60)]
        table = [  # name, the log's further events, the API server's further requests, what exists at the end, the check that must fail
            ("a command without an answer", [create(20, "two")], [], None, ended),
            ("one whose process ended", [create(20, "two"), event(21, "DaemonStarted")], [], None, None),
            ("one whose lease ended before", [event(19, "LeadershipLost"), create(20, "two")], [], None, ended),
            ("an eviction", [evict, answer], [eviction(20, 201)], None, None),
            ("an eviction without its answer", [evict], [eviction(20, 201)], None, answered),
            ("an eviction whose process ended", [evict, event(22, "DaemonStarted")], [eviction(20, 201)], None, None),
            ("an eviction that was done and never asked for", [evict, answer], [], None, "every command that was done shows its write"),
            ("a read of no command", [], [{**request(99, 200, "n", resource="nodes"), "verb": "get"}], None, "every read with a command's id has its command in a log"),
            ("a question to the cloud", [event(99, "InstanceFindRequested")], [{**request(99, 200, "n", resource="nodes"), "verb": "get"}], None, None),
            ("a lease that is deleted", [], [{**request(0, 200, "l", resource="leases", audit_id="x"), "verb": "delete"}], None, "every write carries a command's id"),
            ("a write without its end", [], [{**made(10, "one"), "stage": "RequestReceived"}], None, "every write has its end in the audit log"),
            ("a taint by somebody else", [], [tainted(0, "admin")], None, "each of the nodes that show the taint has it by a write of karst's"),
            ("a making that is unclear", *unclear(40, "c40"), None, None),
            ("most of the makings are unclear", sum((one for one, _ in several), []), sum((one for _, one in several), []), None, doubtful),
            ("a claim that is there at the end", [], [], ["one"], None),
            ("a claim that is deleted, and there still", [], [deleted], ["one"], None),
            ("a claim that went", [gone], [deleted], [], None),
            ("a claim that went undeleted", [gone], [], [], went),
            ("a claim that no log saw go", [], [deleted], [], deleted_is_seen),
        ]
        for name, events, requests, end, fails in table:
            self.judged(name, STORY + events, [made(10, "one")] + requests, fails, end)

    def judged(self, name, events, requests, fails, end=None):
        with self.subTest(name):
            code, out = join(events, requests, end)
            broken = [line for line in out.splitlines() if line.startswith("not ok")]
            self.assertEqual(code, 1 if fails else 0, out)
            if fails:
                self.assertTrue(any(line.startswith("not ok " + fails) for line in broken), out)
            else:
                self.assertEqual(broken, [], out)


if __name__ == "__main__":
    unittest.main()
