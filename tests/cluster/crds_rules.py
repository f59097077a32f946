"""The rules of deploy/crds as rows for crds.py: (rule, kind, changes that keep it, changes that break it, what the API server then says)."""
import copy

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
    "EC2NodeClass": {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "crd-test"},
                     "spec": {"amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "node",
                              "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}]}},
}
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

SUBNETS, GROUPS, IMAGES = "spec.subnetSelectorTerms", "spec.securityGroupSelectorTerms", "spec.amiSelectorTerms"
RESERVATIONS, INTERFACES, ALONE = "spec.capacityReservationSelectorTerms", "spec.networkInterfaces", "is mutually exclusive"
ALIAS = [{"alias": "al2023@latest"}]


def disk(**ebs):
    return {"spec.blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": ebs}]}


def nic(card, device, kind="interface"):
    return {"networkCardIndex": card, "deviceIndex": device, "interfaceType": kind}


EC2 = [
    ("subnets are required", {}, {SUBNETS: GONE}, "Required value"),
    ("subnets: at least one", {SUBNETS: [{"id": "subnet-1"}]}, {SUBNETS: []}, "should have at least 1 item"),
    ("subnets: at most 30", {SUBNETS: [{"id": "subnet-1"}] * 30}, {SUBNETS: [{"id": "subnet-1"}] * 31}, "must have at most 30 items"),
    ("subnets: something to select by", {SUBNETS: [{"tags": {"a": "*"}}]}, {SUBNETS: [{}]}, "expected at least one"),
    ("subnets: id alone, if all break it", {SUBNETS: [{"id": "subnet-1", "tags": {"a": "b"}}, {"id": "subnet-2"}]},
     {SUBNETS: [{"id": "subnet-1", "tags": {"a": "b"}}]}, ALONE),
    ("subnets: an id", {SUBNETS: [{"id": "subnet-0abc"}]}, {SUBNETS: [{"id": "vpc-1"}]}, "should match"),
    ("subnets: no empty value of a tag", {SUBNETS: [{"tags": {"a": "b"}}]}, {SUBNETS: [{"tags": {"a": ""}}]}, "empty tag keys or values"),
    ("subnets: at most 20 tags", {SUBNETS: [{"tags": {f"k{i}": "a" for i in range(20)}}]}, {SUBNETS: [{"tags": {f"k{i}": "a" for i in range(21)}}]}, "must have at most 20"),
    ("groups are required", {}, {GROUPS: GONE}, "Required value"),
    ("groups: id alone", {GROUPS: [{"id": "sg-1"}]}, {GROUPS: [{"id": "sg-1", "name": "a"}]}, ALONE),
    ("groups: name alone", {GROUPS: [{"name": "a"}]}, {GROUPS: [{"name": "a", "tags": {"b": "c"}}]}, ALONE),
    ("groups: an id", {GROUPS: [{"id": "sg-0a"}]}, {GROUPS: [{"id": "subnet"}]}, "should match"),
    ("reservations: the owner is not enough", {RESERVATIONS: [{"tags": {"a": "b"}, "ownerID": "123456789012"}]}, {RESERVATIONS: [{"ownerID": "123456789012"}]}, "expected at least one"),
    ("reservations: the owner has 12 digits", {RESERVATIONS: [{"instanceMatchCriteria": "open", "ownerID": "123456789012"}]}, {RESERVATIONS: [{"instanceMatchCriteria": "open", "ownerID": "1"}]}, "should match"),
    ("reservations: id alone", {RESERVATIONS: [{"id": "cr-1"}]}, {RESERVATIONS: [{"id": "cr-1", "instanceMatchCriteria": "open"}]}, ALONE),
    ("reservations: the criteria are two", {RESERVATIONS: [{"instanceMatchCriteria": "targeted"}]}, {RESERVATIONS: [{"instanceMatchCriteria": "any"}]}, "Unsupported value"),
    ("placement group: one of name and id", {"spec.placementGroupSelector": {"name": "a"}}, {"spec.placementGroupSelector": {"name": "a", "id": "pg-1"}}, "must specify exactly one of"),
    ("placement group: not neither", {"spec.placementGroupSelector": {"id": "pg-1"}}, {"spec.placementGroupSelector": {}}, "must specify exactly one of"),
    ("prefixes from 0", {"spec.ipPrefixCount": 0}, {"spec.ipPrefixCount": -1}, "greater than or equal to 0"),
    ("images are required", {}, {IMAGES: GONE}, "Required value"),
    ("images: id alone, each", {IMAGES: [{"id": "ami-1"}], "spec.amiFamily": "AL2"}, {IMAGES: [{"id": "ami-1", "name": "a"}, {"id": "ami-2"}], "spec.amiFamily": "AL2"}, ALONE),
    ("images: the owner is not enough", {IMAGES: [{"owner": "self", "name": "a"}], "spec.amiFamily": "AL2"}, {IMAGES: [{"owner": "self"}], "spec.amiFamily": "AL2"}, "expected at least one"),
    ("images: an alias is the only term", {IMAGES: ALIAS}, {IMAGES: ALIAS + [{"id": "ami-1"}]}, ALONE),
    ("images: an alias stands alone", {IMAGES: ALIAS}, {IMAGES: [{"alias": "al2023@latest", "name": "a"}]}, ALONE),
    ("images: an alias has a version", {IMAGES: [{"alias": "bottlerocket@v1.20.3"}]}, {IMAGES: [{"alias": "bottlerocket"}]}, "improperly formatted"),
    ("images: an alias has a known family", {IMAGES: [{"alias": "al2@latest"}]}, {IMAGES: [{"alias": "ubuntu@latest"}]}, "family is not supported"),
    ("images: windows is the latest", {IMAGES: [{"alias": "windows2022@latest"}]}, {IMAGES: [{"alias": "windows2022@v1"}]}, "may only specify version 'latest'"),
    ("the family is needed without an alias", {IMAGES: [{"id": "ami-1"}], "spec.amiFamily": "Custom"}, {IMAGES: [{"id": "ami-1"}]}, "must specify amiFamily"),
    ("the family is that of the alias", {"spec.amiFamily": "AL2023"}, {"spec.amiFamily": "AL2"}, "must be that of the alias"),
    ("the family may be Custom", {"spec.amiFamily": "Custom"}, {"spec.amiFamily": "Ubuntu"}, "Unsupported value"),
    ("role or profile", {"spec.role": GONE, "spec.instanceProfile": "a"}, {"spec.instanceProfile": "a"}, "must specify exactly one of"),
    ("not neither role nor profile", {}, {"spec.role": GONE}, "must specify exactly one of"),
    ("the role is not empty", {"spec.role": "a"}, {"spec.role": ""}, "role cannot be empty"),
    ("tags: no empty key", {"spec.tags": {"a": ""}}, {"spec.tags": {"": "a"}}, "empty tag keys"),
    *((f"tags: not {key}", {"spec.tags": {"Name": "a"}}, {"spec.tags": {key: "a"}}, "restricted tag")
      for key in ("eks:eks-cluster-name", "karpenter.sh/nodepool", "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass", "kubernetes.io/cluster/a")),
    ("disks: at most 50", {"spec.blockDeviceMappings": [{"deviceName": "a"}] * 50}, {"spec.blockDeviceMappings": [{"deviceName": "a"}] * 51}, "must have at most 50 items"),
    ("disks: one root", {"spec.blockDeviceMappings": [{"rootVolume": True}, {"rootVolume": False}]}, {"spec.blockDeviceMappings": [{"rootVolume": True}] * 2}, "must have only one"),
    ("disks: a size or a snapshot", disk(snapshotID="snap-1"), disk(volumeType="gp3"), "snapshotID or volumeSize"),
    ("disks: a rate needs a snapshot", disk(snapshotID="snap-1", volumeInitializationRate=100), disk(volumeSize="1Gi", volumeInitializationRate=100), "snapshotID must be set"),
    ("disks: the rate to 300", disk(snapshotID="snap-1", volumeInitializationRate=300), disk(snapshotID="snap-1", volumeInitializationRate=301), "less than or equal to 300"),
    ("disks: the type is one of seven", disk(volumeSize="1Gi", volumeType="io2"), disk(volumeSize="1Gi", volumeType="io3"), "Unsupported value"),
    *((f"disks: {good} and not {bad}", disk(volumeSize=good), disk(volumeSize=bad), "should match")
      for good, bad in (("59000Gi", "59001Gi"), ("64000G", "64001G"), ("58Ti", "59Ti"), ("64T", "65T"), ("1Gi", "0Gi"), ("20Gi", "20"))),
    ("the store's policy is RAID0", {"spec.instanceStorePolicy": "RAID0"}, {"spec.instanceStorePolicy": "RAID1"}, "Unsupported value"),
    ("interfaces: the first is there", {INTERFACES: [nic(0, 0), nic(1, 1, "efa-only")]}, {INTERFACES: [nic(0, 0, "efa-only")]}, "must include an interface"),
    ("interfaces: each once", {INTERFACES: [nic(0, 0), nic(0, 1)]}, {INTERFACES: [nic(0, 0), nic(0, 0)]}, "must be unique"),
    ("interfaces: one efa-only a card", {INTERFACES: [nic(0, 0), nic(1, 0, "efa-only")]}, {INTERFACES: [nic(0, 0), nic(1, 0, "efa-only"), nic(1, 1, "efa-only")]}, "at most one efa-only"),
    ("metadata: the hop limit to 64", {"spec.metadataOptions": {"httpPutResponseHopLimit": 64}}, {"spec.metadataOptions": {"httpPutResponseHopLimit": 65}}, "less than or equal to 64"),
    ("metadata: tokens are two words", {"spec.metadataOptions": {"httpTokens": "optional"}}, {"spec.metadataOptions": {"httpTokens": "never"}}, "Unsupported value"),
    ("tracking: not empty", {"spec.connectionTracking": {"udpTimeout": 30}}, {"spec.connectionTracking": {}}, "must specify at least one of"),
    ("tracking: tcp from 60", {"spec.connectionTracking": {"tcpEstablishedTimeout": 60}}, {"spec.connectionTracking": {"tcpEstablishedTimeout": 59}}, "greater than or equal to 60"),
    ("tracking: udp to 60", {"spec.connectionTracking": {"udpTimeout": 60}}, {"spec.connectionTracking": {"udpTimeout": 61}}, "less than or equal to 60"),
    ("nested virtualization is two words", {"spec.cpuOptions": {"nestedVirtualization": "enabled"}}, {"spec.cpuOptions": {"nestedVirtualization": "on"}}, "Unsupported value"),
]

# Where the reader and the API server differ, and why: (kind, rule, which object).
READER_DIFFERS = {
    ("KWOKNodeClass", "the delay is a duration", "invalid"): "the dry run makes no node of a class, so it does not read classes of KWOK",
}
# Where the reader names another field than the one that was changed.
READER_NAMES = {("EC2NodeClass", "the family is needed without an alias"): "spec.amiFamily"}
# What the API server takes and the reader refuses: rules that Karpenter checks while it runs (ValidationSucceeded).
RUNTIME = [
    ("a taint is there once", "NodePool", {T + "taints": [taint(value="b"), taint(value="c")]}, "the same key and effect are there twice"),
    ("a taint is in one of both lists", "NodePool", {T + "taints": [taint()], T + "startupTaints": [taint()]}, "the same key and effect are there twice"),
]


def table():
    rows = of_requirements("NodePool", T + "requirements") + of_requirements("NodeClaim", "spec.requirements")
    rows += of_requirements("NodeOverlay", "spec.requirements")
    rows += of_template("NodePool", T) + of_template("NodeClaim", "spec.")
    for kind, some in (("NodePool", POOL), ("NodeClaim", CLAIM), ("NodeOverlay", OVERLAY), ("CapacityBuffer", BUFFER), ("KWOKNodeClass", KWOK),
                       ("EC2NodeClass", EC2)):
        rows += [(row[0], kind, *row[1:]) for row in some]
    return rows
