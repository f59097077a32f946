#!/usr/bin/env python3
"""How many instance types a claim lists, beside Karpenter's claims for the same pods (docs/oracle.md). Where a list is shorter
the judge must say of every type that Karpenter lists besides: with it the answer is invalid, as it stands. Exit status 1 if
some type could have been listed.

    lists.py 'build/release/karst solve {in} -o {out}' tests/oracle
"""
import collections
import copy
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check  # noqa: E402

TIMEOUT = 1800
OPEN_MAX = 20  # that are told; then there is no need to look further


def pairs(doc, solution):
    """(claim of the solution, Karpenter's types for the same pods, cut at the cap)"""
    cap = doc['options'].get('maxInstanceTypes') or 600
    theirs = collections.defaultdict(list)
    for claim in doc['expected']['newNodeClaims']:
        theirs[frozenset(claim['pods'])].append(claim['instanceTypes'][:cap])
    for i, claim in enumerate(solution.get('newNodeClaims') or []):
        same = theirs[frozenset(claim['pods'])]
        if same:
            yield i, claim, same.pop()


def could_list(doc, catalogs, solution, index, name):
    longer = copy.deepcopy(solution)
    longer['newNodeClaims'][index]['instanceTypes'].append(name)
    return not check.judge_case(doc, catalogs, longer).errors


def tenth(values):
    return sorted(values)[len(values) // 10] if values else 0


def line(title, rows):
    ours, theirs = [r[0] for r in rows], [r[1] for r in rows]
    print('%-20s %5d claims, median %g / %g, tenth percentile %g / %g, shorter %d, longer %d'
          % (title, len(rows), statistics.median(ours), statistics.median(theirs), tenth(ours), tenth(theirs),
             sum(a < b for a, b in zip(ours, theirs)), sum(a > b for a, b in zip(ours, theirs))))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command, paths = sys.argv[1], sys.argv[2:]
    docs = list(check.load_cases(paths))
    with tempfile.TemporaryDirectory() as folder:
        answers, why, _ = check.run_batch(command, docs, folder, TIMEOUT)
    rows = collections.defaultdict(list)
    proven, open_ones = 0, []
    for doc, catalogs in docs:
        solution = answers.get(doc['name'])
        if solution is None:
            sys.exit('%s: %s' % (doc['name'], why))
        known = {}  # claims with one list are one
        for index, claim, theirs in pairs(doc, solution):
            ours = claim['instanceTypes']
            rows[doc['name']].append((len(ours), len(theirs)))
            if len(ours) >= len(theirs):
                continue
            for name in sorted(set(theirs) - set(ours)):
                if len(open_ones) == OPEN_MAX:
                    break
                key = (tuple(ours), claim['nodePool'], name)
                if key not in known:
                    known[key] = could_list(doc, catalogs, solution, index, name)
                if known[key]:
                    open_ones.append('%s: claim %d could list %s' % (doc['name'], index, name))
                else:
                    proven += 1
    line('all', [r for one in rows.values() for r in one])
    for name in sorted(rows):
        if any(a < b for a, b in rows[name]):
            line(name, rows[name])
            line('without it', [r for other, one in rows.items() if other != name for r in one])
    print('types that shorter lists lack: %d, of which none could be listed: %s' % (proven + len(open_ones), not open_ones))
    for one in open_ones:
        print(one)
    sys.exit(1 if open_ones else 0)


if __name__ == '__main__':
    main()
