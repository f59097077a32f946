#!/usr/bin/env python3
"""The embedded table of EC2 instance types, from a file of hardware facts.

aws_catalogue.py TYPES.json.gz > src/providers/aws/data/instance_types.inc
TYPES holds {"meta": {"regions": […]}, "types": {NAME: facts}}: what DescribeInstanceTypes says, the regions where a type is sold as
indices, us-east-1's zones and on-demand price. A line of regions, then one line a type; the columns are explained in
src/providers/aws/table.h. Types that no Linux or Windows node can run on are left out.
"""
import gzip
import json
import sys

ARCHITECTURES = {"x86_64": "x", "arm64": "a"}
MAKERS = {"Intel": "i", "AMD": "d", "AWS": "w"}


def label(text):
    return text.lower().replace(" ", "-")


def accelerators(facts):
    parts = [f"g:{label(gpu['name'])}:{label(gpu['manufacturer'])}:{gpu['count']}:{gpu['memMiB']}" for gpu in facts.get("gpus", [])]
    parts += [f"n:{label(one['name'])}:aws:{one['count']}:{one['coresPerDevice']}" for one in facts.get("neuron", [])]
    if "neuron" not in facts:
        parts += [f"i:{label(one['name'])}:{label(one['manufacturer'])}:{one['count']}:0" for one in facts.get("inference", [])]
    return ",".join(parts) or "-"


def row(name, facts):
    architecture = [ARCHITECTURES[one] for one in facts["archs"] if one in ARCHITECTURES]
    net, ebs, storage = facts["net"], facts["ebs"], facts.get("localStorage")
    card = next(card for card in net["cards"] if card[0] == net["defaultCard"])
    flags = "".join(letter for letter, on in (("t", facts["encInTransit"]), ("e", facts["enclaves"]), ("s", "spot" in facts["usage"]),
                                              ("o", "on-demand" in facts["usage"])) if on)
    price = facts.get("odUsdPerHour")
    return " ".join(str(cell) for cell in (
        name, facts["vcpus"], facts["memMiB"], architecture[0], MAKERS[facts["cpuManufacturer"]], facts.get("clockMHz", "-"),
        {"nitro": "n", "xen": "x", "": "-"}[facts["hypervisor"]], flags or "-", card[1], net["ipv4PerENI"],
        net.get("branchENI", 0) if net.get("trunking") else 0, net.get("efa", 0),
        ebs["maxMbps"] if ebs["optimized"] == "default" else "-", net.get("karpenterMbps", "-"),
        "-" if storage is None else f"{storage['totalGB']}{'' if storage['nvme'] == 'required' else 'u'}",
        ebs.get("maxAttachments", "-"), "-" if price is None else round(price * 1_000_000), facts.get("usEast1Zones", "-"), accelerators(facts),
        f"{sum(1 << index for index in facts['regions']):x}"))


def main():
    with gzip.open(sys.argv[1]) as file:
        content = json.load(file)
    types = content["types"]
    usable = {name: facts for name, facts in types.items() if "hvm" in facts["virt"] and set(facts["archs"]) & set(ARCHITECTURES)}
    print('R"table(regions ' + " ".join(content["meta"]["regions"]))
    print("\n".join(row(name, facts) for name, facts in sorted(usable.items())) + '\n)table"')


if __name__ == "__main__":
    main()
