#!/usr/bin/env python3
"""Did every write of a replica leave while that replica held the lease, in the epoch that it was decided in? epochs.py AUDIT LOG LOG...:
the API server's audit log, and each replica's log as `karst log dump` prints it. Trusts the API server alone: a lease that was
written by HOLDER and accepted at t covers that holder's commands from t to t + 10 s (the renew deadline; others wait 15 s), unless
somebody else's was accepted in between. Its leaseTransitions are the epoch. From the logs comes only which holder a log is, which epochs
it says it led in, and in which of them each attempt was decided. One line a check; exit 1 if one failed."""
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


def read_audit(path):
    """(terms: (time, holder, epoch), writes: (time, log, command, attempt, what)), by time."""
    terms, writes = [], []
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        if event.get("stage") != "ResponseComplete" or event["verb"] not in WRITES or event["user"]["username"] != "karst":
            continue
        ref, code, when = event.get("objectRef", {}), event.get("responseStatus", {}).get("code", 0), at(event["requestReceivedTimestamp"])
        if ref.get("resource") == "leases":
            if code in (200, 201):
                spec = event["responseObject"]["spec"]
                terms.append((when, spec.get("holderIdentity", ""), spec.get("leaseTransitions", 0)))
        elif match := AUDIT_ID.match(event["auditID"]):
            writes.append((when, match[1], int(match[2]), int(match[3]), f"{event['verb']} {ref.get('resource')} {ref.get('name', '')} {event['auditID']} at {when.time()}"))
    return sorted(terms), sorted(writes)


class Log:
    """What a log says of epochs. An attempt was decided where its AttemptStarted is; the first one where its command is."""
    def __init__(self, path):
        self.id, self.holders, self.epochs, self.started = "", set(), [], {}  # epochs: (position, number)
        for line in open(path, encoding="utf-8"):
            event = json.loads(line)
            if event["type"] == "LogCreated":
                self.id = event["payload"]["id"]
            elif event["type"] == "EpochOpened":
                self.holders.add(event["payload"]["holder"])
                self.epochs.append((event["position"], event["payload"]["epoch"]))
            elif event["type"] == "AttemptStarted":
                self.started[event["payload"]["command"], event["payload"]["attempt"]] = event["position"]

    def decided_in(self, command, attempt):
        """The epoch; None if the log knows of no such attempt."""
        position = command if attempt == 1 else self.started.get((command, attempt))
        return None if position is None else next((epoch for opened, epoch in reversed(self.epochs) if opened < position), None)


def judge(terms, writes, logs):
    uncovered, late = [], []
    for when, log_id, command, attempt, what in writes:
        log = logs.get(log_id)
        last = next((term for term in reversed(terms) if term[0] <= when), None)
        if log is None or last is None or last[1] not in log.holders or when - last[0] > RENEW_DEADLINE + ON_THE_WAY:
            uncovered.append(f"{what}, the lease was {last[1] + ' of ' + str(last[0].time()) if last else 'nobody`s'}")
        elif log.decided_in(command, attempt) != last[2]:
            late.append(f"{what}, decided in {log.decided_in(command, attempt)}, sent in {last[2]}")
    check("every write left while its replica held the lease", uncovered)
    check("every write left in the epoch that it was decided in", late)
    check("every log with writes has led", [log for _, log, *_ in writes if log not in logs or not logs[log].epochs][:3])


def main():
    terms, writes = read_audit(sys.argv[1])
    logs = {log.id: log for log in map(Log, sys.argv[2:])}
    judge(terms, writes, logs)
    epochs = {log.id: [number for _, number in log.epochs] for log in logs.values()}
    numbers = [epoch for of in epochs.values() for epoch in of]
    check("no epoch was led in twice", [n for n, times in collections.Counter(numbers).items() if times > 1])
    check("the epochs of a log go up", [of for of in epochs.values() if of != sorted(of)])
    changes = sum(1 for a, b in zip(terms, terms[1:]) if a[1] != b[1])
    by_log = collections.Counter(log for _, log, *_ in writes)
    print(f"# {len(terms)} accepted lease writes, {changes} changes of holder; writes by log: {dict(by_log)}; epochs: {epochs}")
    check("there is something to judge: two replicas led and wrote", [] if len(by_log) > 1 and len(numbers) > 1 else [dict(by_log)])
    return 1 if failed else 0


sys.exit(main())
