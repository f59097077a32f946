#!/usr/bin/env python3
"""What no fleet can be cheaper than: bench/bound.py PROBLEM.json[.gz] [ANSWER.json]

A linear program over (shape of pods, offer): pods may be cut to pieces and machines bought in parts, so its optimum is below every
fleet that places them all. Kept of the problem: requests against allocatable, the number of pods, node selectors and required node
affinity, what a pool demands, and pods that must be alone of their kind on a host (anti-affinity and spreads by host name, the latter only
with --host-spreads). Left out: zones, pod affinity, volumes, host ports, DaemonSets, limits, minValues. With ANSWER (of `karst solve`)
the gap between both is printed: price / bound - 1. Solved by HiGHS (pip install highspy), floats and all: this is bench, not karst.
Problems with nodes that exist are refused: their room would have to be priced.

--whole-below CPUS gives a second, higher bound: on machines of fewer CPUs pods are whole, and the program is over ways to fill such a machine
(columns made as they pay, by a knapsack over CPU and memory). It knows no demands on labels, only one kind of pods that must be alone, and
what it adds is what no packing can avoid.
"""
import argparse
import collections
import gzip
import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import highspy  # pip install highspy, which brings numpy
import numpy

HOST_NAME = "kubernetes.io/hostname"
SUFFIXES = {"": 1, "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000)}
SUFFIXES.update({letter: 1000**power for power, letter in enumerate("kMGTPE", 1)})
SUFFIXES.update({letter + "i": 1024**power for power, letter in enumerate("KMGTPE", 1)})


def quantity(text):
    text = str(text)
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return Fraction(digits) * SUFFIXES[text[len(digits):]]


def requests_of(pod):
    """At least this: containers added up, or the greatest init container."""
    total = collections.Counter()
    for container in pod["spec"].get("containers", []):
        resources = container.get("resources", {})
        for name, value in {**resources.get("limits", {}), **resources.get("requests", {})}.items():
            total[name] += quantity(value)
    for container in pod["spec"].get("initContainers", []):
        for name, value in container.get("resources", {}).get("requests", {}).items():
            total[name] = max(total[name], quantity(value))
    total["pods"] = Fraction(1)
    return {name: value for name, value in total.items() if value > 0}


def matches(labels, key, operator, values):
    """Whether an offer with these labels may be meant; a label that it has not may still come from the pool."""
    if key not in labels:
        return True
    have = labels[key]
    if operator == "In":
        return bool(have & set(values))
    if operator == "NotIn":
        return bool(have - set(values))
    if operator == "DoesNotExist":
        return False
    return True  # Exists, and comparisons: not ruled out


def offers_of(problem, keys):
    """Of each pool's offers the cheapest for each type, room and set of labels that some pod or pool asks about."""
    cheapest = {}
    for pool in problem["nodePools"]:
        name = pool["metadata"]["name"]
        template = pool["spec"]["template"]
        demands = [(r["key"], r["operator"], r.get("values", [])) for r in template["spec"].get("requirements", [])]
        for kind in problem["instanceTypes"][name]:
            for offering in kind["offerings"]:
                if not offering["available"]:
                    continue
                labels = {"karpenter.sh/nodepool": {name}, "node.kubernetes.io/instance-type": {kind["name"]}}
                for r in kind["requirements"] + offering["requirements"]:
                    if r["operator"] == "In":
                        labels[r["key"]] = set(r["values"])
                labels.update({key: {value} for key, value in template["metadata"].get("labels", {}).items()})
                if not all(matches(labels, *demand) for demand in demands):
                    continue
                room = {resource: quantity(value) for resource, value in offering.get("allocatable", kind["allocatable"]).items()}
                seen = (name, kind["name"], tuple(sorted(room.items())), tuple((key, tuple(sorted(labels[key]))) for key in keys if key in labels))
                if seen not in cheapest or offering["price"] < cheapest[seen][0]:
                    cheapest[seen] = (offering["price"], labels, room)
    return list(cheapest.values())


def node_terms(spec):
    """Alternatives, each a list of (key, operator, values)."""
    selector = [(key, "In", [value]) for key, value in (spec.get("nodeSelector") or {}).items()]
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or [{}]
    return [selector + [(e["key"], e["operator"], e.get("values", [])) for e in term.get("matchExpressions", [])] for term in terms]


def selects(selector, labels):
    return all(labels.get(key) == value for key, value in (selector or {}).get("matchLabels", {}).items()) and not (selector or {}).get("matchExpressions")


def alone(pod, host_spreads):
    """The kinds of which one host takes at most one (or maxSkew) such pod: [(kind, how many)]."""
    labels, namespace = pod["metadata"].get("labels") or {}, pod["metadata"].get("namespace", "default")
    terms = ((pod["spec"].get("affinity") or {}).get("podAntiAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or []
    for term in terms:
        if term["topologyKey"] == HOST_NAME and selects(term.get("labelSelector"), labels):
            yield (f"anti {namespace} " + json.dumps(term, sort_keys=True), 1)
    for spread in (pod["spec"].get("topologySpreadConstraints") or []) if host_spreads else []:
        if spread["topologyKey"] == HOST_NAME and spread["whenUnsatisfiable"] == "DoNotSchedule" and selects(spread.get("labelSelector"), labels):
            yield (f"spread {namespace} " + json.dumps(spread, sort_keys=True), spread["maxSkew"])


def shapes_of(pods, host_spreads):
    shapes = collections.Counter()
    what = {}
    for pod in pods:
        row = (requests_of(pod), node_terms(pod["spec"]), list(alone(pod, host_spreads)))
        key = repr(row)
        shapes[key] += 1
        what[key] = row
    return [(count, *what[key]) for key, count in shapes.items()]


def bound(problem, host_spreads):
    """The optimum, in the catalogue's money an hour."""
    if problem["nodes"]:
        raise SystemExit("bound.py: the problem has nodes already; only fleets from nothing have this bound")
    shapes = shapes_of(problem["pods"]["pending"], host_spreads)
    keys = sorted({key for _, _, terms, _ in shapes for term in terms for key, _, _ in term})
    offers = offers_of(problem, keys)
    highs = highspy.Highs()
    highs.silent()
    infinity = highspy.kHighsInf
    machines = [highs.addVariable(lb=0, obj=price) for price, _, _ in offers]
    held = collections.defaultdict(list)  # (offer, resource or kind) -> [(how much, variable)]
    caps = {}
    unplaceable = 0
    for count, requests, terms, kinds in shapes:
        places = []
        for at, (_, labels, room) in enumerate(offers):
            if not any(all(matches(labels, *e) for e in term) for term in terms):
                continue
            if any(room.get(resource, 0) < value for resource, value in requests.items()):
                continue
            variable = highs.addVariable(lb=0, ub=count)
            places.append(variable)
            for resource, value in requests.items():
                held[at, resource].append((value, variable))
            for kind, most in kinds:
                caps[kind] = most
                held[at, kind].append((Fraction(1), variable))
        if places:
            highs.addConstr(sum(places) >= count)
        else:
            unplaceable += count
    for (at, what), parts in held.items():
        room = caps[what] if what in caps else offers[at][2][what]
        scale = float(room)
        highs.addConstr(sum(float(value) / scale * variable for value, variable in parts) <= machines[at])
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise SystemExit(f"bound.py: HiGHS says {highs.getModelStatus()}, not optimal")
    return highs.getInfo().objective_function_value, len(shapes), len(offers), unplaceable


class Knapsack:
    """The worth of the best filling of every room up to (cpus, memory), in units that divide all requests."""

    def __init__(self, sizes, worth, cpus, memory):
        self.sizes = sizes
        self.best = numpy.zeros((cpus + 1, memory + 1))
        self.last = numpy.full((cpus + 1, memory + 1), -1, numpy.int16)  # -2: as with one unit of CPU less
        for c in range(cpus + 1):
            if c > 0:
                self.best[c] = self.best[c - 1]
                self.last[c] = -2
            for k, (cpu, size) in sizes.items():
                if cpu > c or worth[k] <= 1e-9 or size > memory:
                    continue
                with_it = numpy.full(memory + 1, -1.0)
                with_it[size:] = self.best[c - cpu][:memory + 1 - size] + worth[k]
                better = with_it > self.best[c] + 1e-12
                self.best[c][better] = with_it[better]
                self.last[c][better] = k

    def filling(self, c, m):
        counts = collections.Counter()
        while self.last[c][m] != -1:
            k = int(self.last[c][m])
            if k == -2:
                c -= 1
                continue
            counts[k] += 1
            c -= self.sizes[k][0]
            m -= self.sizes[k][1]
        return counts


def whole_bound(problem, below):
    """Pods are whole on machines of less than `below` CPUs."""
    shapes = shapes_of(problem["pods"]["pending"], False)
    offers = offers_of(problem, [])
    if len({kind for *_, kinds in shapes for kind, _ in kinds}) > 1 or any(terms != [[]] for _, _, terms, _ in shapes):
        raise SystemExit("bound.py: --whole-below knows one kind of lonely pods, and no demands on labels")
    need = [(int(requests["cpu"] * 1000), int(requests["memory"])) for _, requests, _, _ in shapes]
    lonely = [bool(kinds) for *_, kinds in shapes]
    units = [math.gcd(*(one[i] for one in need)) for i in (0, 1)]
    sizes = [(cpu // units[0], memory // units[1]) for cpu, memory in need]
    rooms = [(price, int(room["cpu"] * 1000), int(room["memory"])) for price, _, room in offers]
    small = [(price, cpu // units[0], memory // units[1]) for price, cpu, memory in rooms if cpu < below * 1000]
    highs = highspy.Highs()
    highs.silent()
    infinity = highspy.kHighsInf
    for count, *_ in shapes:
        highs.addRow(count, infinity, 0, [], [])
    row = len(shapes)
    for price, cpu, memory in rooms:  # of the others, parts may be bought
        if cpu < below * 1000:
            continue
        for _ in range(3):
            highs.addRow(-infinity, 0, 0, [], [])
        highs.addCol(price, 0, infinity, 3, [row, row + 1, row + 2], [-1, -1, -1])
        for k, (asked_cpu, asked_memory) in enumerate(need):
            entries = [(k, 1), (row, asked_cpu / cpu), (row + 1, asked_memory / memory)] + ([(row + 2, 1)] if lonely[k] else [])
            highs.addCol(0, 0, infinity, len(entries), [e[0] for e in entries], [e[1] for e in entries])
        row += 3
    free = {k: size for k, size in enumerate(sizes) if not lonely[k]}
    known = set()
    while True:
        highs.run()
        least = highs.getInfo().objective_function_value
        worth = highs.getSolution().row_dual[:len(shapes)]
        knapsack = Knapsack(free, worth, max(c for _, c, _ in small), max(m for _, _, m in small))
        before = len(known)
        for price, cpu, memory in small:
            best = (1e-7, None)
            for k in [None] + [k for k in range(len(shapes)) if lonely[k]]:
                c, m = (cpu, memory) if k is None else (cpu - sizes[k][0], memory - sizes[k][1])
                if c >= 0 and m >= 0:
                    gain = knapsack.best[c][m] - price + (0 if k is None else worth[k])
                    best = max(best, (gain, (k, c, m)), key=lambda one: one[0])
            if best[1] is None:
                continue
            k, c, m = best[1]
            counts = knapsack.filling(c, m) + collections.Counter([] if k is None else [k])
            column = (price, tuple(sorted(counts.items())))
            if column not in known:
                known.add(column)
                highs.addCol(price, 0, infinity, len(counts), list(counts), [float(n) for n in counts.values()])
        if len(known) == before:
            return least


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("problem", type=Path)
    arguments.add_argument("answer", type=Path, nargs="?")
    arguments.add_argument("--host-spreads", action="store_true", help="also spreads by host name: a higher bound")
    arguments.add_argument("--whole-below", type=int, metavar="CPUS", help="also the bound with whole pods on machines of fewer CPUs")
    given = arguments.parse_args()
    opened = gzip.open if given.problem.suffix == ".gz" else open
    with opened(given.problem, "rt") as file:
        problem = json.load(file)
    least, shapes, offers, unplaceable = bound(problem, given.host_spreads)
    print(f"bound {least:.6f} an hour ({shapes} shapes, {offers} offers{f', {unplaceable} pods fit nowhere' if unplaceable else ''})")
    whole = least
    if given.whole_below:
        whole = whole_bound(problem, given.whole_below)
        print(f"with whole pods on machines below {given.whole_below} CPUs {whole:.6f}, {100 * (whole / least - 1):.2f} % higher")
    if "expected" in problem:
        recorded = problem["expected"]["totalPrice"]
        print(f"Karpenter's answer {recorded:.6f}, {100 * (recorded / least - 1):.2f} % above the bound")
    if given.answer:
        answer = json.loads(given.answer.read_text())
        price = sum(claim["price"] for claim in answer["newNodeClaims"])
        left = len(answer.get("unschedulable") or {})
        print(f"this answer {price:.6f}, {100 * (price / least - 1):.2f} % above the bound"
              + (f" ({100 * (price / whole - 1):.2f} % above that with whole pods)" if given.whole_below else "")
              + f", {len(answer['newNodeClaims'])} nodes, {left} pods left over")
    return 0


if __name__ == "__main__":
    sys.exit(main())
