#!/usr/bin/env python3
"""Makes the nodes of a solution in a real cluster and lets the kube-scheduler judge: contract.py KARST KUBECONFIG WORK MANIFEST…

For each manifest: `karst solve -o json`; a Node for each new one, with the labels, taints and allocatable that its type, pool
and offer give; then every placed pod, and those left over. A placed pod also asks for one unit of an extended resource that
only its node of the solution has: the scheduler's filters must accept that node and no other, and neither selectors nor the
counting of spreads change by it. Left over pods may go anywhere, and must go nowhere.
The same again with nodes of the last type that each claim lists. Then the placed pods once more, without
that resource: how many the scheduler binds by its own choice is a figure, not a check (it does not pack as karst does).
Prints "ok …" and "not ok …"; writes the figures to WORK/figures.md. Every wait is for a condition and bounded by kWaitSeconds.
"""
import json
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

kWaitSeconds = 60
kFreeSeconds = 12  # for the scheduler's own choice, which may never become complete
kBeatSeconds = 10  # no kubelet reports; the node lifecycle controller gives up after 50 s
PIN = "contract.karst.test/"


class Api:
    def __init__(self, kubeconfig):
        text = Path(kubeconfig).read_text()
        self.server = re.search(r'server: "([^"]+)"', text).group(1)
        self.token = re.search(r"token: ([\w-]+)", text).group(1)
        ca = re.search(r'certificate-authority: "([^"]+)"', text).group(1)
        self.context = ssl.create_default_context(cafile=ca)

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.server + path, method=method, headers={
            "Authorization": "Bearer " + self.token, "Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.code} {error.read().decode()[:400]}") from None


NODES, PODS = "/api/v1/nodes", "/api/v1/namespaces/default/pods"
DAEMONS = "/apis/apps/v1/namespaces/default/daemonsets"


def amount(text):
    """A quantity in thousandths."""
    number, unit = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", str(text)).groups()
    scale = {"": 1000, "m": 1, "k": 10**6, "M": 10**9, "G": 10**12,
             "Ki": 1000 << 10, "Mi": 1000 << 20, "Gi": 1000 << 30}[unit]
    return round(float(number) * scale)


def machine(name):
    """Labels and allocatable of a type of the KWOK catalogue: FAMILY-CPUSx-ARCH-linux."""
    family, cpus, arch = re.fullmatch(r"([cms])-(\d+)x-(\w+)-linux", name).groups()
    cpus = int(cpus)
    gi = cpus * {"c": 2, "s": 4, "m": 8}[family]
    labels = {"node.kubernetes.io/instance-type": name, "kubernetes.io/arch": arch, "kubernetes.io/os": "linux",
              "karpenter.kwok.sh/instance-cpu": str(cpus), "karpenter.kwok.sh/instance-size": str(cpus),
              "karpenter.kwok.sh/instance-family": family, "karpenter.kwok.sh/instance-memory": f"{gi}Gi"}
    room = {"cpu": f"{cpus * 1000 - 100}m", "memory": f"{gi * 1024 - 10}Mi", "ephemeral-storage": "20Gi",
            "pods": str(min(16 * cpus, 1024))}
    return labels, room


def node_of(claim, pool):
    template = pool["spec"]["template"]
    labels, room = machine(claim["instanceType"])
    for one in claim["requirements"]:
        if one["operator"] == "In" and len(one["values"]) == 1:
            labels[one["key"]] = one["values"][0]
    if claim["zone"]:
        labels["topology.kubernetes.io/zone"] = claim["zone"]
    labels.update(template.get("metadata", {}).get("labels", {}))
    labels.update({"karpenter.sh/nodepool": claim["nodePool"], "karpenter.sh/capacity-type": claim["capacityType"],
                   "kubernetes.io/hostname": claim["node"]})
    return {"metadata": {"name": claim["node"], "labels": labels}, "spec": {"taints": template["spec"].get("taints", [])},
            "status": {"allocatable": room, "capacity": dict(room)}}


class Case:
    def __init__(self, karst, kubeconfig, path):
        self.name = path.stem
        self.what = path.read_text().splitlines()[0].lstrip("# ")
        text = subprocess.run([karst, "solve", "-f", path, "-o", "json"], check=True, capture_output=True, text=True).stdout
        self.answer = json.loads(text)
        self.objects = []
        made = subprocess.run(["kubectl", "--kubeconfig", kubeconfig, "create", "--dry-run=client", "-o", "json", "-f", path],
                              check=True, capture_output=True, text=True).stdout.strip()
        while made:
            one, end = json.JSONDecoder().raw_decode(made)
            self.objects += one["items"] if one["kind"] == "List" else [one]
            made = made[end:].lstrip()
        self.pools = {p["metadata"]["name"]: p for p in self.of("NodePool")}
        self.bodies = {d["metadata"]["name"]: d["spec"]["template"] for d in self.of("Deployment")}
        self.given = {d["metadata"]["name"]: d["spec"]["replicas"] for d in self.of("Deployment")}
        self.deal()

    def of(self, kind):
        return [one for one in self.objects if one["kind"] == kind]

    def deal(self):
        """Names for the pods that the answer counts: (pod, its workload, its node or None)."""
        self.pods, used = [], {}
        places = [(n["node"], n["pods"]) for n in self.answer["existingNodes"] + self.answer["newNodes"]]
        for node, shares in places + [(None, self.answer["leftOver"])]:
            for share in shares:
                for _ in range(share["count"]):
                    number = used[share["name"]] = used.get(share["name"], 0) + 1
                    self.pods.append((f"{share['name']}-{number}", share["name"], node))
        self.complete = used == self.given

    def nodes(self, other_type=False):
        """As solved; with the cheapest type, or with the other end of the claim's list of types that would do too."""
        claims = self.answer["newNodes"]
        if other_type:
            claims = [{**claim, "instanceType": claim["instanceTypes"][-1]} for claim in claims]
        made = [node_of(claim, self.pools[claim["nodePool"]]) for claim in claims]
        return json.loads(json.dumps(self.of("Node") + made))

    def pod(self, name, workload, pin):
        body = json.loads(json.dumps(self.bodies[workload]))
        if pin:
            resources = body["spec"]["containers"][0].setdefault("resources", {})
            for kind in ("requests", "limits"):
                resources.setdefault(kind, {})[PIN + pin] = "1"
        return {"metadata": {"name": name, "labels": body["metadata"]["labels"]}, "spec": body["spec"]}


class Judge:
    def __init__(self, api):
        self.api, self.beat_at, self.nodes = api, 0, []

    def items(self, path):
        return self.api.call("GET", path)["items"]

    def beat(self):
        """Every node says that it is well."""
        if time.monotonic() < self.beat_at:
            return
        self.beat_at = time.monotonic() + kBeatSeconds
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ready = {"type": "Ready", "status": "True", "reason": "Contract", "message": now,
                 "lastHeartbeatTime": now, "lastTransitionTime": now}
        for node in self.nodes:
            room = {k: dict(v) for k, v in node["status"].items() if k in ("allocatable", "capacity")}
            for kind in room.values():
                kind[PIN + node["metadata"]["name"]] = "1000"
            path = f"{NODES}/{node['metadata']['name']}/status"
            body = self.api.call("GET", path)
            body["status"] = {**room, "conditions": [ready]}
            try:
                self.api.call("PUT", path, body)
            except RuntimeError as error:
                if ": 409 " not in str(error):
                    raise
                self.beat_at = 0  # a controller wrote in between: at the next look

    def await_(self, condition, seconds=kWaitSeconds):
        """Looks until the condition says None; its last complaint at the time."""
        end = time.monotonic() + seconds
        while True:
            self.beat()
            complaint = condition()
            if complaint is None or time.monotonic() > end:
                return complaint
            time.sleep(0.1)

    def empty(self):
        for path in (DAEMONS, PODS, NODES):
            self.nodes = self.nodes if path != NODES else []

            def gone(path=path):
                left = self.items(path)
                for one in left:
                    self.remove(f"{path}/{one['metadata']['name']}")
                return f"{len(left)} of {path} are left" if left else None
            complaint = self.await_(gone)
            if complaint:
                raise RuntimeError(complaint)

    def remove(self, path):
        try:
            self.api.call("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
        except RuntimeError as error:
            if ": 404 " not in str(error):
                raise

    def make(self, case, nodes):
        """The nodes, ready and with their own taints only; the pods that run there; the daemons."""
        self.empty()
        for node in nodes:
            self.api.call("POST", NODES, {"metadata": node["metadata"], "spec": node.get("spec", {})})
        self.nodes, self.beat_at = nodes, 0
        own = {n["metadata"]["name"]: {t["key"] for t in n.get("spec", {}).get("taints", [])} for n in nodes}

        def settled():
            for node in self.items(NODES):
                name = node["metadata"]["name"]
                if {t["key"] for t in node["spec"].get("taints", [])} != own[name] or "status" not in node or \
                        PIN + name not in node["status"].get("allocatable", {}):
                    return f"node {name}: {node['spec'].get('taints')}"
            return None
        complaint = self.await_(settled)
        if complaint:
            raise RuntimeError(complaint)
        for pod in case.of("Pod"):
            self.api.call("POST", PODS, pod)
        for daemon in case.of("DaemonSet"):
            self.api.call("POST", DAEMONS, daemon)

    def post(self, case, pods, pinned):
        for name, workload, node in pods:
            self.api.call("POST", PODS, case.pod(name, workload, node if pinned else None))

    def where(self):
        return {p["metadata"]["name"]: p for p in self.items(PODS)}

    def unbound(self, pods, pinned=True):
        """None when each is bound (to its node of the solution, if pinned); else which are not, and what the scheduler says."""
        def look():
            there, bad = self.where(), []
            for name, _, node in pods:
                at = there[name]["spec"].get("nodeName")
                if at is None or (pinned and at != node):
                    bad.append(f"{name} (for {node}, is on {at}: {verdict(there[name])})")
            return f"{len(bad)} of {len(pods)}: " + "; ".join(bad[:4]) if bad else None
        return look

    def daemons(self):
        """None when every daemon pod that the DaemonSet controller wants is bound."""
        for one in self.items(DAEMONS):
            status = one.get("status", {})
            mine = [p for p in self.where().values() if owner(p) == one["metadata"]["name"]]
            bound = sum(1 for p in mine if "nodeName" in p["spec"])
            if status.get("observedGeneration") != one["metadata"]["generation"] or \
                    status.get("desiredNumberScheduled") != len(mine) or bound != len(mine):
                return f"{one['metadata']['name']}: {bound} of {status.get('desiredNumberScheduled')} bound"
        return None

    def refused(self, pods):
        """None when the scheduler has looked at each and found no node."""
        def look():
            there = self.where()
            for name, _, _ in pods:
                if "nodeName" in there[name]["spec"]:
                    return f"{name} is bound to {there[name]['spec']['nodeName']}"
                if not verdict(there[name]):
                    return f"{name}: the scheduler has not said a word"
            return None
        return look


def owner(pod):
    return (pod["metadata"].get("ownerReferences") or [{}])[0].get("name")


def verdict(pod):
    for one in pod.get("status", {}).get("conditions", []):
        if one["type"] == "PodScheduled" and one["status"] == "False" and one.get("reason") == "Unschedulable":
            return one["message"]
    return ""


class Report:
    failed = 0

    def line(self, what, complaint=None):
        self.failed += complaint is not None
        print(f"ok {what}" if complaint is None else f"not ok {what}: {complaint[:900]}", flush=True)
        return complaint is None


def daemon_sums(judge, case):
    """None when the daemons' cpu on each new node is what the answer reckoned with."""
    sums = {}
    for pod in judge.where().values():
        if owner(pod):
            asked = pod["spec"]["containers"][0]["resources"].get("requests", {}).get("cpu", "0")
            node = pod["spec"].get("nodeName")
            sums[node] = sums.get(node, 0) + amount(asked)
    for claim in case.answer["newNodes"]:
        want, got = amount(claim["daemons"].get("cpu", "0")), sums.get(claim["node"], 0)
        if want != got:
            return f"{claim['node']}: {want}m in the answer, {got}m there"
    return None


def run(judge, case, report):
    placed = [pod for pod in case.pods if pod[2]]
    left = [pod for pod in case.pods if not pod[2]]
    title = f"{case.name}:"
    report.line(f"{title} the answer speaks of every pod", None if case.complete else "counts differ from the replicas")
    nameless = [c["node"] for c in case.answer["newNodes"] if not (c["zone"] and c["instanceType"] and c["capacityType"])]
    report.line(f"{title} each new node has a type, a zone and a capacity type", f"not so: {nameless}" if nameless else None)
    for node in case.nodes():
        if "topology.kubernetes.io/zone" not in node["metadata"]["labels"]:
            report.line(f"{title} node {node['metadata']['name']} can be made", "its zone is not known")
            return None
    began = time.monotonic()
    judge.make(case, case.nodes())
    judge.post(case, placed, True)
    good = report.line(f"{title} {len(placed)} placed pods are bound to their {len(case.answer['newNodes'])} new and "
                       f"{len(case.of('Node'))} existing nodes", judge.await_(judge.unbound(placed)))
    seconds = time.monotonic() - began
    if case.of("DaemonSet"):
        report.line(f"{title} every daemon is bound", judge.await_(judge.daemons))
        report.line(f"{title} daemons take what the answer reckoned with", daemon_sums(judge, case))
    if left and good:
        judge.post(case, left, True)
        report.line(f"{title} {len(left)} left over pods are bound nowhere", judge.await_(judge.refused(left)))
    judge.make(case, case.nodes(other_type=True))
    judge.post(case, placed, True)
    report.line(f"{title} they are bound too when each new node is of the last type that its claim lists",
                judge.await_(judge.unbound(placed)))
    if case.of("DaemonSet"):
        report.line(f"{title} and every daemon", judge.await_(judge.daemons))
    judge.make(case, case.nodes())
    if case.of("DaemonSet"):
        judge.await_(judge.daemons)
    judge.post(case, placed, False)
    judge.await_(judge.unbound(placed, False), kFreeSeconds)
    there = judge.where()
    free = sum(1 for name, _, _ in placed if "nodeName" in there[name]["spec"])
    return (f"| {case.name} | {len(case.answer['newNodes'])} + {len(case.of('Node'))} | {len(placed)} | "
            f"{'all' if good else 'not all'} | {len(left)} | {free} | {seconds:.1f} |")


def tight(judge, case, report):
    """Nodes with exactly what the answer asks for suffice; one millicore less does not."""
    placed = [pod for pod in case.pods if pod[2]]
    nodes = case.nodes()
    for node, claim in zip(nodes, case.answer["newNodes"]):
        node["status"]["allocatable"].update({k: v for k, v in claim["requests"].items()})
    judge.make(case, nodes)
    judge.post(case, placed, True)
    report.line(f"control: nodes with exactly what the pods of {case.name} ask for hold them all", judge.await_(judge.unbound(placed)))
    seen = judge.refused(placed)()
    report.line("control: a bound pod does not pass as left over", None if seen and "is bound to" in seen else str(seen))
    first = nodes[0]["status"]["allocatable"]
    first["cpu"] = f"{amount(first['cpu']) - 1}m"
    judge.make(case, nodes)
    judge.post(case, placed, True)
    name = nodes[0]["metadata"]["name"]

    def fails():
        there = judge.where()
        out = [there[p] for p, _, _ in placed if "nodeName" not in there[p]["spec"]]
        if len(out) == 1 and "Insufficient cpu" in verdict(out[0]):
            return None
        return f"{len(out)} pods are not bound: {[verdict(p) for p in out[:2]]}"
    complaint = judge.await_(fails)
    if complaint is None and judge.unbound(placed)() is None:
        complaint = "the check for bound pods does not see it"
    report.line(f"control: with one millicore less on {name} a pod is not bound, and the check says so", complaint)


def main(karst, kubeconfig, work, *manifests):
    judge, report, rows, control = Judge(Api(kubeconfig)), Report(), [], None
    for path in map(Path, manifests):
        case = Case(karst, kubeconfig, path)
        print(f"# {case.name}: {case.what}", flush=True)
        try:
            rows.append(run(judge, case, report))
        except RuntimeError as error:
            report.line(f"{case.name}: was played to its end", str(error))
        control = case if case.name == "resources" else control
    if control:
        tight(judge, control, report)
    judge.empty()
    Path(work, "figures.md").write_text("\n".join([
        "| problem | nodes (new + there) | pods placed | bound as solved | left over | bound when the scheduler chooses | seconds |",
        "|---|---|---|---|---|---|---|", *[row for row in rows if row], "",
        "As solved: the scheduler's filters accept the node that karst chose, for every pod. When the scheduler chooses: pods it has",
        f"bound {kFreeSeconds} s after all came at once; it spreads over the nodes and does not pack, so that some may find no room."]) + "\n")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
