"""tests/cluster/epochs.py on hand-made lines: two replicas, of which the first leads in epochs 1 and 3, and writes that left at the wrong time."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

EPOCHS = pathlib.Path(__file__).resolve().parents[1] / "cluster" / "epochs.py"
FIRST, SECOND = "a" * 26, "b" * 26
COVERED, IN_EPOCH = "every write left while its replica held the lease", "every write left in the epoch that it was decided in"


def event(position, event_type, **payload):
    return {"position": position, "type": event_type, "payload": payload}


def request(second, resource, audit_id="x", **more):
    return {"stage": "ResponseComplete", "verb": "update", "auditID": audit_id, "user": {"username": "karst"}, "objectRef": {"resource": resource, "name": "n"},
            "responseStatus": {"code": 200}, "requestReceivedTimestamp": f"2026-01-01T00:{second // 60:02}:{second % 60:02}.000000Z", **more}


def lease(second, holder, epoch):
    return request(second, "leases", responseObject={"spec": {"holderIdentity": holder, "leaseTransitions": epoch}})


def write(second, log, command, attempt=1):
    return request(second, "nodes", f"{log}-{command}-{attempt}")


LOGS = [
    [event(1, "LogCreated", id=FIRST), event(2, "EpochOpened", epoch=1, holder="one"), event(10, "LaunchRequested"),
     event(30, "EpochOpened", epoch=3, holder="one"), event(40, "TaintRequested"), event(41, "AttemptStarted", command=10, attempt=2)],
    [event(1, "LogCreated", id=SECOND), event(2, "EpochOpened", epoch=2, holder="two"), event(10, "TaintRequested")],
]
LEASES = [lease(0, "one", 1), lease(20, "two", 2), lease(40, "one", 3)]
STORY = [*LEASES, write(1, FIRST, 10), write(21, SECOND, 10), write(41, FIRST, 40)]


def judge(requests):
    with tempfile.TemporaryDirectory() as folder:
        audit, *logs = (pathlib.Path(folder, name) for name in ("audit.jsonl", "first.jsonl", "second.jsonl"))
        audit.write_text("".join(json.dumps(one) + "\n" for one in requests))
        for path, events in zip(logs, LOGS):
            path.write_text("".join(json.dumps(one) + "\n" for one in events))
        result = subprocess.run([sys.executable, EPOCHS, audit, *logs], capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


class Epochs(unittest.TestCase):
    def test_writes(self):
        table = [  # name, a further write, the check that must fail
            ("a second attempt, decided in the new epoch", write(42, FIRST, 10, 2), None),
            ("the first attempt in the new epoch", write(42, FIRST, 10), IN_EPOCH),
            ("the new attempt in the old epoch", write(2, FIRST, 10, 2), IN_EPOCH),
            ("an attempt that the log does not know", write(42, FIRST, 10, 3), IN_EPOCH),
            ("past the lease", write(55, FIRST, 40), COVERED),
            ("while the other held it", write(22, FIRST, 10), COVERED),
            ("of a log that is not there", write(42, "c" * 26, 10), COVERED),
        ]
        for name, further, fails in table:
            with self.subTest(name):
                code, out = judge([*STORY, further])
                broken = [line for line in out.splitlines() if line.startswith("not ok")]
                self.assertEqual(code, 1 if fails else 0, out)
                if fails:
                    self.assertTrue(broken and broken[0].startswith("not ok " + fails), out)
                else:
                    self.assertEqual(broken, [], out)


if __name__ == "__main__":
    unittest.main()
