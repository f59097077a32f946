#!/usr/bin/env python3
"""The invariants of launching and terminating, on what the account's journal, its machines, the API server and the log say after a storm:

laws.py SENT.jsonl INSTANCES.json OBJECTS.json LOG.jsonl JOURNAL.jsonl MACHINES_MAX

The first four are judge.py's. JOURNAL: /karst/journal (moto/faults.py). MACHINES_MAX: what the pool's limit allows. One line a law,
"ok LAW (N CASES)" or "not ok LAW: found"; a law that was tested on nothing is not ok. Exit 1 if one failed.
"""
import collections
import datetime
import json
import sys

TOKEN, CLAIMS = "karst.sh/launch-token", "karst.sh/claims."
BACK_OFF_SECONDS = 0.9  # before the same order is sent again: 1 s, and some less for how clocks are read
EXHAUSTED_SECONDS = (5, 170)  # an offer without room is left alone for 180 s; orders that were on their way do not count
FLEETS_A_MINUTE_MAX = 60
failed = 0


def law(name, cases, wrong, least=1):
    global failed
    bad = list(wrong) or (cases < least and f"only {cases} cases")
    failed += bool(bad)
    print(f"not ok {name}: {str(bad)[:600]}" if bad else f"ok {name} ({cases} cases)")


def lines(path):
    return [json.loads(line) for line in open(path)]


def claims_of(machine):
    return [pair for key, value in machine["tags"].items() if key.startswith(CLAIMS) for pair in value.split()]


def attempts_in(log):
    """(orders by command, pairs whose earlier attempt was open, all pairs)."""
    orders, ended, open_order, early, pairs = {}, set(), {}, [], 0
    for event in log:
        payload = event["payload"]
        if event["type"] == "OutcomeReceived" and "unclear" not in str(payload.get("kind", "")).lower():
            ended.add(payload["command"])
        elif event["type"] == "CommandAbandoned":
            ended.add(payload["command"])
        elif event["type"] == "LaunchRequested":
            orders[event["position"]] = payload
            for item in payload["items"]:
                pairs += 1
                before = open_order.get(item["claim_uid"])
                if before is not None and before not in ended:
                    early.append(f"{item['name']}: attempt {item['attempt']} beside command {before}")
                open_order[item["claim_uid"]] = event["position"]
    return orders, early, pairs


def covered_twice(log):
    """Pods nominated for a claim while another one that still comes was to take them, and how many nominations there were."""
    takes, over, launches, double, count = {}, set(), {}, [], 0
    for event in log:
        payload, kind = event["payload"], event["type"]
        if kind == "PodsNominated":
            now = datetime.datetime.fromisoformat(event["log_time"].replace("Z", "+00:00")).timestamp() * 1000
            for pod in payload["pods"]:
                count += 1
                claim, until = takes.get(pod, (None, 0))
                new = payload.get("claim") or "node " + payload["node"]  # one that is up
                if claim not in (None, new) and claim not in over and until > now:
                    double.append(f"{pod}: {claim} and {new}")
                takes[pod] = (new, payload["until_millis"]) if "claim" in payload else (None, 0)
        elif kind == "PodObserved" and payload.get("node"):
            takes.pop(payload["uid"], None)  # bound: nobody waits for it
        elif kind == "ObjectDeleteRequested" and event["stream"].startswith("nodeclaim/"):
            over.add(event["stream"].removeprefix("nodeclaim/"))
        elif kind == "NodeClaimGone":
            over.add(payload["name"])
        elif kind == "NodeSyncRequested" and payload.get("owner"):
            over.add(payload["owner"])  # its node is there: the scheduler may have given its room to others
        elif kind == "LaunchRequested":
            launches[event["position"]] = {item["claim_uid"]: item["name"] for item in payload["items"]}
        elif kind == "OutcomeReceived" and payload["command"] in launches and "unclear" not in str(payload.get("kind", "")).lower():
            got = {one["claim_uid"] for one in payload.get("instances", [])}
            over.update(name for uid, name in launches[payload["command"]].items() if uid not in got)  # refused, or left out
    return double, count


def main():
    sent, instances, objects, log, journal = lines(sys.argv[1]), json.load(open(sys.argv[2])), json.load(open(sys.argv[3])), lines(sys.argv[4]), lines(sys.argv[5])
    machines_max = int(sys.argv[6])
    ours = [one for one in instances if TOKEN in one["tags"]]
    alive = [one for one in ours if one["state"] in ("pending", "running")]
    fleets = [one for one in journal if one["action"] == "CreateFleet"]

    orders, early, pairs = attempts_in(log)
    by_token = collections.defaultdict(list)
    for one in ours:
        by_token[one["tags"][TOKEN]].append(one)
    owners = collections.Counter(pair for group in by_token.values() for pair in set(claims_of(group[0])))
    law("A1 at most one machine for an attempt of a claim", len(owners), [token for token, group in by_token.items() if len(group) > len(set(claims_of(group[0])))]
        + [pair for pair, count in owners.items() if count > 1])
    law("A1 at most one open attempt for a claim", pairs, early)

    digests, times = collections.defaultdict(set), collections.defaultdict(list)
    for one in fleets:
        digests[one["token"]].add(one["digest"])
        times[one["token"]].append(one["at"])
    again = sum(len(sends) - 1 for sends in times.values())
    law("A2 an order that is sent again has the same bytes", again, [token for token, found in digests.items() if len(found) > 1])
    law("A2 what leaves is an order of the log", len(digests), set(digests) - {order["token"] for order in orders.values()})

    claims = collections.Counter(claim["status"].get("providerID", "").rpartition("/")[2] for claim in objects["claims"])
    law("A3 a machine that runs belongs to one claim", len(alive), [one["id"] for one in alive if claims[one["id"]] != 1])
    double, nominations = covered_twice(log)
    law("A4 no pod is waited for by two claims", nominations, double)
    law(f"A5 there are never more than {machines_max} machines", len(fleets), [one["alive"] for one in fleets if one.get("alive", 0) > machines_max])

    law("A6 an order is sent again only after a pause", again, [f"{token}: {later - earlier:.2f} s" for token, sends in times.items()
                                                                for earlier, later in zip(sends, sends[1:]) if later - earlier < BACK_OFF_SECONDS])
    dry, asked_again, tested = [], [], 0
    for one in fleets:
        for offer, at, token in dry:
            if token != one["token"] and EXHAUSTED_SECONDS[0] < one["at"] - at < EXHAUSTED_SECONDS[1]:
                tested += 1
                if offer in one["wanted"]:
                    asked_again.append(f"{offer} {one['at'] - at:.0f} s after there was no room")
        dry += [(offer, one["at"], one["token"]) for offer in one.get("exhausted", []) if one["do"].get("cut") != "after"]
    law("A6 an offer without room is left alone", tested, asked_again)
    most = max((sum(0 <= other["at"] - one["at"] < 60 for other in fleets) for one in fleets), default=0)
    law(f"A6 at most {FLEETS_A_MINUTE_MAX} launches are sent in a minute, here {most}", len(fleets), [most] if most > FLEETS_A_MINUTE_MAX else [])

    seen, blind, ends = set(), [], 0
    for one in journal:
        if one["action"] == "DescribeInstances":
            seen.update(one["ids"])
        elif one["action"] == "TerminateInstances":
            ends += len(one["ids"])
            blind += [name for name in one["ids"] if name not in seen]
    law("T1 a machine is ended by its id, after it was looked at by its id", ends, blind)
    tags = {one["id"]: {pair.rpartition(":")[0] for pair in claims_of(one)} for one in ours}
    asked = [event["payload"] for event in log if event["type"] == "TerminateRequested"]
    law("T1 it is ended for a claim that is in its tags", len(asked), [one for one in asked if one["claim_uid"] not in tags.get(one["provider_id"].rpartition("/")[2], ())])
    interrupted = {one["instance"] for one in sent}
    doubtful = [one for one in journal if one["do"]]
    law(f"T2 what was doubtful ({len(doubtful)} of the calls above, and lists) ended no machine but those interrupted", len(ours),
        [one["id"] for one in ours if one["state"] not in ("pending", "running") and one["id"] not in interrupted])
    return 1 if failed else 0


sys.exit(main())
