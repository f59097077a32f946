"""deploy/aws: it grants the calls that karst makes and no others, what it lets karst change is tied to our own tags, and its queue gets the
events that karst reads."""
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / "deploy" / "aws" / "cloudformation.yaml").read_text()
TERRAFORM = (ROOT / "deploy" / "aws" / "main.tf").read_text()
SOURCES = [path for folder in ("src/providers/aws", "src/cloud/aws") for path in sorted((ROOT / folder).glob("*.cc"))]
CLUSTER_TAG = "kubernetes.io/cluster/${ClusterName}"

# How actions are called; a text that begins so is one, but for these: fields, conditions and codes.
VERBS = ("Add|Allocate|Assign|Associate|Assume|Attach|Authorize|Batch|Cancel|Change|Copy|Create|Delete|Deregister|Describe|Detach|Disassociate|Get|Import|"
         "List|Modify|Pass|Put|Purge|Receive|Register|Release|Remove|Replace|Reset|Run|Send|Set|Start|Stop|Tag|Terminate|Untag|Update")
NO_ACTION = re.compile(r"\w+(Response|Result|AuthCheckFailed|ValidationFailed)|TagSpecification|DeleteOnTermination|AssociatePublicIpAddress|StartTime")
# What no policy of the account has to grant: the role's own trust policy says who may.
BY_TRUST = {"AssumeRole", "AssumeRoleWithWebIdentity"}
# Granted, though no call has that name: what EC2, IAM and SQS ask for besides; and one of Karpenter's, in whose place these policies stand.
BESIDES = {
    "iam:PassRole": "RunInstances and AddRoleToInstanceProfile hand the node's role on",
    "iam:TagInstanceProfile": "CreateInstanceProfile with tags",
    "ec2:CreateTags": "CreateFleet, RunInstances and CreateLaunchTemplate with tags",
    "sqs:DeleteMessage": "DeleteMessageBatch has no right of its own",
    "ec2:DescribeInstanceStatus": "Karpenter looks for failed status checks",
}
COVERED_BY = {"DeleteMessageBatch": "sqs:DeleteMessage"}
SERVICES = {"kEc2": "ec2", "kIam": "iam", "kSqs": "sqs", "kSsm": "ssm", "kEks": "eks", "kPricing": "pricing"}


def calls(texts):
    """The actions that these sources name, and of those that stand beside a service "SERVICE:ACTION"."""
    actions, of_service = set(), set()
    for text in texts:
        code = re.sub(r"//[^\n]*", "", text)
        actions |= {name for name in re.findall(rf'"((?:{VERBS})[A-Z]\w+)"', code) if not NO_ACTION.fullmatch(name)}
        for service, name in re.findall(r'"(ec2|iam|ssm|eks|pricing|arc-zonal-shift)",\s*"([A-Z][a-z]\w+)"', code):
            of_service.add(f"{service}:{name}")
        of_service |= {f"{SERVICES[service]}:{name}" for service, name in re.findall(r'Service::(k\w+),\s*"([A-Z][a-z]\w+)"', code)}
    return actions - BY_TRUST, {one for one in of_service if one.rpartition(":")[2] in actions}


def resources(template, kind):
    """Their texts by name."""
    blocks = re.split(r"\n  (?=\w+:\n    Type: )", template.split("\nResources:")[1].split("\nOutputs:")[0])
    return {block.split(":")[0]: block for block in blocks if f"    Type: {kind}\n" in block + "\n"}


def granted(template):
    found = set()
    for text in resources(template, "AWS::IAM::ManagedPolicy").values():
        for value in re.findall(r'\bAction"?:\s*(\[[^\]]*\]|(?:\n? *- *\S+)+|"?[\w:*-]+)', text):
            found |= set(re.findall(r"[a-z0-9-]+:[\w*]+", value))
    return found


def unlike(template, texts):
    """What is called and not granted, and what is granted and not called."""
    actions, of_service = calls(texts)
    rights = granted(template)
    names = {right.partition(":")[2] for right in rights}
    missing = {name for name in actions if name not in names and COVERED_BY.get(name) not in rights}
    missing |= {one for one in of_service if one not in rights and COVERED_BY.get(one.rpartition(":")[2]) not in rights}
    return missing, {right for right in rights if right.partition(":")[2] not in actions and right not in BESIDES}


def events_read():
    table = (ROOT / "src" / "providers" / "aws" / "messages.cc").read_text()
    return set(re.findall(r'\{"(aws\.\w+)", "([^"]+)", read_\w+\}', table))


def events_sent(template):
    """(source, detail-type) of the rules whose target is the queue; a pattern that asks for more is none."""
    pattern = (r"EventPattern: \{source: \[([\w.]+)\], detail-type: \[([^\]]+)\]\}\n"
               r"      Targets: \[\{Id: \w+, Arn: !GetAtt InterruptionQueue\.Arn\}\]")
    return {match.groups() for rule in resources(template, "AWS::Events::Rule").values() if (match := re.search(pattern, rule))}


def statements(policy):
    """Of a policy that is written as JSON."""
    block = re.search(policy + r":\n.*?PolicyDocument: !Sub \|\n(.*?)(?:\n  \w|\nOutputs:|\Z)", TEXT, re.S).group(1)
    return {one["Sid"]: one for one in json.loads(block)["Statement"]}


def keys(statement):
    return {key for test in statement["Condition"].values() for key in test}


class Calls(unittest.TestCase):
    TEXTS = [path.read_text() for path in SOURCES]

    def test_every_call_is_granted_and_every_right_is_called(self):
        missing, idle = unlike(TEXT, self.TEXTS)
        self.assertFalse(missing, "called, and not granted by deploy/aws")
        self.assertFalse(idle, "granted by deploy/aws, and not called")

    def test_the_calls_are_found(self):
        actions, of_service = calls(self.TEXTS)
        self.assertLessEqual({"CreateFleet", "TerminateInstances", "AddRoleToInstanceProfile", "DeleteMessageBatch", "DescribeSubnets", "GetProducts"}, actions)
        self.assertLessEqual({"ec2:CreateFleet", "iam:ListInstanceProfiles", "sqs:ReceiveMessage", "ssm:GetParameter"}, of_service)

    def test_a_right_more_or_less_is_found(self):
        for right in granted(TEXT) - {"ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateTags"} - set(BESIDES):  # those stand in several statements
            with self.subTest(right):
                missing, _ = unlike(TEXT.replace(right, "ec2:Nothing"), self.TEXTS)
                self.assertTrue(missing)
        self.assertEqual(unlike(TEXT.replace("eks:DescribeCluster", "ec2:DescribeCluster"), self.TEXTS)[0], {"eks:DescribeCluster"})
        self.assertEqual(unlike(TEXT.replace("ec2:DescribeImages", "ec2:DescribeImages\n              - ec2:StopInstances"), self.TEXTS)[1], {"ec2:StopInstances"})
        self.assertEqual(unlike(TEXT, [*self.TEXTS, 'ask("ModifyInstanceAttribute");'])[0], {"ModifyInstanceAttribute"})

    def test_what_is_granted_besides_is_granted(self):
        self.assertLessEqual(set(BESIDES), granted(TEXT))

    def test_no_right_has_a_wildcard(self):
        self.assertFalse([right for right in granted(TEXT) if "*" in right])

    def test_launches_carry_the_tags_that_their_rights_ask_for(self):
        launch = "".join(path.read_text() for path in [*SOURCES, ROOT / "src/providers/aws/launch.h"])
        for sid in ("LaunchWithOurTags", "TagWhatIsLaunched"):
            for key in keys(statements("NodeLifecyclePolicy")[sid]):
                if key.startswith("aws:RequestTag/"):
                    self.assertIn('"' + key.removeprefix("aws:RequestTag/").replace("${ClusterName}", ""), launch, sid)


class Queue(unittest.TestCase):
    def test_the_rules_send_what_is_read(self):
        self.assertEqual(len(events_read()), 5)
        self.assertEqual(events_sent(TEXT), events_read())
        for lost in (TEXT.replace("EC2 Instance Rebalance Recommendation", "EC2 Instance Launch"), TEXT.replace("source: [aws.health]", "source: [aws.ec2]"),
                     TEXT.replace("[AWS Health Event]}", "[AWS Health Event], region: [us-east-1]}")):
            self.assertNotEqual(events_sent(lost), events_read())

    def test_eventbridge_may_send_to_it(self):
        policy, = resources(TEXT, "AWS::SQS::QueuePolicy").values()
        self.assertIn("Queues: [!Ref InterruptionQueue]", policy)
        allow, deny = re.split(r"\n          - (?=Sid: Deny)", policy)
        self.assertRegex(allow, r"Effect: Allow\n            Principal: \{Service: \[events\.amazonaws\.com, sqs\.amazonaws\.com\]\}\n"
                                r"            Action: sqs:SendMessage\n            Resource: !GetAtt InterruptionQueue\.Arn")
        self.assertNotIn("Condition", allow)
        self.assertRegex(deny, r"Condition: \{Bool: \{aws:SecureTransport: false\}\}", "EventBridge and karst send by TLS: nothing else is refused")
        self.assertEqual(policy.count("Effect: "), 2)

    def test_terraform_makes_the_same_stack(self):
        self.assertIn('file("${path.module}/cloudformation.yaml")', TERRAFORM)
        self.assertNotRegex(TERRAFORM, r'resource "aws_(iam|sqs|cloudwatch)')
        given = set(re.findall(r"(\w+) = ", re.search(r"parameters    = \{(.*)\}", TERRAFORM).group(1)))
        self.assertEqual(given, set(re.findall(r"^  (\w+): \{Type: ", TEXT.split("Parameters:")[1].split("Conditions:")[0], re.M)))
        outputs = set(re.findall(r'outputs\["(\w+)"\]', TERRAFORM))
        self.assertEqual(outputs, set(re.findall(r"^  (\w+): \{Value: ", TEXT.split("Outputs:")[1], re.M)))


class Policies(unittest.TestCase):
    def test_profiles_of_others_cannot_be_tagged_as_ours(self):
        tagging = [one for one in statements("IAMIntegrationPolicy").values()
                   if "iam:TagInstanceProfile" in one["Action"]]
        self.assertEqual(len(tagging), 1)
        self.assertEqual(tagging[0]["Action"], "iam:TagInstanceProfile", "alone: creating has no resource tags")
        tags = [CLUSTER_TAG, "topology.kubernetes.io/region", "karpenter.k8s.aws/ec2nodeclass"]
        for tag in tags:
            self.assertIn("aws:ResourceTag/" + tag, keys(tagging[0]))
            self.assertIn("aws:RequestTag/" + tag, keys(tagging[0]))

    def test_profiles_are_made_with_our_tags(self):
        made = statements("IAMIntegrationPolicy")["CreateProfiles"]
        self.assertEqual(made["Action"], "iam:CreateInstanceProfile")
        self.assertIn("aws:RequestTag/" + CLUSTER_TAG, keys(made))

    def test_zonal_shifts_are_of_the_cluster_by_a_condition(self):
        policy = TEXT.split("  ZonalShiftPolicy:")[1].split("\n  IAMIntegrationPolicy:")[0]
        self.assertRegex(policy, r'Resource: "\*"')
        self.assertRegex(policy, r"arc-zonal-shift:ResourceIdentifier: .*cluster/\$\{ClusterName\}")


if __name__ == "__main__":
    unittest.main()
