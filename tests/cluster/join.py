#!/usr/bin/env python3
"""Joins what the API server recorded with what karst's log says, and trusts nothing of karst's: join.py AUDIT LOG... [--end END]
AUDIT: the API server's audit log (audit_policy.yaml), JSON lines. LOG: one log of karst each, as `karst log dump` prints it.
END: `kubectl get nodes,nodeclaims -o json` at the end of the story; then the log's last word on each object must agree.
--user: whose requests are karst's (default karst; may be repeated). One line a check; exit 1 if one failed, 2 if an input says nothing.
Every claim, node, eviction and taint on one side must be on the other: a write without a command, a command that was done without
a write, a write that is not what its command asked for, and an object that one side has and the other has not are all failures.
A command that was done without a write is believed if the object that the API server showed it was as it wants it, or was gone.
What cannot be judged, or is believed on less than a write that succeeded, is counted and printed, and may not be most of its kind.
At last the joiner judges itself: on the same inputs with one thing taken away, for each kind of thing, it must find the gap."""
import argparse
import collections
import copy
import json
import sys

from join_inputs import AUDIT_ID, MAKES, UNASKED, WRITES, Log, read_audit

DISRUPTED = "karpenter.sh/disrupted"
FINALIZER = "karpenter.sh/termination"
ONE_WRITE = {"NodeClaimCreateRequested", "ObjectDeleteRequested", "TaintRequested", "NodeSyncRequested", "FinalizerRequested", "EvictRequested"}
EVICTED_IS_ANSWERED = "every eviction that took place has its answer in a log, or ended with its process"
DONE_IS_WRITTEN = "every command that was done shows its write"


class Report:
    """The checks of one pass over the inputs; a quiet one only remembers which failed."""
    def __init__(self, loud):
        self.loud, self.failed = loud, collections.Counter()

    def check(self, what, wrong, of=None):
        if wrong:
            self.failed[what] = len(wrong)
            self.note(f"not ok {what}: {len(wrong)}, such as {'; '.join(str(one) for one in wrong[:3])}"[:700])
        else:
            self.note(f"ok {what}{'' if of is None else f' ({of})'}")

    def believed(self, what, some, of):
        """`some` of the things that are judged are believed on less: counted, and not most of them, but that two are nobody's habit."""
        self.note(f"# {what}: {len(some)} of {of}{', such as ' + '; '.join(map(str, some[:3])) if some else ''}"[:500])
        if len(some) > max(2, of // 2):
            self.check(what + " (not most of them)", some)

    def note(self, line):
        if self.loud:
            print(line)


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
    stray, foreign, unlike, unknown, unasked, nameless, answered = [], [], [], [], collections.Counter(), [], 0
    for entry in entries:
        if not entry["mine"]:
            continue
        match = AUDIT_ID.match(entry["id"])
        if entry["verb"] not in WRITES:
            if match:
                by_command[(match[1], int(match[2]))].append((int(match[3]), entry))
                if match[1] not in logs or not any(int(match[2]) in some for some in (logs[match[1]].commands, logs[match[1]].questions)):
                    unknown.append(label(entry))
            continue
        if (entry["verb"], entry["resource"]) in UNASKED:
            unasked[f"{entry['verb']} {entry['resource']}"] += 1
            continue
        answered += 1
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
        elif not entry["name"]:
            nameless.append(label(entry))
        by_command[(match[1], position)].append((int(match[3]), entry))
    report.check("every write carries a command's id", stray)
    report.check("every write's command is in a log", foreign)
    report.check("every write is what its command asked for", unlike)
    report.check("every read with a command's id has its command in a log", unknown)
    report.note(f"# writes that no command asks for: {dict(sorted(unasked.items()))}")
    report.believed("refused writes without a name, which the Audit-ID alone tells whose they are", nameless, answered)
    return by_command


def join_commands(report, logs, by_command):
    """Every command that was done shows a write that had its effect, or a read that it needed none; no attempt wrote twice."""
    unseen, doubled, denied, lost, less, partly, ways = [], [], [], [], collections.defaultdict(list), [], collections.defaultdict(collections.Counter)
    for log in logs.values():
        for position, (kind, payload) in log.commands.items():
            asked = by_command.get((log.id, position), [])
            writes = [(attempt, e) for attempt, e in asked if e["verb"] in WRITES]
            name = f"{kind} at {position} {sorted(names_of(kind, payload))}"
            ways[kind][" and ".join(o.get("kind", "Done").lower() for o in log.outcomes.get(position, [])) or "open"] += 1
            if position not in log.outcomes and not log.open_since_its_end(position):
                lost.append(name)
            for outcome in log.done(position):
                if not effective(kind, payload, outcome, asked):
                    unseen.append(name)
                elif not any(e["code"] < 300 for _, e in writes):
                    less["a look" if not writes else "a failure, such as gone already" if any(e["code"] in (404, 409) for _, e in writes) else "5xx"].append(name)
            refused = {o["attempt"] for o in log.outcomes.get(position, []) if o.get("kind") == "Refused"}
            done_all_the_same = [f"{name}: {label(e)}" for attempt, e in writes if attempt in refused and e["code"] < 300]
            (denied if kind in ONE_WRITE else partly).extend(done_all_the_same)
            most = len(payload["items"]) if kind == "LaunchRequested" else 1
            each = collections.Counter((attempt, e["resource"], e["sub"], e["verb"]) for attempt, e in writes if e["code"] < 300)
            doubled += [f"{name}: {count} times {what}" for what, count in each.items() if count > most]
    report.note(f"# commands by how they ended: {'; '.join(f'{kind} {dict(sorted(ended.items()))}' for kind, ended in sorted(ways.items()))}")
    report.note(f"# commands that write nothing: {dict(collections.Counter(kind for log in logs.values() for kind in log.questions.values()))}")
    done = sum(bool(log.done(position)) for log in logs.values() for position in log.commands)
    for why in ("a look", "a failure, such as gone already", "5xx"):
        report.believed(f"done, by the API server's account, after no write but {why}", less[why], done)
    report.believed("writes of commands that make several, done before the command was refused", partly,
                    sum(e["verb"] in WRITES for asked in by_command.values() for _, e in asked))
    report.check("every command without an answer was under way when its process or its lease ended", lost)
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


def join_objects(report, entries, logs, end):
    """What was made is in a log, what a log saw was made, and what it saw go was deleted; what was deleted, and is gone, it saw go."""
    for resource in ("nodeclaims", "nodes"):
        about_it = [e for e in entries if e["resource"] == resource and not e["sub"]]
        made = {e["uid"]: e["name"] for e in about_it if e["verb"] == "create" and e["code"] == 201}
        deletes = [e for e in about_it if e["verb"] == "delete" and (e["code"] in (200, 202) or e["code"] >= 500)]
        deleted = {e["name"] for e in deletes}
        # The answer of a create whose sender was killed meanwhile says nothing: it may have been made.
        unclear = {e["name"] for e in about_it if e["verb"] == "create" and e["code"] >= 500}
        seen, gone = {}, {}
        for log in logs.values():
            seen.update(log.seen[resource])
            gone.update(log.gone[resource])
        report.check(f"each of the {resource} that were made is in a log", [n for uid, n in made.items() if uid not in seen], len(made))
        report.check(f"each of the {resource} in a log was made", [n for uid, n in seen.items() if uid not in made and n not in unclear], len(seen))
        report.believed(f"{resource} in a log whose making the API server answered with 5xx", [n for uid, n in seen.items() if uid not in made and n in unclear], len(seen))
        report.check(f"each of the {resource} that went by a log was deleted", [n for n in gone.values() if n not in deleted], len(gone))
        report.check(f"none of the {resource} is without a uid", [side for side in (made, seen, gone) if "" in side])
        there = {name for kind, name in end.values() if kind == resource} if end is not None else deleted
        went = deleted - there
        report.check(f"each of the {resource} that were deleted, and are gone, went by a log", sorted(went - set(gone.values())), len(went))
        report.note(f"# {resource}: {len(unclear)} creates and {sum(e['code'] >= 500 for e in deletes)} deletes answered with 5xx, "
                    f"{len({e['uid'] for e in about_it if e['verb'] == 'create' and e['code'] == 201 and not e['mine']})} made by others, "
                    f"{len({e['name'] for e in deletes if not e['mine']})} deleted by others, {len(deleted & there)} deleted and {'there still' if end is not None else 'perhaps there still: no END says'}")


def command_of(entry, logs):
    match = AUDIT_ID.match(entry["id"])
    return logs[match[1]].commands.get(int(match[2])) if match and match[1] in logs else None


def join_evictions(report, entries, by_command, logs):
    took_place = [e for e in entries if e["sub"] == "eviction" and e["code"] in (200, 201)]
    said = {(log.id, p) for log in logs.values() for p, (kind, _) in log.commands.items() if kind == "EvictRequested"
            and any(o.get("kind", "Done") in ("Done", "Unclear") for o in log.outcomes.get(p, []))}
    acted = {key for key, writes in by_command.items() for _, e in writes if e["mine"] and e["sub"] == "eviction" and e["code"] in (200, 201)}
    ended = {key for key in acted - said if key[0] in logs and logs[key[0]].open_since_its_end(key[1])}
    answers = {key: {e["code"] for _, e in by_command.get(key, []) if e["verb"] in WRITES} for key in said}
    others = collections.Counter("a delete" if 200 in codes else "gone already" if codes & {404, 409} else "unclear" for key, codes in answers.items() if key not in acted)
    report.note(f"# {sum(e['mine'] for e in took_place)} evictions by the API server's account and {sum(not e['mine'] for e in took_place)} of others, "
                f"{len(said)} done or unclear by the logs'; those without an eviction: {dict(sorted(others.items()))}")
    report.check(EVICTED_IS_ANSWERED, sorted(acted - said - ended))
    report.believed("evictions whose answer ended with its process", sorted(ended), len(acted))


def join_taints(report, entries, logs):
    shows = [e for e in entries if e["resource"] == "nodes" and tainted(e["object"])]
    asks = lambda entry: entry["mine"] and (command_of(entry, logs) or ("",))[0] == "TaintRequested" and command_of(entry, logs)[1].get("add")
    # A server whose client went away answers 504, and may have done it.
    doubtful = {entry["name"] for entry in entries if entry["code"] >= 500 and asks(entry)}
    first = {}
    for entry in sorted(shows, key=lambda e: e["received"]):  # a slow answer is written down after those that came later
        if entry["mine"] and entry["verb"] in WRITES:
            first.setdefault(entry["uid"], entry)
    unasked = [entry for entry in first.values() if not asks(entry)]
    report.check("the first write that shows the taint is a command to taint", [label(e) for e in unasked if e["name"] not in doubtful])
    report.believed("nodes tainted by a write that the API server answered with 5xx", [label(e) for e in unasked if e["name"] in doubtful], len(first))
    told = {payload["node_uid"]: payload["node"] for log in logs.values() for p, (kind, payload) in log.commands.items()
            if kind == "TaintRequested" and payload.get("add") and payload["taint"]["key"] == DISRUPTED and log.done(p)}
    shown = {e["uid"]: e["name"] for e in shows}
    report.check("each of the nodes that the logs say were tainted was", [name for uid, name in told.items() if uid not in shown], len(told))
    report.check("each of the nodes that show the taint has it by a write of karst's", [n for uid, n in shown.items() if uid not in first and n not in doubtful], len(shown))


def objects_at_the_end(path):
    end = json.load(open(path, encoding="utf-8"))
    return {i["metadata"]["uid"]: ("nodes" if i["kind"] == "Node" else "nodeclaims", i["metadata"]["name"]) for i in end["items"]}


def join_end(report, now, logs):
    for log in logs.values():
        report.check(f"the log {log.id[:6]} ends with what exists: {len(now)} objects",
                     [f"only in the API server: {v}" for k, v in now.items() if k not in log.last]
                     + [f"only in the log: {v}" for k, v in log.last.items() if k not in now])


def join(report, entries, logs, now):
    by_command = join_writes(report, entries, logs)
    join_commands(report, logs, by_command)
    join_objects(report, entries, logs, now)
    join_evictions(report, entries, by_command, logs)
    join_taints(report, entries, logs)
    return by_command


def gaps(entries, logs, by_command, end):
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
    for resource in ("nodeclaims", "nodes"):
        about_it = [e for e in entries if e["resource"] == resource and not e["sub"] and e["code"] in (200, 201)]
        for create in [e for e in about_it if e["verb"] == "create" and any(e["uid"] in log.gone[resource] for log in logs.values())][:1]:
            name, uid = create["name"], create["uid"]
            rest = lambda verb: [e for e in entries if not (e["verb"] == verb and e["resource"] == resource and e["name"] == name)]
            blind = lambda side: {log.id: log.without_object(side, resource, uid) for log in logs.values()}
            yield f"one of the {resource} that no log saw", entries, blind("seen"), f"each of the {resource} that were made is in a log"
            yield f"one of the {resource} that nobody made", rest("create"), logs, f"each of the {resource} in a log was made"
            yield f"one of the {resource} that went undeleted", rest("delete"), logs, f"each of the {resource} that went by a log was deleted"
            if end is not None:
                yield f"one of the {resource} that no log saw go", entries, blind("gone"), f"each of the {resource} that were deleted, and are gone, went by a log"
    for key, asked in by_command.items():
        if key[0] in logs and logs[key[0]].done(key[1]) and any(e["sub"] == "eviction" and e["code"] == 201 for _, e in asked):
            yield "an eviction that a log has no answer to", entries, {**logs, key[0]: logs[key[0]].without_answer(key[1])}, EVICTED_IS_ANSWERED
            break


def judge_itself(report, entries, logs, by_command, end):
    tried = set()
    for what, some_entries, some_logs, expected in gaps(entries, logs, by_command, end):
        tried |= {kind for kind in MAKES if what == f"a {kind} without its write"}
        quiet = Report(loud=False)
        join(quiet, some_entries, some_logs, end)
        report.check(f"the joiner finds {what}", [] if quiet.failed[expected] > report.failed[expected] else [f"it finds {dict(quiet.failed)}"])
    done = {kind for log in logs.values() for p, (kind, _) in log.commands.items() if log.done(p)}
    report.note(f"# kinds of commands of which none was taken away: {sorted(done - tried)} by another way than one write, {sorted(MAKES.keys() - done)} not done")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("audit")
    parser.add_argument("log", nargs="+")
    parser.add_argument("--end")
    parser.add_argument("--user", action="append")
    args = parser.parse_args()
    entries, others = read_audit(args.audit, set(args.user or ["karst"]))
    logs = {log.id: log for log in (Log(path) for path in args.log)}
    end = objects_at_the_end(args.end) if args.end else None
    writes = sum(e["mine"] and e["verb"] in WRITES for e in entries)
    commands = sum(len(log.commands) for log in logs.values())
    if writes == 0 or commands == 0:
        print(f"join.py: {writes} writes of karst in {args.audit}, {commands} commands in the logs: nothing to join", file=sys.stderr)
        sys.exit(2)
    report = Report(loud=True)
    report.note(f"# {writes} writes of karst's user beside {commands} commands")
    report.note(f"# of the audit log's other lines: {sum(not e['mine'] for e in entries)} requests of others; stages that are no end: {dict(others)}")
    report.check("every write has its end in the audit log", [key for key in others if key[1] in WRITES])
    report.check("each log is another's", [] if len(logs) == len(args.log) and all(logs) else [sorted(logs)])
    by_command = join(report, entries, logs, end)
    if end is None:
        report.note("# not judged, as there is no END: that the logs end with what exists")
    else:
        join_end(report, end, logs)
    judge_itself(report, entries, logs, by_command, end)
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
