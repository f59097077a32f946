#!/usr/bin/env python3
"""Joins what was sent, what the account holds, what the API server holds and what the log says, trusting none of them:

judge.py SENT.jsonl INSTANCES.json OBJECTS.json LOG.jsonl
judge.py owners INSTANCES.json OBJECTS.json                 whether every machine that runs has a claim, be it one that still waits for it

SENT: world.py interrupt's lines. INSTANCES: all machines that there ever were. OBJECTS: {"nodes": […], "claims": […], "pods": […]} at the end.
LOG: `karst log dump`. One line a check, "ok WHAT" or "not ok WHAT: found"; exit 1 if one failed.
"""
import collections
import json
import sys

TOKEN, CLAIMS = "karst.sh/launch-token", "karst.sh/claims."
failed = 0


def check(what, wrong):
    global failed
    failed += bool(wrong)
    print(f"not ok {what}: {str(wrong)[:600]}" if wrong else f"ok {what}")


def texts(value):
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)


def several(items):
    return [item for item, count in collections.Counter(items).items() if count > 1]


def without_owner(instances, objects):
    """Machines that run, are no claim's, and that no claim of their order can still get."""
    had = {claim.get("status", {}).get("providerID", "").rsplit("/", 1)[-1] for claim in objects["claims"]}
    waiting = {claim["metadata"]["uid"] for claim in objects["claims"] if not claim.get("status", {}).get("providerID")}
    ordered = {one["id"]: {pair.split(":")[0] for key, value in one["tags"].items() if key.startswith(CLAIMS) for pair in value.split()} for one in instances}
    return [one["id"] for one in instances if one["state"] in ("pending", "running") and one["id"] not in had and not ordered[one["id"]] & waiting]


def main():
    if sys.argv[1] == "owners":
        check("every machine has an owner", without_owner(*(json.load(open(path)) for path in sys.argv[2:4])))
        return 1 if failed else 0
    sent = [json.loads(line) for line in open(sys.argv[1])]
    instances = json.load(open(sys.argv[2]))
    objects = json.load(open(sys.argv[3]))
    heard = collections.Counter()
    for line in open(sys.argv[4]):
        if '"InterruptionReceived"' in line:
            heard.update({text.split("/")[0] for text in texts(json.loads(line))} & {one["message"] for one in sent})
    check("each of the messages sent is in the log", [one["message"] for one in sent if heard[one["message"]] == 0] or (not sent and "none was sent"))
    check("none of them twice", [name for name, count in heard.items() if count > 1])

    nameless = [one["id"] for one in instances if TOKEN not in one["tags"] or CLAIMS + "0" not in one["tags"]]
    check("every machine carries its order and its claims", nameless or (not instances and "there is no machine"))
    orders, asked = collections.defaultdict(list), collections.defaultdict(set)
    for one in instances:
        token = one["tags"].get(TOKEN)
        orders[token].append(one["id"])
        for key, value in one["tags"].items():
            if key.startswith(CLAIMS):
                asked[token].update(value.split())
    check("no order made more machines than it has claims", [token for token in orders if len(orders[token]) > len(asked[token])])
    check("no attempt of a claim is in two orders", several(pair for token in asked for pair in asked[token]))

    alive = {f"aws:///{one['zone']}/{one['id']}" for one in instances if one["state"] in ("pending", "running")}
    claims = [claim["status"].get("providerID") for claim in objects["claims"]]
    nodes = {node["metadata"]["name"]: node["spec"].get("providerID") for node in objects["nodes"]}
    check("every running machine has a claim, and every claim a machine", sorted(alive ^ set(claims)))
    check("no machine has two claims", several(claims))
    check("every running machine has one node, and every node a machine", sorted(alive ^ set(nodes.values())) or several(nodes.values()))
    ended = {one["id"] for one in instances if one["state"] in ("shutting-down", "terminated")}
    check("every interrupted machine was given back", [one["instance"] for one in sent if one["instance"] not in ended])
    check("every pod is bound to a node that is there",
          [pod["metadata"]["name"] for pod in objects["pods"] if pod["spec"].get("nodeName") not in nodes] or (not objects["pods"] and "there is no pod"))
    return 1 if failed else 0


sys.exit(main())
