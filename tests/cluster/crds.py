#!/usr/bin/env python3
"""The rules of deploy/crds, judged by a real API server: crds.py KARST KUBECONFIG WORK. The CRDs are applied already.

For each rule an object that keeps it and one that breaks it, by `kubectl apply --dry-run=server`; of a refusal, a part of the
message. The same objects go through karst's own reader of manifests (`karst solve -f`): what one refuses the other refuses,
but for the rows that say why not. Then defaults, immutability, printer columns, scale, short names and categories.
Prints "ok …" and "not ok …". Exit 1: some failed.
"""
import concurrent.futures
import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path

KARST, KUBECONFIG, WORK = sys.argv[1], sys.argv[2], Path(sys.argv[3])
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


CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
BASE = {
    "NodePool": {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "crd-test"},
                 "spec": {"template": {"spec": {"nodeClassRef": CLASS, "requirements": []}}}},
    "NodeClaim": {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "crd-test"},
                  "spec": {"nodeClassRef": CLASS, "requirements": []}},
    "NodeOverlay": {"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": "crd-test"},
                    "spec": {"requirements": []}},
    "CapacityBuffer": {"apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer",
                       "metadata": {"name": "crd-test", "namespace": "default"},
                       "spec": {"podTemplateRef": {"name": "a"}, "replicas": 1}},
    "KWOKNodeClass": {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": "crd-test"},
                      "spec": {}},
}
PLURAL = {"NodePool": "nodepools", "NodeClaim": "nodeclaims"}
GONE = object()


def changed(document, changes):
    """A copy with `changes`: dotted path to value, GONE removes. A slash in a path stands for itself."""
    document = copy.deepcopy(document)
    for path, value in changes.items():
        *way, last = path.split(".")
        at = document
        for step in way:
            at = at.setdefault(step, {})
        if value is GONE:
            at.pop(last, None)
        else:
            at[last] = value
    return document


def req(key, op, *values, **more):
    return {"key": key, "operator": op, **({"values": list(values)} if values else {}), **more}


def taint(**fields):
    return {"key": "a", "effect": "NoSchedule", **fields}


T = "spec.template.spec."
RESTRICTED_DOMAIN = "domain is restricted"
HOSTNAME = 'label "kubernetes.io/hostname" is restricted'
NODEPOOL = 'label "karpenter.sh/nodepool" is restricted'
IN = "requirements with operator 'In' must have a value defined"
BOUNDS = "'Gt', 'Lt', 'Gte' and 'Lte' must have a single non-negative integer value"
MIN = "requirements with 'minValues' must have at least that many values"


def of_requirements(kind, path):
    """The rules that every list of requirements has. Rows: (rule, kind, valid, invalid, message[, why the reader differs])."""
    overlay = kind == "NodeOverlay"
    rows = [
        ("keys are label keys", req("example.com/a", "Exists"), req("example.com/a/b", "Exists"), "should match"),
        ("keys have at most 316 characters", req("a" * 63, "Exists"), req("a" * 254 + "/" + "b" * 63, "Exists"), "Too long"),
        ("no key of karpenter.sh", req("karpenter.sh/capacity-type", "In", "spot"), req("karpenter.sh/x", "Exists"), RESTRICTED_DOMAIN),
        ("no domain that ends so", req("karpenter.sh.example.com/x", "Exists"), req("my.karpenter.sh/x", "Exists"), RESTRICTED_DOMAIN),
        ("a suffix without a dot counts", req("mykarpenter.sh.a/x", "Exists"), req("mykarpenter.sh/x", "Exists"), RESTRICTED_DOMAIN),
        ("no hostname", req("kubernetes.io/os", "Exists"), req("kubernetes.io/hostname", "In", "a"), HOSTNAME),
        ("the key is required", req("a", "Exists"), {"operator": "Exists"}, "key: Required value"),
        ("the operator is required", req("a", "Exists"), {"key": "a"}, "operator: Required value"),
        ("the operator is one of eight", req("a", "DoesNotExist"), req("a", "Like", "b"), "Unsupported value"),
        ("In needs values", req("a", "In", "b"), req("a", "In"), "must have a value defined" if overlay else IN),
        ("Gt needs one value", req("a", "Gt", "1"), req("a", "Gt", "1", "2"), BOUNDS),
        ("Gt needs a value", req("a", "Gt", "0"), req("a", "Gt"), BOUNDS),
        ("Lt needs a number", req("a", "Lt", "5"), req("a", "Lt", "five"), BOUNDS),
        ("Gte takes nothing below 0", req("a", "Gte", "0"), req("a", "Gte", "-1"), BOUNDS),
        ("Lte takes no fraction", req("a", "Lte", "10"), req("a", "Lte", "1.5"), BOUNDS),
    ]
    if overlay:
        rows.append(("NotIn needs values", req("a", "NotIn", "b"), req("a", "NotIn"), "must have a value defined"))
    else:
        rows += [
            ("minValues is not above the values", req("a", "In", "b", "c", minValues=2), req("a", "In", "b", minValues=2), MIN),
            ("minValues from 1", req("a", "Exists", minValues=1), req("a", "Exists", minValues=0), "greater than or equal to 1"),
            ("minValues to 50", req("a", "Exists", minValues=50), req("a", "Exists", minValues=51), "less than or equal to 50"),
        ]
    if kind == "NodePool":
        rows.append(("no nodepool key", req("kubernetes.io/arch", "Exists"), req("karpenter.sh/nodepool", "In", "a"), NODEPOOL))
    table = [(rule, kind, {path: [good]}, {path: [bad]}, message) for rule, good, bad, message in rows]
    table.append(("at most 100 requirements", kind, {path: [req(f"k{i}", "Exists") for i in range(100)]},
                  {path: [req(f"k{i}", "Exists") for i in range(101)]}, "must have at most 100 items"))
    if not overlay:
        table.append(("requirements are required", kind, {path: []}, {path: GONE}, "requirements: Required value"))
    return table


def of_template(kind, path):
    """What a pool's template and a claim share."""
    rows = []
    for field in ("taints", "startupTaints"):
        at = path + field
        rows += [
            (f"{field}: the key is required", {at: [taint()]}, {at: [{"effect": "NoSchedule"}]}, "key: Required value"),
            (f"{field}: the key is not empty", {at: [taint(key="a.b/c")]}, {at: [taint(key="")]}, "key"),
            (f"{field}: the key is a name", {at: [taint(key="a_b")]}, {at: [taint(key="a b")]}, "should match"),
            (f"{field}: the effect is required", {at: [taint(effect="NoExecute")]}, {at: [{"key": "a"}]}, "effect: Required value"),
            (f"{field}: the effect is one of three", {at: [taint(effect="PreferNoSchedule")]}, {at: [taint(effect="Never")]}, "Unsupported value"),
            (f"{field}: the value is not empty", {at: [taint(value="b")]}, {at: [taint(value="")]}, "value"),
            (f"{field}: the value is a label's", {at: [taint(value="b-c")]}, {at: [taint(value="b c")]}, "should match"),
            (f"{field}: timeAdded is a time", {at: [taint(timeAdded="2026-01-02T03:04:05Z")]}, {at: [taint(timeAdded="soon")]}, "timeAdded"),
        ]
    ref = path + "nodeClassRef"
    rows += [
        ("nodeClassRef is required", {ref: CLASS}, {ref: GONE}, "nodeClassRef: Required value"),
        ("nodeClassRef.group is required", {ref: CLASS}, {ref: {"kind": "A", "name": "b"}}, "group: Required value"),
        ("nodeClassRef.group is not empty", {ref: CLASS}, {ref: {**CLASS, "group": ""}}, "group may not be empty"),
        ("nodeClassRef.group has no version", {ref: CLASS}, {ref: {**CLASS, "group": "a.b/v1"}}, "should match"),
        ("nodeClassRef.kind is not empty", {ref: CLASS}, {ref: {**CLASS, "kind": ""}}, "kind may not be empty"),
        ("nodeClassRef.name is not empty", {ref: CLASS}, {ref: {**CLASS, "name": ""}}, "name may not be empty"),
        ("expireAfter is a duration", {path + "expireAfter": "48h30m"}, {path + "expireAfter": "soon"}, "should match"),
        ("expireAfter may be Never, and no other word", {path + "expireAfter": "Never"}, {path + "expireAfter": "never"}, "should match"),
        ("expireAfter has no days", {path + "expireAfter": "1h1m1s"}, {path + "expireAfter": "30d"}, "should match"),
        ("terminationGracePeriod is a duration", {path + "terminationGracePeriod": "0s"}, {path + "terminationGracePeriod": "Never"}, "should match"),
    ]
    return [(rule, kind, good, bad, message) for rule, good, bad, message in rows]


def budget(**fields):
    return {"spec.disruption.budgets": [{"nodes": "10%", **fields}]}


LABELS = "spec.template.metadata.labels"
POOL = [
    ("labels: at most 100", {LABELS: {f"k{i}": "" for i in range(100)}}, {LABELS: {f"k{i}": "" for i in range(101)}}, "must have at most 100"),
    ("labels: the value is a label's", {LABELS: {"a": "b_c"}}, {LABELS: {"a": "b c"}}, "should match"),
    ("labels: the value has at most 63", {LABELS: {"a": "b" * 63}}, {LABELS: {"a": "b" * 64}}, "Too long"),
    ("labels: no key of karpenter.sh", {LABELS: {"karpenter.sh/capacity-type": "spot"}}, {LABELS: {"karpenter.sh/a": "b"}}, RESTRICTED_DOMAIN),
    ("labels: no nodepool", {LABELS: {"nodepool": "a"}}, {LABELS: {"karpenter.sh/nodepool": "a"}}, NODEPOOL),
    ("labels: no hostname", {LABELS: {"hostname": "a"}}, {LABELS: {"kubernetes.io/hostname": "a"}}, HOSTNAME),
    ("template is required", {}, {"spec.template": GONE}, "template: Required value"),
    ("consolidateAfter is a duration", {"spec.disruption": {"consolidateAfter": "5m"}}, {"spec.disruption": {"consolidateAfter": "5 m"}}, "should match"),
    ("consolidationPolicy is one of three", {"spec.disruption": {"consolidationPolicy": "Balanced"}}, {"spec.disruption": {"consolidationPolicy": "Never"}}, "Unsupported value"),
    ("budgets: at most 50", {"spec.disruption.budgets": [{"nodes": "1"}] * 50}, {"spec.disruption.budgets": [{"nodes": "1"}] * 51}, "must have at most 50 items"),
    ("budgets: nodes is a number", budget(nodes="0"), budget(nodes="-1"), "should match"),
    ("budgets: nodes is at most 100%", budget(nodes="100%"), budget(nodes="101%"), "should match"),
    ("budgets: a schedule needs a duration", budget(schedule="@daily", duration="1h"), budget(schedule="@daily"), "'schedule' must be set with 'duration'"),
    ("budgets: a duration needs a schedule", budget(schedule="0 9 * * 1-5", duration="8h"), budget(duration="8h"), "'schedule' must be set with 'duration'"),
    ("budgets: a schedule has five fields", budget(schedule="* * * * *", duration="1h"), budget(schedule="* * * *", duration="1h"), "should match"),
    ("budgets: no other name of a schedule", budget(schedule="@hourly", duration="1h"), budget(schedule="@often", duration="1h"), "should match"),
    ("budgets: the duration has hours and minutes", budget(schedule="@daily", duration="1h30m"), budget(schedule="@daily", duration="30s"), "should match"),
    ("budgets: reasons are three", budget(reasons=["Drifted", "Empty"]), budget(reasons=["Expired"]), "Unsupported value"),
    ("budgets: reasons are a set", budget(reasons=["Empty"]), budget(reasons=["Empty", "Empty"]), "Duplicate value"),
    ("limits are quantities", {"spec.limits": {"cpu": "100", "memory": "1Gi", "nodes": 3}}, {"spec.limits": {"cpu": "lots"}}, "should match"),
    ("weight from 1", {"spec.weight": 1}, {"spec.weight": 0}, "greater than or equal to 1"),
    ("weight to 100", {"spec.weight": 100}, {"spec.weight": 101}, "less than or equal to 100"),
    ("replicas from 0", {"spec.replicas": 0}, {"spec.replicas": -1}, "greater than or equal to 0"),
    ("a static pool limits nodes only", {"spec.replicas": 1, "spec.limits": {"nodes": "5"}}, {"spec.replicas": 1, "spec.limits": {"cpu": "5"}}, "only 'limits.nodes' is supported on static NodePools"),
    ("a static pool has no weight", {"spec.replicas": 1}, {"spec.replicas": 1, "spec.weight": 5}, "'weight' is not supported on static NodePools"),
]
CLAIM = [
    ("requests are quantities", {"spec.resources": {"requests": {"cpu": "100m"}}}, {"spec.resources": {"requests": {"cpu": "x"}}}, "should match"),
    ("spec is required", {}, {"spec": GONE}, "spec: Required value"),
]
OVERLAY = [
    ("requirements are required", {"spec.requirements": []}, {"spec.requirements": GONE}, "requirements: Required value"),
    ("price is a number", {"spec.price": "0.25"}, {"spec.price": "-0.25"}, "should match"),
    ("price has digits on both sides", {"spec.price": "10"}, {"spec.price": "1."}, "should match"),
    ("priceAdjustment has a sign", {"spec.priceAdjustment": "+0.5"}, {"spec.priceAdjustment": "0.5"}, "should match"),
    ("priceAdjustment may be a percentage", {"spec.priceAdjustment": "-15%"}, {"spec.priceAdjustment": "15%"}, "should match"),
    ("priceAdjustment is not below -100%", {"spec.priceAdjustment": "-100%"}, {"spec.priceAdjustment": "-101%"}, "should match"),
    ("not both prices", {"spec.priceAdjustment": "-1"}, {"spec.priceAdjustment": "-1", "spec.price": "1"}, "cannot set both 'price' and 'priceAdjustment'"),
    ("capacity: no cpu", {"spec.capacity": {"example.com/gpu": "2"}}, {"spec.capacity": {"cpu": "2"}}, "may not set cpu"),
    ("capacity: no pods", {"spec.capacity": {"hugepages-2Mi": "2Mi"}}, {"spec.capacity": {"pods": "2"}}, "may not set cpu"),
    ("weight from 1", {"spec.weight": 1}, {"spec.weight": 0}, "greater than or equal to 1"),
    ("weight to 10000", {"spec.weight": 10000}, {"spec.weight": 10001}, "less than or equal to 10000"),
]
SCALABLE = {"apiGroup": "apps", "kind": "Deployment", "name": "a"}
BUFFER = [
    ("one kind of reference", {"spec": {"scalableRef": SCALABLE, "percentage": 10}}, {"spec": {"scalableRef": SCALABLE, "podTemplateRef": {"name": "a"}, "replicas": 1}}, "mutually exclusive"),
    ("a template needs replicas or limits", {"spec": {"podTemplateRef": {"name": "a"}, "limits": {"cpu": "1"}}}, {"spec": {"podTemplateRef": {"name": "a"}}}, "needs replicas or limits"),
    ("replicas from 0", {"spec.replicas": 0}, {"spec.replicas": -1}, "greater than or equal to 0"),
    ("percentage from 0", {"spec.percentage": 0}, {"spec.percentage": -1}, "greater than or equal to 0"),
]
KWOK = [("the delay is a duration", {"spec.nodeRegistrationDelay": "1.5s"}, {"spec.nodeRegistrationDelay": "soon"}, "should match")]

# Where the reader and the API server differ, and why: (kind, rule, which object).
READER_DIFFERS = {
    ("KWOKNodeClass", "the delay is a duration", "invalid"): "the dry run makes no node of a class, so it does not read classes of KWOK",
}
# What the API server takes and the reader refuses: rules that Karpenter checks while it runs (ValidationSucceeded).
RUNTIME = [
    ("a taint is there once", "NodePool", {T + "taints": [taint(value="b"), taint(value="c")]}, "the same key and effect are there twice"),
    ("a taint is in one of both lists", "NodePool", {T + "taints": [taint()], T + "startupTaints": [taint()]}, "the same key and effect are there twice"),
]


def table():
    rows = of_requirements("NodePool", T + "requirements") + of_requirements("NodeClaim", "spec.requirements")
    rows += of_requirements("NodeOverlay", "spec.requirements")
    rows += of_template("NodePool", T) + of_template("NodeClaim", "spec.")
    for kind, some in (("NodePool", POOL), ("NodeClaim", CLAIM), ("NodeOverlay", OVERLAY), ("CapacityBuffer", BUFFER), ("KWOKNodeClass", KWOK)):
        rows += [(row[0], kind, *row[1:]) for row in some]
    return rows


def reader_takes(document):
    pool = changed(BASE["NodePool"], {"metadata.name": "other"})  # without one there is nothing to solve
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        for name, content in (("case", document), ("pool", pool)):
            Path(folder, name + ".json").write_text(json.dumps(content))
        run = subprocess.run([KARST, "solve", "-f", folder], capture_output=True, text=True, timeout=kCommandSeconds)
    return run.returncode != 2, run.stdout + run.stderr


def judge(rule, kind, document, message):
    """`message` None: to be taken. What is wrong, or nothing."""
    code, output = kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(document))
    if message is None and code != 0:
        return "the API server refuses it: " + output
    if message is not None and code == 0:
        return "the API server takes it"
    if message is not None and message not in output:
        return f"the API server says something else than \"{message}\": {output}"
    taken, said = reader_takes(document)
    wanted = message is None
    reason = READER_DIFFERS.get((kind, rule, "valid" if wanted else "invalid"))
    if taken == wanted and reason is not None:
        return "the reader agrees with the API server: take the row out of READER_DIFFERS"
    if taken != wanted and reason is None:
        return "the reader of manifests takes it" if taken else "the reader of manifests refuses it: " + said
    return ""


def judge_row(row):
    rule, kind, good, bad, message = row
    base = changed(BASE[kind], {"metadata.name": "crd-rule"})  # not there, so that no rule about changes says no
    why = judge(rule, kind, changed(base, good), None)
    return f"{kind}: {rule}", "the valid one: " + why if why else judge(rule, kind, changed(base, bad), message)


def rules():
    with concurrent.futures.ThreadPoolExecutor(kAtOnce) as pool:
        for what, why in pool.map(judge_row, table()):
            tell(what, why)


def runtime_rules():
    for rule, kind, change, message in RUNTIME:
        document = changed(BASE[kind], {"metadata.name": "crd-rule", **change})
        code, output = kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(document))
        taken, said = reader_takes(document)
        tell(f"{kind}: {rule} (the reader's and the controller's rule)",
             output if code != 0 else "" if not taken and message in said else "the reader says: " + said)


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
        ("capacitybuffers", "NAME STRATEGY PODTEMPLATE REPLICAS CONDITIONSTYPE CONDITIONSSTATUS CONDITIONSREASON AGE", ""),
    ]
    applied(BASE["NodeOverlay"])
    for plural, narrow, wide in rows:
        for flag, wanted in ((), narrow), (("-o", "wide"), f"{narrow} {wide}".strip()):
            code, output = kubectl("get", plural, *flag)
            found = " ".join((output.splitlines() or [""])[0].split())
            tell(f"{plural}: columns{' -o wide' if flag else ''}", "" if code == 0 and found == wanted else output)


def names():
    for word, kinds in (("karpenter", ("nodepool.", "nodeclaim.", "nodeoverlay.")), ("overlays", ("crd-test",)), ("cb", ("crd-test",)), ("autoscaling", ("crd-test",))):
        code, output = kubectl("get", word)
        tell(f"kubectl get {word}", "" if code == 0 and all(kind in output for kind in kinds) else output)
    code, output = kubectl("scale", "nodepool", "crd-static", "--replicas=3")
    found = kubectl("get", "nodepool", "crd-static", "-o", "jsonpath={.spec.replicas}")[1]
    tell("NodePool: kubectl scale sets the replicas", "" if code == 0 and found == "3" else output + found)


rules()
runtime_rules()
defaults()
immutability()
columns()
names()
sys.exit(1 if failed else 0)
