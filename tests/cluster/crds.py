#!/usr/bin/env python3
"""The rules of deploy/crds, judged by a real API server: crds.py KARST KUBECONFIG WORK. The CRDs are applied already.

For each rule an object that keeps it and one that breaks it, by `kubectl apply --dry-run=server`; of a refusal, a part of the
message. The same objects go through karst's own reader of manifests (`karst solve -f`): what one refuses the other refuses, for
the field that breaks the rule, but for the rows that say why not. A tool that ends otherwise than with a yes or a no of its own,
says neither. Then defaults, immutability, printer columns, scale, short names and categories; and that
every field says what it is.
Prints "ok …" and "not ok …". Exit 1: some failed.
"""
import concurrent.futures
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from crds_rules import BASE, CLASS, GONE, READER_DIFFERS, READER_NAMES, RUNTIME, T, changed, table

KARST, KUBECONFIG, WORK = sys.argv[1], sys.argv[2], Path(sys.argv[3])
SHIPPED = Path(__file__).resolve().parents[2] / "deploy" / "crds"
kCommandSeconds = 60
kAtOnce = 4
failed = False


def tell(what, why=""):
    global failed
    failed = failed or bool(why)
    print(f"not ok {what}: {' '.join(why.split())[:500]}" if why else f"ok {what}", flush=True)


def kubectl(*arguments, stdin=None):
    run = subprocess.run(["kubectl", "--kubeconfig", KUBECONFIG, *arguments], input=stdin, capture_output=True, text=True,
                         timeout=kCommandSeconds)
    return run.returncode, run.stdout + run.stderr


def reader_says(document):
    """(yes or no; None: neither, for it ended as it does for no manifest, or said nothing of this one, and what it said)."""
    pool = changed(BASE["NodePool"], {"metadata.name": "other"})  # without one there is nothing to solve
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        for name, content in (("case", document), ("pool", pool)):
            Path(folder, name + ".json").write_text(json.dumps(content))
        run = subprocess.run([KARST, "solve", "-f", folder], capture_output=True, text=True, timeout=kCommandSeconds)
    said = run.stdout + run.stderr
    about = f"case.json:1: {document['kind']} {document['metadata']['name']}: "
    if run.returncode == 0 and run.stdout.strip() and about not in said:
        return True, said
    if run.returncode == 2 and about in said:
        return False, said.partition(about)[2]
    return None, f"exit {run.returncode}: {said}"


def judge(rule, kind, document, message, changes=()):
    """`message` None: to be taken; else a no is about one of `changes`. What is wrong, or nothing."""
    code, output = kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(document))
    if message is None and code != 0:
        return "the API server refuses it: " + output
    if message is not None and code == 0:
        return "the API server takes it"
    if message is not None and not (f"The {kind} \"{document['metadata']['name']}\" is invalid: " in output and message in output):
        return f"the API server says something else than \"{message}\": {output}"
    taken, said = reader_says(document)
    if taken is None:
        return "the reader of manifests says neither yes nor no: " + said
    wanted = message is None
    reason = READER_DIFFERS.get((kind, rule, "valid" if wanted else "invalid"))
    if taken == wanted and reason is not None:
        return "the reader agrees with the API server: take the row out of READER_DIFFERS"
    if taken != wanted and reason is None:
        return "the reader of manifests takes it" if taken else "the reader of manifests refuses it: " + said
    places = [READER_NAMES.get((kind, rule)), *changes]
    if not taken and not any(place and said.startswith(tuple(place + end for end in ":.[")) for place in places):
        return f"the reader of manifests refuses something else than {', '.join(changes)}: {said}"
    return ""


def judge_row(row):
    rule, kind, good, bad, message = row
    base = changed(BASE[kind], {"metadata.name": "crd-rule"})  # not there, so that no rule about changes says no
    why = judge(rule, kind, changed(base, good), None)
    return f"{kind}: {rule}", "the valid one: " + why if why else judge(rule, kind, changed(base, bad), message, tuple(bad))


def rules():
    with concurrent.futures.ThreadPoolExecutor(kAtOnce) as pool:
        for what, why in pool.map(judge_row, table()):
            tell(what, why)


def runtime_rules():
    for rule, kind, change, message in RUNTIME:
        document = changed(BASE[kind], {"metadata.name": "crd-rule", **change})
        code, output = kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(document))
        taken, said = reader_says(document)
        tell(f"{kind}: {rule} (the reader's and the controller's rule)",
             output if code != 0 else "" if taken is False and message in said else "the reader says: " + said)


def applied(document):
    code, output = kubectl("apply", "-o", "json", "-f", "-", stdin=json.dumps(document))
    if code != 0:
        raise RuntimeError(output)
    return json.loads(output)


def defaults():
    pool = applied(BASE["NodePool"])["spec"]
    wanted = {"disruption": {"consolidateAfter": "0s", "consolidationPolicy": "WhenEmptyOrUnderutilized", "budgets": [{"nodes": "10%"}]}}
    tell("NodePool: defaults of disruption", "" if pool["disruption"] == wanted["disruption"] else json.dumps(pool["disruption"]))
    expire = pool["template"]["spec"].get("expireAfter")
    tell("NodePool: expireAfter is 720h by default", "" if expire == "720h" else str(expire))
    claim = applied(BASE["NodeClaim"])["spec"]
    tell("NodeClaim: expireAfter is 720h by default", "" if claim.get("expireAfter") == "720h" else str(claim))
    buffer = applied(BASE["CapacityBuffer"])["spec"]
    metadata = applied(BASE["EC2NodeClass"])["spec"].get("metadataOptions")
    wanted = {"httpEndpoint": "enabled", "httpProtocolIPv6": "disabled", "httpPutResponseHopLimit": 1, "httpTokens": "required"}
    tell("EC2NodeClass: defaults of metadataOptions", "" if metadata == wanted else str(metadata))
    tell("CapacityBuffer: active capacity is the default strategy",
         "" if buffer.get("provisioningStrategy") == "buffer.x-k8s.io/active-capacity" else str(buffer))


def immutability():
    static = changed(BASE["NodePool"], {"metadata.name": "crd-static", "spec.replicas": 1})
    applied(static)
    rows = [  # (rule, document, message; None: it may change)
        ("NodePool: the class's name may change", changed(BASE["NodePool"], {T + "nodeClassRef": {**CLASS, "name": "b"}}), None),
        ("NodePool: the class's group may not", changed(BASE["NodePool"], {T + "nodeClassRef": {**CLASS, "group": "b"}}), "nodeClassRef.group is immutable"),
        ("NodePool: the class's kind may not", changed(BASE["NodePool"], {T + "nodeClassRef": {**CLASS, "kind": "B"}}), "nodeClassRef.kind is immutable"),
        ("NodePool: a dynamic one does not become static", changed(BASE["NodePool"], {"spec.replicas": 1}), "between static and dynamic"),
        ("NodePool: a static one does not become dynamic", changed(static, {"spec.replicas": GONE}), "between static and dynamic"),
        ("NodePool: a static one may grow", changed(static, {"spec.replicas": 2}), None),
        ("NodeClaim: labels may change", changed(BASE["NodeClaim"], {"metadata.labels": {"a": "b"}}), None),
        ("NodeClaim: the spec may not", changed(BASE["NodeClaim"], {"spec.terminationGracePeriod": "1h"}), "spec is immutable"),
    ]
    for rule, document, message in rows:
        code, output = kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(document))
        as_wanted = code == 0 if message is None else code != 0 and message in output
        tell(rule, "" if as_wanted else output)


def columns():
    rows = [
        ("nodepools", "NAME NODECLASS NODES READY AGE", "WEIGHT CPU MEMORY"),
        ("nodeclaims", "NAME TYPE CAPACITY ZONE NODE READY AGE", "IMAGEID ID NODEPOOL NODECLASS DRIFTED"),
        ("nodeoverlays", "NAME READY AGE", "WEIGHT"),
        ("ec2nodeclasses", "NAME READY AGE", "ROLE"),
        ("capacitybuffers", "NAME STRATEGY PODTEMPLATE REPLICAS CONDITIONSTYPE CONDITIONSSTATUS CONDITIONSREASON AGE", ""),
    ]
    applied(BASE["NodeOverlay"])
    applied(BASE["EC2NodeClass"])
    for plural, narrow, wide in rows:
        for flag, wanted in ((), narrow), (("-o", "wide"), f"{narrow} {wide}".strip()):
            code, output = kubectl("get", plural, *flag)
            found = " ".join((output.splitlines() or [""])[0].split())
            tell(f"{plural}: columns{' -o wide' if flag else ''}", "" if code == 0 and found == wanted else output)


def names():
    for word, kinds in (("karpenter", ("nodepool.", "nodeclaim.", "nodeoverlay.")), ("overlays", ("crd-test",)), ("cb", ("crd-test",)), ("autoscaling", ("crd-test",)), ("ec2nc", ("crd-test",))):
        code, output = kubectl("get", word)
        tell(f"kubectl get {word}", "" if code == 0 and all(kind in output for kind in kinds) else output)
    code, output = kubectl("scale", "nodepool", "crd-static", "--replicas=3")
    found = kubectl("get", "nodepool", "crd-static", "-o", "jsonpath={.spec.replicas}")[1]
    tell("NodePool: kubectl scale sets the replicas", "" if code == 0 and found == "3" else output + found)


def fields(schema, path=""):
    """(path, description) of every field at any depth; the API server itself describes the three that each object has."""
    for name, field in schema.get("properties", {}).items():
        if path or name not in ("apiVersion", "kind", "metadata"):
            yield path + name, field.get("description", "")
            yield from fields(field, f"{path}{name}.")
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from fields(schema[inner], path)


def descriptions():
    """What `kubectl explain` can say: no field without a description, and the server publishes them."""
    code, output = kubectl("get", "crd", "-o", "json")
    crds = json.loads(output)["items"] if code == 0 else []
    shipped = len(list(SHIPPED.glob("*.yaml")))
    tell(f"{shipped} kinds are there to be explained", "" if len(crds) == shipped > 0 else output if code else f"found {len(crds)}")
    for crd in crds:
        plural, schema = crd["spec"]["names"]["plural"], crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        found = [("the kind", schema.get("description", "")), *fields(schema)]
        silent = ", ".join(path for path, description in found if not description.strip())
        tell(f"{plural}: the kind and its {len(found) - 1} fields say what they are", silent and "no description: " + silent)
        for path in (plural, f"{plural}.spec", f"{plural}.status"):
            code, output = kubectl("explain", path)
            text = " ".join(output.split())
            told = (schema if path == plural else schema["properties"][path.partition(".")[2]]).get("description", "")
            silent = "<empty>" in text or "<no description>" in text
            tell(f"kubectl explain {path}", "" if code == 0 and told and told in text and not silent else output)


rules()
runtime_rules()
defaults()
immutability()
columns()
names()
descriptions()
sys.exit(1 if failed else 0)
