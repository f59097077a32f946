#!/usr/bin/env bash
# The AWS client on the wire, against an AWS-shaped server on loopback that checks signatures when asked: calls.sh BUILD_DIR [DIR].
# Ends with "N passed, N failed"; exit 4: the server does not run. About 30 s. What it sends, it sends by karst_aws_calls, which is the
# product's own client.
set -euo pipefail
all_seconds=300
. "$(dirname "$0")/../cluster/parts.sh"
tool=$build/karst_aws_calls
[ -x "$tool" ] || { echo "calls.sh: there is no program $tool; build it first (tools/build)" >&2; exit 2; }
trap finish EXIT
trap 'exit 130' INT TERM
tools_needed
"$here/build.sh" || { echo "calls.sh: the server could not be installed" >&2; exit 4; }
base=${PORT:-$(free_ports)}
url=$("$here/up.sh" "$plane" "$base") || exit 4
export MOTO=${MOTO:-$HOME/.cache/karst-moto}
. "$plane/env.sh"

# call [-p] [-n N] SERVICE ACTION …: its JSON lines are in $work/told, its bodies in $work/body.
call() {
  timeout 60 "$tool" "$@" > "$work/out" 2> "$work/err"; local code=$?
  grep '^{"trouble":' "$work/out" > "$work/told"; grep -v '^{"trouble":' "$work/out" > "$work/body"
  cat "$work/out" "$work/err" >> "$work/all"
  return $code
}
told() { jq -r ".$1" "$work/told" | tail -n 1; }
done_call() { call "$@" || { cat "$work/told" "$work/err"; return 1; }; }
# refused_call TROUBLE CODE SERVICE ACTION …: the call comes to this trouble with this code.
refused_call() {
  local trouble=$1 code=$2; shift 2
  call "$@" || true
  if [ "$(told trouble)" = "$trouble" ] && [ "$(told code)" = "$code" ]; then return 0; fi
  cat "$work/told" "$work/err"; return 1
}
is() { [ "$1" = "$2" ] || { echo "$1 instead of $2"; return 1; }; }
texts() { grep -o "<$1>[^<]*" "$work/body" | sed "s/<$1>//"; }  # the texts of an XML element
faults() { curl -sf -d "$1" "$url/karst/faults" > /dev/null; }
asked() { curl -sf "$url/karst/calls" | jq -r ".\"$1\" // 0"; }
auth() { curl -sf -H 'Content-Type: text/plain' -d "$1" "$url/moto-api/reset-auth" > /dev/null; }  # checks signatures and rights after so many calls

echo "# endpoints"
take_lines endpoints "$MOTO/venv/bin/python" "$here/endpoints.py" "$tool"

echo "# reading"
check "all instance types come, page by page" done_call -p ec2 DescribeInstanceTypes '{"MaxResults": "100"}'
check "in 14 pages" is "$(told pages)" 14
check "1395 of them, none twice" is "$(texts instanceType | sort -u | wc -l)" 1395
check "their offerings too" done_call -p ec2 DescribeInstanceTypeOfferings '{"LocationType": "availability-zone", "MaxResults": "1000"}'
check "in 7 pages" is "$(told pages)" 7
check "subnets are described" done_call ec2 DescribeSubnets '{"Filter": [{"Name": "default-for-az", "Value": ["true"]}]}'
check "six of them" is "$(texts subnetId | wc -l)" 6
subnet=$(texts subnetId | head -n 1)
check "who we are, by STS" done_call sts GetCallerIdentity
check "a public parameter, by SSM" done_call ssm GetParameter '{"Name": "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"}'
check "it names the image" is "$(jq -r .Parameter.Value "$work/body")" ami-0a1b2c3d4e5f60001
check "one that is not there is not found" refused_call "not found" ParameterNotFound ssm GetParameter '{"Name": "/none"}'
check "clusters, by a REST service" done_call eks ListClusters '{}' /clusters
check "a cluster that is not there is not found" refused_call "not found" ResourceNotFoundException eks DescribeCluster '{}' /clusters/none
check "a role that is not there is not found" refused_call "not found" NoSuchEntity iam GetRole '{"RoleName": "none"}'
check "an unknown instance is not found" refused_call "not found" InvalidInstanceID.NotFound ec2 DescribeInstances '{"InstanceId": ["i-0123456789abcdef0"]}'
check "an action that nobody knows is the service's failure" refused_call "failed at the service" "" ec2 DescribeNothing

echo "# launching"
template='{"LaunchTemplateName": "t", "LaunchTemplateData": {"ImageId": "ami-0a1b2c3d4e5f60001", "InstanceType": "m5.large"}}'
check "a launch template is made" done_call ec2 CreateLaunchTemplate "$template"
check "one of that name is refused" refused_call refused InvalidLaunchTemplateName.AlreadyExistsException ec2 CreateLaunchTemplate "$template"
fleet() {  # fleet TOKEN COUNT
  jq -nc --arg token "$1" --arg count "$2" --arg subnet "$subnet" '{Type: "instant", ClientToken: $token,
    LaunchTemplateConfigs: [{LaunchTemplateSpecification: {LaunchTemplateName: "t", Version: "$Latest"},
      Overrides: [{InstanceType: "m5.large", SubnetId: $subnet, AvailabilityZone: "us-east-1a"}]}],
    TargetCapacitySpecification: {TotalTargetCapacity: $count, DefaultTargetCapacityType: "on-demand"},
    TagSpecification: [{ResourceType: "instance", Tag: [{Key: "karst.sh/test", Value: $token}]}]}'
}
instances_of() {  # the ids of the instances with that token's tag
  call ec2 DescribeInstances "{\"Filter\": [{\"Name\": \"tag:karst.sh/test\", \"Value\": [\"$1\"]}]}" && texts instanceId | sort
}
fleet_ids() { grep -o '<instanceIds>.*</instanceIds>' "$work/body" | grep -o 'i-[0-9a-f]*' | sort; }
check "a fleet of two is made" done_call ec2 CreateFleet "$(fleet one 2)"
first=$(fleet_ids)
check "it names two instances" is "$(wc -w <<< "$first")" 2
check "the same token once more" done_call ec2 CreateFleet "$(fleet one 2)"
check "answers the same instances" is "$(fleet_ids | tr '\n' ' ')" "$(tr '\n' ' ' <<< "$first")"
check "and there are no others" is "$(instances_of one | wc -l)" 2
check "the same token for another request is refused" refused_call refused IdempotentParameterMismatch ec2 CreateFleet "$(fleet one 3)"
faults '{"calls": [{"action": "CreateFleet", "do": {"cut": "after"}}]}'
check "a line that is cut after the launch leaves the outcome open" refused_call unclear "" ec2 CreateFleet "$(fleet two 1)"
check "the same token finds what was launched" done_call ec2 CreateFleet "$(fleet two 1)"
check "there is one instance" is "$(instances_of two | wc -l)" 1
faults '{"calls": [{"action": "CreateFleet", "do": {"cut": "before"}}]}'
check "a line that is cut before it is open too" refused_call unclear "" ec2 CreateFleet "$(fleet three 1)"
check "and there is no instance" is "$(instances_of three | wc -l)" 0
faults '{"capacity": [{"type": "m5.large", "zone": "us-east-1a", "ct": "on-demand", "code": "InsufficientInstanceCapacity"}]}'
check "a fleet without capacity is an answer" done_call ec2 CreateFleet "$(fleet four 1)"
check "which names the code" is "$(texts errorCode)" InsufficientInstanceCapacity
faults '{}'
ids=$(jq -Rnc '{InstanceId: [inputs]}' <<< "$first")
check "instances are terminated" done_call ec2 TerminateInstances "$ids"
check "and said to be" done_call ec2 DescribeInstances "$ids"
check "both of them" is "$(grep -o '<name>terminated' "$work/body" | wc -l)" 2

echo "# the queue"
check "a queue is made" done_call sqs CreateQueue '{"QueueName": "interruptions"}'
queue=$(jq -r .QueueUrl "$work/body")
in_queue() { jq -nc --arg url "$queue" "{QueueUrl: \$url} + $1"; }
check "a message is sent" done_call sqs SendMessage "$(in_queue '{MessageBody: "{\"source\": \"aws.ec2\"}"}')"
check "it is received" done_call sqs ReceiveMessage "$(in_queue '{MaxNumberOfMessages: 10, WaitTimeSeconds: 2, AttributeNames: ["SentTimestamp"]}')"
check "as it was sent" is "$(jq -r '.Messages[0].Body' "$work/body")" '{"source": "aws.ec2"}'
receipt=$(jq -r '.Messages[0].ReceiptHandle' "$work/body")
check "it is deleted in a batch" done_call sqs DeleteMessageBatch "$(in_queue "{Entries: [{Id: \"0\", ReceiptHandle: \"$receipt\"}]}")"
check "the queue is empty" done_call sqs ReceiveMessage "$(in_queue '{MaxNumberOfMessages: 10, WaitTimeSeconds: 0}')"
check "of messages" is "$(jq -r '.Messages | length' "$work/body")" 0
check "a queue that is not there is not found" refused_call "not found" QueueDoesNotExist sqs GetQueueUrl '{"QueueName": "none"}'

mkfifo "$work/stop"
"$tool" queue interruptions < "$work/stop" > "$work/facts" 2> "$work/facts.err" & started+=($!)
exec 9> "$work/stop"
warning='{id: "e-\($n)", version: "0", "detail-type": "EC2 Spot Instance Interruption Warning", source: "aws.ec2",
  detail: {"instance-id": "i-0123456789abcdef0", "instance-action": "terminate"}}'
for n in 1 2 3; do
  entries=$(jq -nc "[range(10) | \"$n\(.)\" as \$n | {Id: \$n, MessageBody: ($warning | tojson)}]")
  check "ten warnings are sent" done_call sqs SendMessageBatch "$(in_queue "{Entries: $entries}")"
done
check "and a message that is none" done_call sqs SendMessage "$(in_queue '{MessageBody: "hello"}')"
# By their ids: a standard queue gives a message at least once, and several receivers may get the same one.
facts_are() { is "$(sort -u "$work/facts" | cut -d' ' -f1,2 | uniq -c | xargs)" "$1"; }
await "the source tells them all" 30 facts_are "1 other 30 spot_interrupted aws:////i-0123456789abcdef0"
emptied() {
  call sqs GetQueueAttributes "$(in_queue '{AttributeNames: ["All"]}')"
  is "$(jq -c '[.Attributes | .ApproximateNumberOfMessages, .ApproximateNumberOfMessagesNotVisible]' "$work/body")" '["0","0"]'
}
await "what is acknowledged leaves the queue" 30 emptied
exec 9>&-
echo "# deletions took $(asked DeleteMessageBatch) batches"

echo "# trouble on the way"
curl -sf -X DELETE "$url/karst/calls" > /dev/null
faults '{"calls": [{"action": "DescribeSubnets", "do": {"status": 503, "code": "RequestLimitExceeded", "headers": {"Retry-After": "1"}}}]}'
check "a throttle is told" refused_call throttled RequestLimitExceeded ec2 DescribeSubnets
check "and nothing was tried again" is "$(asked DescribeSubnets)" 1
faults '{"calls": [{"action": "GetParameter", "do": {"status": 400, "code": "ThrottlingException"}}]}'
check "in JSON too" refused_call throttled ThrottlingException ssm GetParameter '{"Name": "/x"}'
faults '{"calls": [{"action": "DescribeSubnets", "do": {"status": 500, "code": "InternalError"}}]}'
check "a failure of the service leaves the outcome open" refused_call "failed at the service" InternalError ec2 DescribeSubnets
faults '{"calls": [{"action": "DescribeInstanceTypes", "times": 9, "do": {"body": "<R><nextToken>same</nextToken></R>"}}]}'
check "a list without end is given up" refused_call "answered unreadably" "" -p ec2 DescribeInstanceTypes
check "after the second page" is "$(asked DescribeInstanceTypes)" 2
faults '{"calls": [{"action": "DescribeInstanceTypes", "do": {"body": "<html"}}]}'
check "a page that is none is told" refused_call "answered unreadably" "" -p ec2 DescribeInstanceTypes
faults '{"calls": [{"action": "*", "do": {"status": 403, "code": "SignatureDoesNotMatch", "date": "Sat, 01 Aug 2026 10:00:00 GMT"}}]}'
check "a wrong clock is told as such" refused_call "refused for this machine's clock" SignatureDoesNotMatch ec2 DescribeSubnets
faults '{}'
check "a hundred and fifty calls at once get through" done_call -n 150 ec2 DescribeVpcs
check "each sent once" is "$(asked DescribeVpcs)" 150
check "a service that is not there" env AWS_ENDPOINT_URL_EC2="http://127.0.0.1:$((base + 9))" bash -c "! '$tool' ec2 DescribeVpcs > '$work/out' 2>&1"
check "did not get the call" is "$(sed -n 's/^{"trouble":"\([^"]*\)".*/\1/p' "$work/out")" "not sent"

echo "# credentials"
keyless=(env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY)
from() {  # from WHAT ENV…: a call works with credentials from there
  local what=$1; shift
  "${keyless[@]}" "$@" "$tool" sts GetCallerIdentity > "$work/out" 2> "$work/err" || { cat "$work/out" "$work/err"; return 1; }
  cat "$work/out" "$work/err" >> "$work/all"
  grep -qF "credentials: $what" "$work/err" || { cat "$work/err"; return 1; }
}
printf 'canary-jwt' > "$work/jwt"; printf 'pod-token\n' > "$work/pod"
check "web identity" from "web identity for arn:aws:iam::123456789012:role/karst" AWS_WEB_IDENTITY_TOKEN_FILE="$work/jwt" \
  AWS_ROLE_ARN=arn:aws:iam::123456789012:role/karst
check "EKS Pod Identity" from "the container agent at 127.0.0.1:$base" AWS_CONTAINER_CREDENTIALS_FULL_URI="$url/karst/credentials" \
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE="$work/pod"
check "the instance's role, which knows the region too" from "instance metadata at $url" -u AWS_REGION AWS_EC2_METADATA_SERVICE_ENDPOINT="$url"
mkdir -p "$work/.aws"
printf '[base]\naws_access_key_id = AKIABASE\naws_secret_access_key = canary-file\n' > "$work/.aws/credentials"
printf '[profile role]\nrole_arn = arn:aws:iam::123456789012:role/karst\nsource_profile = base\n' > "$work/.aws/config"
check "a profile that assumes a role" from "profile role of $work/.aws/config" HOME="$work" AWS_PROFILE=role
printf 'wrong' > "$work/pod"
check "a token that the agent does not know" bash -c "! ${keyless[*]} AWS_CONTAINER_CREDENTIALS_FULL_URI='$url/karst/credentials' \
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE='$work/pod' '$tool' sts GetCallerIdentity > '$work/out' 2>&1"
check "is told as HTTP 401" grep -q 'AWS credentials cannot be had: the container agent at .*: HTTP 401' "$work/out"

echo "# signatures and rights, checked by the server"
check "a user is made" done_call iam CreateUser '{"UserName": "karst"}'
policy='{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["ec2:Describe*", "sqs:*", "ssm:*"], "Resource": "*"}]}'
check "with few rights" done_call iam PutUserPolicy "$(jq -nc --arg p "$policy" '{UserName: "karst", PolicyName: "p", PolicyDocument: $p}')"
check "and a key" done_call iam CreateAccessKey '{"UserName": "karst"}'
key=$(texts AccessKeyId); secret=$(texts SecretAccessKey)
auth 0
with_key() { local id=$1 given=$2; shift 2; AWS_ACCESS_KEY_ID=$id AWS_SECRET_ACCESS_KEY=$given "$@"; }
check "EC2 takes the signature" with_key "$key" "$secret" done_call ec2 DescribeSubnets '{"Filter": [{"Name": "tag:a b/é*~", "Value": ["x&y=z", "+"]}]}'
check "SQS takes it" with_key "$key" "$secret" done_call sqs GetQueueUrl '{"QueueName": "interruptions"}'
check "SSM takes it" with_key "$key" "$secret" done_call ssm GetParameter '{"Name": "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/arm64/standard/recommended/image_id"}'
check "a wrong secret is refused" with_key "$key" canary-wrong refused_call "refused credentials" AuthFailure ec2 DescribeSubnets
check "by SQS too" with_key "$key" canary-wrong refused_call "refused credentials" SignatureDoesNotMatch sqs GetQueueUrl '{"QueueName": "interruptions"}'
check "a key that nobody has is refused" with_key AKIANOBODY canary-wrong refused_call "refused credentials" InvalidClientTokenId sts GetCallerIdentity
check "what the policy does not grant is denied" with_key "$key" "$secret" refused_call denied AccessDenied ec2 TerminateInstances "$ids"
auth inf

echo "# secrets"
sed -i "s/<SecretAccessKey>[^<]*//" "$work/all"  # the one answer that hands out a key
check "no secret was printed" bash -c "! grep -n -e canary -e '$secret' '$work/all'"
echo "# calls by action: $(curl -sf "$url/karst/calls" | jq -c .)"
