#!/usr/bin/env python3
"""What stands around karst in story.sh, by the vendor's own client and against an AWS-shaped server (AWS_ENDPOINT_URL):

world.py stage QUEUE CLUSTER                makes queue, role and EKS cluster; prints the EC2NodeClass that finds the account's subnets
world.py narrow POLICY                      a ready-made instance profile, and a user with the rights of the file POLICY and no others; prints
                                            its keys as variables, "A=1 B=2"
world.py kubelets URL SERVER CA TOKEN       until it is ended: each running machine that carries our tag joins as a Node (which kwok drives);
                                            Nodes are never deleted here. URL: the AWS-shaped server, SERVER: the API server
world.py interrupt URL QUEUE SHARE FILE     a spot interruption warning, as EventBridge writes it, for every SHARE-th running machine, all at once;
                                            FILE gets a JSON line for each. SHARE 0: for one that FILE does not have
world.py user_data                          the user data of all launch templates, decoded
world.py made                               the launch templates, and the instance profiles below Karpenter's path, that there are
world.py waiting QUEUE                      how many messages the queue holds, received ones too
"""
import base64
import datetime
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request
import uuid

TOKEN_TAG = "karst.sh/launch-token"


def client(service):
    import boto3
    return boto3.client(service, region_name=os.environ["AWS_REGION"])


def queue_url(name):
    return client("sqs").get_queue_url(QueueName=name)["QueueUrl"]


def machines(url):
    rows = json.load(urllib.request.urlopen(f"{url}/karst/instances", timeout=30))
    return [row for row in rows if TOKEN_TAG in row["tags"]]


def stage(queue, cluster):
    client("sqs").create_queue(QueueName=queue)
    client("iam").create_role(RoleName="nodes", AssumeRolePolicyDocument="{}")
    subnets = client("ec2").describe_subnets()["Subnets"]
    client("eks").create_cluster(name=cluster, version="1.34", roleArn="arn:aws:iam::123456789012:role/eks",
                                 resourcesVpcConfig={"subnetIds": [subnet["SubnetId"] for subnet in subnets[:2]]})
    print(json.dumps({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {"role": "nodes", "userData": "#!/bin/bash\njoin --token canary-5b0e-user-data\n", "amiSelectorTerms": [{"alias": "al2023@latest"}], "securityGroupSelectorTerms": [{"name": "default"}],
                 "subnetSelectorTerms": [{"id": subnet["SubnetId"]} for subnet in subnets]}}))


def narrow(policy):
    iam = client("iam")
    iam.create_role(RoleName="KarpenterNodeRole-story", AssumeRolePolicyDocument="{}")
    iam.create_instance_profile(InstanceProfileName="KarpenterNodeInstanceProfile-story")
    iam.add_role_to_instance_profile(InstanceProfileName="KarpenterNodeInstanceProfile-story", RoleName="KarpenterNodeRole-story")
    iam.create_user(UserName="controller")
    with open(policy) as file:
        rights = json.load(file)
    for statement in rights["Statement"]:
        statement["Resource"] = "*"  # moto asks for actions, not for what they are about
    iam.put_user_policy(UserName="controller", PolicyName="controller", PolicyDocument=json.dumps(rights))
    key = iam.create_access_key(UserName="controller")["AccessKey"]
    print(f"AWS_ACCESS_KEY_ID={key['AccessKeyId']} AWS_SECRET_ACCESS_KEY={key['SecretAccessKey']}")


def node_of(machine):
    sizes = {"cpu": str(machine["cpus"]), "memory": f"{machine['mebibytes'] * 925 // 1000}Mi", "pods": "110"}
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": machine["id"] + ".ec2.internal", "annotations": {"kwok.x-k8s.io/node": "fake"},
                     "labels": {"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64" if machine["arch"] == "arm64" else "amd64",
                                "kubernetes.io/hostname": machine["id"], "node.kubernetes.io/instance-type": machine["type"],
                                "topology.kubernetes.io/zone": machine["zone"], "karpenter.sh/capacity-type": machine["capacityType"],
                                "karpenter.sh/nodepool": machine["tags"].get("karpenter.sh/nodepool", "")}},
        "spec": {"providerID": f"aws:///{machine['zone']}/{machine['id']}",
                 "taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]},
        "status": {"capacity": sizes, "allocatable": sizes}}


def kubelets(url, server, ca, token):
    context = ssl.create_default_context(cafile=ca)
    joined = set()
    while True:
        try:
            for machine in machines(url):
                if machine["state"] != "running" or machine["id"] in joined:
                    continue
                request = urllib.request.Request(f"{server}/api/v1/nodes", json.dumps(node_of(machine)).encode(),
                                                 {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
                try:
                    urllib.request.urlopen(request, context=context, timeout=30).read()
                except urllib.error.HTTPError as error:
                    if error.code != 409:
                        raise
                joined.add(machine["id"])
        except OSError as error:  # the servers come and go; a machine that did not join tries again
            print(error, file=sys.stderr, flush=True)
        time.sleep(0.3)


def warning(machine):
    return {"version": "0", "id": str(uuid.uuid4()), "detail-type": "EC2 Spot Instance Interruption Warning", "source": "aws.ec2",
            "account": "123456789012", "time": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "region": "us-east-1",
            "resources": [f"arn:aws:ec2:us-east-1:123456789012:instance/{machine['id']}"],
            "detail": {"instance-id": machine["id"], "instance-action": "terminate"}}


def interrupt(url, queue, share, path):
    running = sorted((row for row in machines(url) if row["state"] == "running"), key=lambda row: row["id"])
    if int(share):
        chosen = running[::int(share)]
    else:
        with open(path) as lines:
            had = {json.loads(line)["instance"] for line in lines}
        chosen = [machine for machine in running if machine["id"] not in had][:1]
    warnings = [warning(machine) for machine in chosen]
    sqs, address = client("sqs"), queue_url(queue)
    for first in range(0, len(warnings), 10):
        entries = [{"Id": str(n), "MessageBody": json.dumps(one)} for n, one in enumerate(warnings[first:first + 10])]
        answer = sqs.send_message_batch(QueueUrl=address, Entries=entries)
        assert not answer.get("Failed"), answer
    with open(path, "a") as out:
        for one in warnings:
            out.write(json.dumps({"message": one["id"], "instance": one["detail"]["instance-id"]}) + "\n")
    print(len(warnings))


def user_data():
    """What the launch templates hold: all their user data, decoded."""
    ec2 = client("ec2")
    for one in ec2.describe_launch_templates()["LaunchTemplates"]:
        for version in ec2.describe_launch_template_versions(LaunchTemplateId=one["LaunchTemplateId"])["LaunchTemplateVersions"]:
            print(base64.b64decode(version["LaunchTemplateData"].get("UserData", "")).decode())


def made():
    for one in client("ec2").describe_launch_templates()["LaunchTemplates"]:
        print("launch template", one["LaunchTemplateName"])
    for one in client("iam").list_instance_profiles()["InstanceProfiles"]:
        if one["Path"].startswith("/karpenter/"):
            print("instance profile", one["InstanceProfileName"])


def waiting(queue):
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    got = client("sqs").get_queue_attributes(QueueUrl=queue_url(queue), AttributeNames=names)["Attributes"]
    print(sum(int(got[name]) for name in names))


if __name__ == "__main__":
    {"stage": stage, "narrow": narrow, "kubelets": kubelets, "interrupt": interrupt, "user_data": user_data, "made": made, "waiting": waiting}[sys.argv[1]](*sys.argv[2:])
