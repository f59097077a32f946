#!/usr/bin/env python3
"""moto's server with the behaviours that an autoscaler needs and moto 5.2.5 lacks, and with faults (faults.py).

usage: server.py PORT SEED.json

SEED keys, all optional:
  ssm                   name -> value, also below /aws/service (PutParameter refuses that prefix)
  amis                  list in the shape of moto's own ec2/resources/amis.json; replaces its default images
  capacityReservations  list returned as is by DescribeCapacityReservations
  placementGroups       list returned as is by DescribePlacementGroups
  prices                type -> on-demand USD per hour, in the price list (price_list.py); DescribeSpotPriceHistory then answers 0.30..0.45 of it per zone
The hooks below are inside moto and move between its releases: its version is pinned in ../requirements.txt.
"""
import datetime
import hashlib
import json
import os
import sys
import tempfile
import threading
import time
import uuid
import zlib

port, seed = int(sys.argv[1]), json.load(open(sys.argv[2]))
if seed.get("amis"):
    path = os.path.join(tempfile.gettempdir(), f"karst_moto_amis.{os.getpid()}.json")
    json.dump(seed["amis"], open(path, "w"))
    os.environ["MOTO_AMIS_PATH"] = path  # must be set before moto is imported
os.environ["MOTO_PORT"] = str(port)

import moto.ec2.responses.fleets as fleets
import moto.iam.access_control as access_control
import moto.ssm.models as ssm
from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import ec2_backends
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ec2.models.instances import Instance
from moto.ec2.responses import EC2Response
from moto.ec2.responses.spot_instances import SpotInstances
from moto.server import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

import faults
import price_list

# SSM: public parameters.
load_defaults = ssm.ParameterDict._check_loading_status


def load_seeded(self, key):
    load_defaults(self, key)
    if getattr(self, "_seeded", False):
        return
    self._seeded = True
    for name, value in seed.get("ssm", {}).items():
        dict.__setitem__(self, name, [ssm.Parameter(
            account_id=self.account_id, name=name, value=value, parameter_type="String", description=None,
            allowed_pattern=None, keyid=None, last_modified_date=time.time(), version=1, data_type="text")])


ssm.ParameterDict._check_loading_status = load_seeded

# EC2 CreateFleet: ClientToken, capacity errors, priority order, security groups of the launch template.
tokens = {}
one_order = threading.Lock()
FIELDS = ("LaunchTemplateConfigs", "TargetCapacitySpecification", "TagSpecifications", "Type", "SpotOptions", "OnDemandOptions")


def create_fleet(self):
    with one_order:  # of two that are under way with one token EC2 carries out one
        return order_fleet(self)


def order_fleet(self):
    params = {k: self._get_param(k) for k in FIELDS}
    digest = hashlib.sha256(json.dumps(params, sort_keys=True, default=str).encode()).hexdigest()
    self.error_on_dryrun()
    token = self._get_param("ClientToken")
    faults.here.entry.update(made=[], exhausted=[])
    if token in tokens:
        if tokens[token][0] != digest:
            raise EC2ClientError("IdempotentParameterMismatch", "Same client token, different request.")
        return ActionResult(tokens[token][1])
    kind = (params["TargetCapacitySpecification"] or {}).get("DefaultTargetCapacityType")
    codes = {(f["type"], f["zone"], f["ct"]): f["code"] for f in faults.capacity}
    errors, kept = [], []
    for config in params["LaunchTemplateConfigs"]:
        good = []
        for o in config.get("Overrides", []):
            code = codes.get((o.get("InstanceType"), o.get("AvailabilityZone"), kind))
            if code:
                faults.here.entry["exhausted"].append((o.get("InstanceType"), o.get("AvailabilityZone")))
                errors.append({"ErrorCode": code, "ErrorMessage": "injected", "Lifecycle": kind, "LaunchTemplateAndOverrides": {
                    "LaunchTemplateSpecification": config["LaunchTemplateSpecification"], "Overrides": o}})
            else:
                good.append(o)
        if good:
            kept.append(dict(config, Overrides=sorted(good, key=lambda o: float(o.get("Priority") or 0))))
    answer = {"FleetId": f"fleet-{uuid.uuid4()}", "Errors": errors, "Instances": []}
    fewer = int(faults.here.do.get("fewer", 0))
    if fewer and kept:  # a part of the fleet finds no room
        target = params["TargetCapacitySpecification"]
        target["TotalTargetCapacity"] = max(int(target["TotalTargetCapacity"]) - fewer, 0)
        errors.append({"ErrorCode": "InsufficientInstanceCapacity", "ErrorMessage": "injected", "Lifecycle": kind, "LaunchTemplateAndOverrides": {
            "LaunchTemplateSpecification": kept[0]["LaunchTemplateSpecification"], "Overrides": kept[0]["Overrides"][0]}})
        kept = kept if target["TotalTargetCapacity"] else []
    if kept:
        ec2 = self.ec2_backend
        fleet = ec2.create_fleet(
            on_demand_options=params["OnDemandOptions"] or {}, spot_options=params["SpotOptions"] or {},
            target_capacity_specification=params["TargetCapacitySpecification"], launch_template_configs=kept,
            excess_capacity_termination_policy="termination", replace_unhealthy_instances=False,
            terminate_instances_with_expiration=True, fleet_type="instant", valid_from=None, valid_until=None,
            tag_specifications=params["TagSpecifications"] or [])
        answer = {"FleetId": fleet.id, "Errors": errors, "Instances": fleet.instances}
        for group in fleet.instances:
            lt_id = group["LaunchTemplateAndOverrides"]["LaunchTemplateSpecification"]["LaunchTemplateId"]
            data = ec2.get_launch_template(lt_id).latest_version().data
            ids = [g for n in data.get("NetworkInterfaces", []) for g in n.get("Groups", [])] or data.get("SecurityGroupIds", [])
            for instance_id in group["InstanceIds"]:
                ec2.get_instance(instance_id).security_groups = [ec2.get_security_group_from_id(g) for g in ids]
    faults.here.entry["made"] = [one for group in answer["Instances"] for one in group["InstanceIds"]]
    faults.here.entry["alive"] = sum(row["state"] in ("pending", "running") for row in every_instance())
    if token:
        tokens[token] = (digest, answer)
    return ActionResult(answer)


fleets.Fleets.create_fleet = create_fleet
Instance.spot_instance_request_id = property(lambda self: "sir-" + self.id[2:10] if self.lifecycle == "spot" else None)

# EC2: actions that moto does not know.
EC2Response.describe_capacity_reservations = lambda self: ActionResult({"CapacityReservations": seed.get("capacityReservations", [])})
EC2Response.describe_placement_groups = lambda self: ActionResult({"PlacementGroups": seed.get("placementGroups", [])})


# EC2: spot prices that differ by type and zone.
def spot_price_history(self):
    rows = self.ec2_backend.describe_spot_price_history(self._get_param("InstanceTypes", []), self._filters_from_querystring())
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    out = []
    for r in rows:
        price = seed["prices"].get(r["InstanceType"])
        if price:
            share = 0.30 + zlib.crc32(f"{r['InstanceType']}/{r['Location']}".encode()) % 1000 / 1000 * 0.15
            out.append({"InstanceType": r["InstanceType"], "ProductDescription": "Linux/UNIX", "Timestamp": now,
                        "SpotPrice": f"{price * share:.6f}", "AvailabilityZone": r["Location"]})
    return ActionResult({"SpotPriceHistory": out})


if seed.get("prices"):
    SpotInstances.describe_spot_price_history = spot_price_history
    EC2Response.describe_spot_price_history = spot_price_history


# EC2: pages, as MaxResults and NextToken ask; moto answers everything at once.
def paged(name, items, size_default):
    whole = getattr(EC2Response, name)

    def page(self):
        rows = whole(self).result[items]
        first, size = int(self._get_param("NextToken") or 0), int(self._get_param("MaxResults") or size_default)
        more = {"NextToken": str(first + size)} if first + size < len(rows) else {}
        return ActionResult({items: rows[first:first + size], **more})

    setattr(EC2Response, name, page)


paged("describe_instance_types", "InstanceTypes", 100)
paged("describe_instance_type_offerings", "InstanceTypeOfferings", 1000)
paged("describe_spot_price_history", "SpotPriceHistory", 1000)


# IAM: the signature is over the bytes that came; moto signs the form as it would write it itself.
create_aws_request = access_control.IAMRequestBase._create_aws_request


def create_from_bytes(self):
    self._body, self._data = faults.here.body, None
    return create_aws_request(self)


access_control.IAMRequestBase._create_aws_request = create_from_bytes


def every_instance():
    backend = ec2_backends["123456789012"][os.environ.get("AWS_REGION", "us-east-1")]
    rows = []
    for reservation in backend.all_reservations():
        for one in reservation.instances:
            kind = INSTANCE_TYPES[one.instance_type]
            rows.append({"id": one.id, "type": one.instance_type, "zone": one.placement.zone, "state": one._state.name,
                         "capacityType": "spot" if one.lifecycle == "spot" else "on-demand", "arch": kind["ProcessorInfo"]["SupportedArchitectures"][0],
                         "cpus": kind["VCpuInfo"]["DefaultVCpus"], "mebibytes": kind["MemoryInfo"]["SizeInMiB"],
                         "tags": {tag["key"]: tag["value"] for tag in one.get_tags()}})
    return rows


faults.every_instance = every_instance


class Handler(MotoRequestHandler):
    def date_time_string(self, timestamp=None):
        return getattr(faults.here, "date", None) or super().date_time_string(timestamp)


whole = price_list.PriceList(DomainDispatcherApplication(create_backend_app), seed.get("prices", {}))
run_simple("127.0.0.1", port, faults.Faults(whole), threaded=True, use_reloader=False, request_handler=Handler)
