"""deploy/aws/cloudformation.yaml: what its statements let karst change is tied to our own tags."""
import json
import pathlib
import re
import unittest

TEXT = (pathlib.Path(__file__).resolve().parents[2] / "deploy" / "aws" / "cloudformation.yaml").read_text()
CLUSTER_TAG = "kubernetes.io/cluster/${ClusterName}"


def statements(policy):
    """Of a policy that is written as JSON."""
    block = re.search(policy + r":\n.*?PolicyDocument: !Sub \|\n(.*?)(?:\n  \w|\Z)", TEXT, re.S).group(1)
    return {one["Sid"]: one for one in json.loads(block)["Statement"]}


def keys(statement):
    return {key for test in statement["Condition"].values() for key in test}


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
