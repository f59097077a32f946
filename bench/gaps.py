#!/usr/bin/env python3
"""Where the price above the bound comes from: bench/gaps.py PROBLEM.json[.gz]... [--karst build/release/karst]

Solves the problem as it is, without some of its constraints, and with its instance types dealt out by turns to several pools of one
weight, and prints a row for each: the price, the bound of bench/bound.py for the same problem, and the distance. Needs highspy, as
bound.py does. One solve each; nothing is timed.
"""
import argparse
import copy
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import bound

HOST, ZONE = bound.HOST_NAME, "topology.kubernetes.io/zone"
POOLS = (2, 3, 5)


def without_affinity(kind):
    def change(spec):
        (spec.get("affinity") or {}).pop(kind, None)
    return change


def without_spread(key):
    def change(spec):
        spec["topologySpreadConstraints"] = [s for s in spec.get("topologySpreadConstraints") or [] if s["topologyKey"] != key]
    return change


CONSTRAINTS = {"anti-affinity": without_affinity("podAntiAffinity"), "affinity": without_affinity("podAffinity"),
               "zone spreads": without_spread(ZONE), "host spreads": without_spread(HOST)}


def without(problem, names):
    changed = copy.deepcopy(problem)
    for pod in changed["pods"]["pending"]:
        for name in names:
            CONSTRAINTS[name](pod["spec"])
    return changed


def in_pools(problem, count):
    """The types by turns in `count` pools that are otherwise the first one."""
    changed = copy.deepcopy(problem)
    [pool] = changed["nodePools"]
    name = pool["metadata"]["name"]
    types = changed["instanceTypes"].pop(name)
    changed["nodePools"] = []
    for at in range(count):
        another = copy.deepcopy(pool)
        another["metadata"]["name"] = f"{name}-{at}"
        another["metadata"]["uid"] = f"{name}-{at}"
        changed["nodePools"].append(another)
        changed["instanceTypes"][f"{name}-{at}"] = types[at::count]
    return changed


def variants(problem):
    yield "as it is", problem
    for name in CONSTRAINTS:
        yield f"without {name}", without(problem, [name])
    yield "anti-affinity alone", without(problem, [name for name in CONSTRAINTS if name != "anti-affinity"])
    yield "none of the four", without(problem, CONSTRAINTS)
    for count in POOLS:
        yield f"its types in {count} pools", in_pools(problem, count)


def solved(karst, problem):
    """Price, nodes and pods left over."""
    with tempfile.TemporaryDirectory() as folder:
        path, answer = Path(folder) / "problem.json", Path(folder) / "answer.json"
        path.write_text(json.dumps({key: value for key, value in problem.items() if key != "expected"}))
        run = subprocess.run([karst, "solve", path, "-o", answer], capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(f"gaps.py: karst solve ended with {run.returncode}: {run.stderr.strip()}")
        made = json.loads(answer.read_text())
    return sum(claim["price"] for claim in made["newNodeClaims"]), len(made["newNodeClaims"]), len(made.get("unschedulable") or {})


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("problems", type=Path, nargs="+", metavar="PROBLEM")
    arguments.add_argument("--karst", default="build/release/karst")
    given = arguments.parse_args()
    print("| problem | variant | price | bound | above it | nodes | left over |\n|---|---|---:|---:|---:|---:|---:|")
    for path in given.problems:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
            problem = json.load(file)
        for name, variant in variants(problem):
            price, nodes, left = solved(given.karst, variant)
            least = bound.bound(variant, False)[0]
            print(f"| {path.name.split('.')[0]} | {name} | {price:,.2f} | {least:,.2f} | {100 * (price / least - 1):.2f} % | {nodes} | {left} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
