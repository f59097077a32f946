#!/usr/bin/env python3
"""Did every write of a replica leave while that replica held the lease? epochs.py AUDIT LOG LOG...: the API server's audit log, and
each replica's log as `karst log dump` prints it. Trusts the API server alone: a lease that was written by HOLDER and accepted at t
covers that holder's commands from t to t + 10 s (the renew deadline; others wait 15 s), unless somebody else's was accepted in
between. From the logs comes only which holder a log is, and which epochs it says it led in. One line a check; exit 1 if one failed."""
import collections
import datetime
import json
import re
import sys

RENEW_DEADLINE = datetime.timedelta(seconds=10)
# The audit log's time is when the server took the request up; our deadline counts from before that. What lies between was on its way.
ON_THE_WAY = datetime.timedelta(milliseconds=500)
AUDIT_ID = re.compile(r"^([a-z2-7]{26})-(\d+)-(\d+)$")
WRITES = ("create", "update", "patch", "delete")
failed = 0


def check(what, wrong):
    global failed
    failed += 1 if wrong else 0
    print(f"not ok {what}: {len(wrong)}, such as {'; '.join(map(str, wrong[:3]))}"[:700] if wrong else f"ok {what}")


def at(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def main():
    terms, writes = [], []  # (time, holder); (time, log, what)
    for line in open(sys.argv[1], encoding="utf-8"):
        event = json.loads(line)
        if event.get("stage") != "ResponseComplete" or event["verb"] not in WRITES or event["user"]["username"] != "karst":
            continue
        ref, code, when = event.get("objectRef", {}), event.get("responseStatus", {}).get("code", 0), at(event["requestReceivedTimestamp"])
        if ref.get("resource") == "leases":
            if code in (200, 201):
                terms.append((when, event["responseObject"]["spec"].get("holderIdentity", "")))
        elif match := AUDIT_ID.match(event["auditID"]):
            writes.append((when, match[1], f"{event['verb']} {ref.get('resource')} {ref.get('name', '')} {event['auditID']} at {when.time()}"))
    holder_of, epochs, positions = {}, collections.defaultdict(list), {}
    for path in sys.argv[2:]:
        log, lost = "", 0
        for line in open(path, encoding="utf-8"):
            event = json.loads(line)
            if event["type"] == "LogCreated":
                log = event["payload"]["id"]
            elif event["type"] == "EpochOpened":
                holder_of[log] = event["payload"]["holder"]
                epochs[log].append(event["payload"]["epoch"])
            elif event["type"] == "LeadershipLost":
                lost += 1
        positions[log] = lost
    terms.sort()
    writes.sort()
    uncovered = []
    for when, log, what in writes:
        last = next((term for term in reversed(terms) if term[0] <= when), None)
        if last is None or last[1] != holder_of.get(log) or when - last[0] > RENEW_DEADLINE + ON_THE_WAY:
            uncovered.append(f"{what}, the lease was {last[1] + ' of ' + str(last[0].time()) if last else 'nobody`s'}")
    check("every write left while its replica held the lease", uncovered)
    check("every log with writes has led", [log for _, log, _ in writes if log not in holder_of][:3])
    numbers = [epoch for of in epochs.values() for epoch in of]
    check("no epoch was led in twice", [n for n, times in collections.Counter(numbers).items() if times > 1])
    check("the epochs of a log go up", [of for of in epochs.values() if of != sorted(of)])
    changes = sum(1 for a, b in zip(terms, terms[1:]) if a[1] != b[1])
    by_log = collections.Counter(log for _, log, _ in writes)
    print(f"# {len(terms)} accepted lease writes, {changes} changes of holder; writes by log: {dict(by_log)}; epochs: {dict(epochs)}")
    check("there is something to judge: two replicas led and wrote", [] if len(by_log) > 1 and len(numbers) > 1 else [dict(by_log)])
    return 1 if failed else 0


sys.exit(main())
