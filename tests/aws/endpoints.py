#!/usr/bin/env python3
"""endpoints.py KARST_AWS_CALLS: our endpoint rules against the vendor's Python client, for a region or two of every partition, with and
without FIPS and dualstack. Prints one "ok" or "not ok" line for each service. Needs botocore (the virtual environment of build.sh)."""
import itertools
import os
import subprocess
import sys

for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
import botocore.session
from botocore.config import Config

SERVICES = ("ec2", "sts", "iam", "sqs", "ssm", "eks", "arc-zonal-shift")  # Price List answers in few regions, which we choose ourselves
REGIONS = ("us-east-1", "eu-central-1", "us-gov-west-1", "us-gov-east-1", "cn-north-1", "cn-northwest-1", "us-iso-east-1", "us-iso-west-1",
           "us-isob-east-1", "us-isof-south-1", "eu-isoe-west-1", "eusc-de-east-1")
# IAM's FIPS and dualstack hosts outside aws and aws-us-gov are not in our table: nobody can have asked for them there.
LEFT_OUT = lambda service, region, fips, dual: service == "iam" and (fips or dual) and region.split("-")[0] not in ("us", "eu", "ap") or \
    service == "iam" and (fips or dual) and "-iso" in region


def theirs(session, service, region, fips, dual):
    try:
        client = session.create_client(service, region_name=region, config=Config(use_fips_endpoint=fips, use_dualstack_endpoint=dual))
        operation = client.meta.service_model.operation_model(client.meta.service_model.operation_names[0])
        found = client._ruleset_resolver.construct_endpoint(operation, {}, {"client_config": client.meta.config, "client_region": region})
    except Exception:
        return "none"
    schemes = found.properties.get("authSchemes") or [{}]
    return f"{found.url} {schemes[0].get('signingRegion') or region}"


def main():
    session = botocore.session.get_session()
    session.set_credentials("a", "b")
    for service in SERVICES:
        asked = [row for row in itertools.product(REGIONS, (False, True), (False, True)) if not LEFT_OUT(service, *row)]
        lines = "".join(f"{service} {region} {str(fips).lower()} {str(dual).lower()}\n" for region, fips, dual in asked)
        ours = subprocess.run([sys.argv[1], "endpoints"], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
        wrong = [f"{row}: {our} instead of {their}" for row, our in zip(asked, ours, strict=True)
                 if our != (their := theirs(session, service, *row))]
        print(f"not ok {service}: {wrong[:3]}" if wrong else f"ok {service}: {len(asked)} endpoints")


main()
