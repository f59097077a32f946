"""tests/cluster/join.py on hand-made lines: refused creates, which have no name in the audit log, are joined by their Audit-ID, and nothing else is."""
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


def join(events, requests):
    with tempfile.TemporaryDirectory() as folder:
        audit, log = pathlib.Path(folder, "audit.jsonl"), pathlib.Path(folder, "log.jsonl")
        audit.write_text("".join(json.dumps(one) + "\n" for one in requests))
        log.write_text("".join(json.dumps(one) + "\n" for one in events))
        result = subprocess.run([sys.executable, JOIN, audit, log], capture_output=True, text=True, check=False)
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
            ("a refused create beside a JSON patch", refused(20, "two"), [request(20, 403), {**request(0, 200, "n", [{"op": "test"}], audit_id="x", resource="leases"), "verb": "patch"}], None),
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
            with self.subTest(name):
                code, out = join(STORY + events, [made(10, "one")] + requests)
                broken = [line for line in out.splitlines() if line.startswith("not ok")]
                self.assertEqual(code, 1 if fails else 0, out)
                if fails:
                    self.assertTrue(any(line.startswith("not ok " + fails) for line in broken), out)
                else:
                    self.assertEqual(broken, [], out)


if __name__ == "__main__":
    unittest.main()
