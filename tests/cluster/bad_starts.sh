#!/usr/bin/env bash
# Every bad start of `karst run` is one clear line with the cure and its exit code: bad_starts.sh BUILD_DIR [DIR]. BUILD_DIR holds
# the program `karst`. On a real control plane; what is broken is the way to it, the rights, the CRDs. Also what must not break:
# each kind of credential, a proxy, basic things of kubeconfig, a pod's service account. Ends with "N passed, N failed[, N skipped]";
# exit 4: no control plane.
set -euo pipefail
source "$(dirname "$0")/parts.sh"
tools_needed python3
export LEADER_ELECTION_NAMESPACE=karpenter
unset KUBECONFIG KUBERNETES_SERVICE_HOST HTTPS_PROXY https_proxy
starts=0; folder=; work_to_do=; beside=(); rm -rf "$work"/data.*

# bad WHAT EXIT PATTERN ARGUMENT...: `karst run` with these ends with that code and one line on stderr that the pattern is in.
# Its data folder is $folder, if that is set, else a new one.
bad() {
  local what=$1 want=$2 pattern=$3 code=0; shift 3
  starts=$((starts + 1))
  HOME=$work timeout 60 "$karst" run --data "${folder:-$work/data.$starts}" --listen "127.0.0.1:$listen" "$@" > "$work/out" 2> "$work/err" < /dev/null || code=$?
  if [ $code != "$want" ]; then not_ok "$what" "exit $code instead of $want: $(head -c 400 "$work/err")"
  elif [ "$(wc -l < "$work/err")" != 1 ]; then not_ok "$what" "not one line: $(head -c 600 "$work/err")"
  elif ! grep -qE "^karst: .*$pattern" "$work/err"; then not_ok "$what" "says: $(head -c 600 "$work/err")"
  else ok "$what"; echo "    $(cut -c 1-300 "$work/err")"; fi
}
# good WHAT ARGUMENT...: it becomes ready, does its $work_to_do (a command that becomes true), and stops on SIGTERM with code 0.
good() {
  local what=$1 pid code=0; shift
  starts=$((starts + 1))
  HOME=$work "$karst" run --data "$work/data.$starts" --listen "127.0.0.1:$listen" "$@" > "$work/out" 2> "$work/err" < /dev/null &
  pid=$!; started=("$pid" "${beside[@]}")
  await "$what: ready" 30 curl -fsS "http://127.0.0.1:$listen/readyz" || tail -n 3 "$work/err" "$work/out"
  [ -z "$work_to_do" ] || await "$what: works ($work_to_do)" 30 $work_to_do || tail -n 3 "$work/err" "$work/out"
  kill -TERM $pid 2> /dev/null || true
  wait $pid || code=$?
  started=("${beside[@]}")
  check "$what: stops with exit code 0 (was $code)" [ $code = 0 ] || true
}
# config NAME CLUSTER USER: a kubeconfig, its path.
config() {
  printf 'current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {%s}}]\nusers: [{name: u, user: {%s}}]\n' \
    "$2" "$3" > "$work/$1"
  echo "$work/$1"
}

# sees NAME FROM TO: a karst that has the folder FROM in the place of TO, alone in a mount namespace; its path.
sees() {
  printf '#!/bin/sh\nexec unshare -m sh -c "mount --bind %s %s && exec \\"\\$0\\" \\"\\$@\\"" %s "$@"\n' "$2" "$3" "$karst" > "$work/$1"
  chmod +x "$work/$1"; echo "$work/$1"
}

# ordinary NAME: a karst that a file's mode binds, as it does whoever is not root; its path. Fails where there is no such thing.
ordinary() {
  local bound=(); [ "$(id -u)" != 0 ] || bound=(setpriv --bounding-set=-dac_override,-dac_read_search --)
  "${bound[@]}" true 2> /dev/null || return 1
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${bound[*]}" "$karst" > "$work/$1"
  chmod +x "$work/$1"; echo "$work/$1"
}

KWOK=0 begin
listen=$((base + 9))
server="server: 'https://127.0.0.1:$((base + 2))'"
ca="certificate-authority: $plane/certs/apiserver.crt"
token="token: karst-token"

echo "# the way to the server"
bad "no cluster at all" 2 'give --kubeconfig FILE'
bad "a kubeconfig that is not there" 2 'cannot read .*/none: No such file or directory; correct the path, or make the file$' --kubeconfig "$work/none"
printf 'clusters: [' > "$work/torn"
another='give --kubeconfig or KUBECONFIG another file$'
bad "a kubeconfig that is torn" 2 "/torn: line [0-9]+: .*; correct it there, or $another" --kubeconfig "$work/torn"
: > "$work/blank"
bad "a kubeconfig with nothing in it" 2 "/blank: expected a kubeconfig, found nothing in it; $another" --kubeconfig "$work/blank"
bad "a folder for a kubeconfig" 2 'cannot read .*/plane: it is a folder; name the file in it$' --kubeconfig "$plane"
if as_others=$(ordinary karst_as_others); then
  rm -f "$work/locked"; printf 'clusters: []\n' > "$work/locked"; chmod 0 "$work/locked"
  karst=$as_others bad "a kubeconfig that may not be read" 2 "cannot read .*/locked: Permission denied; let user $(id -u), as whom karst runs, read it$" --kubeconfig "$work/locked"
else
  skip "a kubeconfig that may not be read: root reads all, and setpriv cannot take that away here"
fi
bad "a cluster whose server is misspelt" 2 'clusters\[0\].cluster.server: is missing; add https://HOST:PORT; is it misspelt as "sever"\?$' \
  --kubeconfig "$(config a "sever: 'https://127.0.0.1:1'" "$token")"
printf 'clusters: []\n' > "$work/empty"
bad "no current context" 2 'current-context: is missing; run kubectl config use-context' --kubeconfig "$work/empty"
bad "a token file that is not there" 2 'users\[0\].user.tokenFile: cannot read .*/gone: No such file or directory; correct the path, or make the file$' --kubeconfig "$(config a "$server, $ca" 'tokenFile: gone')"
bad "auth-provider" 2 'auth-provider: was removed from Kubernetes' --kubeconfig "$(config a "$server, $ca" 'auth-provider: {name: gcp}')"
exec_v1="apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never"
bad "a plugin that is not installed" 4 'no-such-plugin cannot be run: No such file.*install hint: get it' \
  --kubeconfig "$(config a "$server, $ca" "exec: {$exec_v1, command: no-such-plugin, installHint: get it}")"
bad "a plugin that fails" 4 'sh ended with exit code 1: log in first' \
  --kubeconfig "$(config a "$server, $ca" "exec: {$exec_v1, command: sh, args: ['-c', 'echo log in first >&2; exit 1']}")"
bad "the server is not there" 4 '127.0.0.1:'$((base + 8))' cannot be reached: .*Is the API server up, and .*clusters\[0\].cluster.server its address' \
  --kubeconfig "$(config a "server: 'https://127.0.0.1:$((base + 8))', $ca" "$token")"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/other.key" -out "$work/other.crt" -subj /CN=other -days 1 2> /dev/null
bad "the wrong CA" 4 'certificate of .* is not trusted.*certificate-authority' \
  --kubeconfig "$(config a "$server, certificate-authority: $work/other.crt" "$token")"
# With a trust store of its own, which holds the server's certificate: the kubeconfig's CA is the only one that counts.
mkdir -p "$work/system_ca"
cp "$plane/certs/apiserver.crt" "$work/system_ca/$(openssl x509 -hash -noout -in "$plane/certs/apiserver.crt").0"
cp "$plane/certs/apiserver.crt" "$work/system_ca/ca-certificates.crt"
karst_with_ca=$(sees karst_with_ca "$work/system_ca" /etc/ssl/certs)
if unshare -m true 2> /dev/null; then
  karst=$karst_with_ca bad "the wrong CA, where the system trusts the server" 4 'certificate of .* is not trusted' \
    --kubeconfig "$(config a "$server, certificate-authority: $work/other.crt" "$token")"
  karst=$karst_with_ca bad "no CA of its own: the system's do" 4 'does not accept the credentials' \
    --kubeconfig "$(config a "$server" 'token: expired')"
else
  skip "the wrong CA, where the system trusts the server: no mount namespaces here"
  skip "no CA of its own: likewise"
fi
bad "a CA file that is none" 4 'certificate of .* is not trusted' \
  --kubeconfig "$(config a "$server, certificate-authority: $work/empty" "$token")"
bad "a server name that is not in the certificate" 4 'certificate of .* is not trusted.*tls-server-name' \
  --kubeconfig "$(config a "$server, $ca, tls-server-name: other.example" "$token")"
bad "a client key of another certificate" 4 'client certificate of .*users\[0\].user cannot be used.*belong together' \
  --kubeconfig "$(config a "$server, $ca" "client-certificate: $plane/certs/apiserver.crt, client-key: $work/other.key")"
bad "a proxy that is not there" 4 'cannot be reached: .*If there is a proxy \(proxy-url, HTTPS_PROXY\), is that one up' \
  --kubeconfig "$(config a "$server, $ca, proxy-url: 'http://127.0.0.1:$((base + 8))'" "$token")"
bad "a proxy without an address" 4 'cannot be reached through the proxy: .*clusters\[0\].cluster.proxy-url right' \
  --kubeconfig "$(config a "$server, $ca, proxy-url: 'http://no-such-proxy.invalid:3128'" "$token")"
bad "a proxy that refuses" 4 'cannot be reached through the proxy: .*clusters\[0\].cluster.proxy-url right' \
  --kubeconfig "$(config a "$server, $ca, proxy-url: 'http://127.0.0.1:$base'" "$token")"
bad "a refused token" 4 'does not accept the credentials of .*users\[0\].user \(HTTP 401.*get new ones' \
  --kubeconfig "$(config a "$server, $ca" 'token: expired')"
bad "a port of https, spoken to without it" 4 'it speaks https; write https:// in .*clusters\[0\].cluster.server' \
  --kubeconfig "$(config a "server: 'http://127.0.0.1:$((base + 2))'" "$token")"
bad "a server that is no API server" 4 'is it a Kubernetes API server' \
  --kubeconfig "$(config a "server: 'http://127.0.0.1:$base'" '')"

echo "# a server that takes connections and does not answer"
cat > "$work/silent.py" <<'P'
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
listener = context.wrap_socket(socket.create_server(("127.0.0.1", int(sys.argv[1]))), server_side=True)
held = []
while True:
    try: held.append(listener.accept())
    except OSError: pass
P
python3 "$work/silent.py" $((base + 8)) "$plane/certs/apiserver.crt" "$plane/certs/apiserver.key" & silent=$!
started=("$silent")
listens() { (: < "/dev/tcp/127.0.0.1/$((base + 8))") 2> /dev/null; }
await "the silent server is there" 30 listens
"$karst" run --data "$work/data.silent" --listen "127.0.0.1:$listen" > "$work/out" 2> "$work/err" < /dev/null \
  --kubeconfig "$(config a "server: 'https://127.0.0.1:$((base + 8))', $ca" "$token")" & pid=$!
started=("$silent" "$pid")
await "/healthz answers while it waits" 30 curl -fsS "http://127.0.0.1:$listen/healthz" || true
check "/readyz says that it is not ready" [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$listen/readyz")" = 503 ] || true
code=0; kill -TERM $pid || true
ended() { ! kill -0 $pid 2> /dev/null; }
await "SIGTERM ends the wait" 10 ended || kill -KILL $pid
wait $pid || code=$?
check "it stops with exit code 0 (was $code)" [ $code = 0 ] || true
kill $silent; wait $silent 2> /dev/null || true; started=()

echo "# the command line"
good_config=$(config good "$server, $ca" "$token")
code=0; "$karst" run --bogus > /dev/null 2> "$work/err" || code=$?
check "an unknown option, and none that is needed: exit 2 (was $code)" [ $code = 2 ] || true
check "the unknown one is named" grep -qx -- "karst: there is no option '--bogus'.*" "$work/err" || cat "$work/err"
for port in nonsense 99999; do
  listen=$port bad "a port to listen on that is none: $port" 2 "listen address \"127.0.0.1:$port\": expected HOST:PORT such as" --kubeconfig "$good_config"
done
bad "a shadow, perhaps" 2 '--shadow = maybe; expected true or false, or no word with it' --kubeconfig "$good_config" --shadow=maybe
bad "a file's name for the scheduler's YAML" 2 '--scheduler-config:1: expected podTopologySpread, found .*; give the YAML itself, not a file.s name$' \
  --kubeconfig "$good_config" --scheduler-config "$work/none"
absent='cannot read .*/none: No such file or directory; correct the path, or make the file$'
bad "a file of types that is not there, by its flag" 2 "--instance-types-file-path: $absent" --kubeconfig "$good_config" --instance-types-file-path "$work/none"
INSTANCE_TYPES_FILE_PATH=$work/none bad "a file of types that is not there, by its variable" 2 "INSTANCE_TYPES_FILE_PATH: $absent" --kubeconfig "$good_config"

echo "# what the server has"
k delete crd nodeclaims.karpenter.sh > /dev/null
bad "a missing CRD" 4 'has no nodeclaims.karpenter.sh v1: the CRDs are not installed; kubectl apply -f deploy/crds' --kubeconfig "$good_config"
k apply -f "$root/deploy/crds" > /dev/null
k delete crd kwoknodeclasses.karpenter.kwok.sh > /dev/null
bad "a missing node class" 4 'has no kwoknodeclasses.karpenter.kwok.sh' --kubeconfig "$good_config"
k apply -f "$root/deploy/crds" > /dev/null
k wait --for=condition=Established crd --all --timeout=30s > /dev/null

echo "# what we may do"
bad "no right at all" 4 'the user system:anonymous may not .*ClusterRole karst' \
  --kubeconfig "$(config a "$server, $ca" "token: admin-token, as: 'system:anonymous', as-groups: ['system:authenticated']")"
bad "a user whom the server tells nothing" 4 'answers HTTP 403: .*: is that who karst should be\? kubectl apply -f deploy/manifests/karst/rbac.yaml' \
  --kubeconfig "$(config a "$server, $ca" "token: admin-token, as: 'system:anonymous'")"
# may yes|no TOKEN VERB RESOURCE...: the server says so by now; it learns of a changed role a moment after it was written.
may() {
  local want=$1 token=$2; shift 2
  [ "$(kubectl --server "https://127.0.0.1:$((base + 2))" --certificate-authority "$plane/certs/apiserver.crt" --token "$token" auth can-i "$@" 2> /dev/null)" = "$want" ]
}
# without_rule ROLE FILTER: takes away the first of its rules that jq's filter is true of.
without_rule() {
  k patch clusterrole "$1" --type=json -p "$(k get clusterrole "$1" -o json | jq -c "[{op: \"remove\", path: (\"/rules/\" + (.rules | map($2) | index(true) | tostring))}]")" > /dev/null
}
without_rule karst '.resources == ["pods/eviction"]'
await "the server knows that karst may not evict" 30 may no karst-token create pods --subresource=eviction -A || true
bad "one missing right" 4 'the user karst may not create pods/eviction; ClusterRole karst grants it: kubectl apply -f deploy/manifests/karst/rbac.yaml' \
  --kubeconfig "$good_config"
k apply -f "$root/deploy/manifests/karst/rbac.yaml" > /dev/null
await "the server knows that it may" 30 may yes karst-token create pods --subresource=eviction -A || true
LEADER_ELECTION_NAMESPACE=default bad "no right to the lease" 4 'may not get leases.coordination.k8s.io default/karpenter-leader-election.*set LEADER_ELECTION_NAMESPACE=karpenter' --kubeconfig "$good_config"

echo "# what a shadow may do: its own role is named, for the other one would let it write"
shadow_config=$(config shadow "$server, $ca" 'token: karst-shadow-token')
cure='ClusterRole karst-shadow grants it: kubectl apply -f deploy/manifests/shadow/rbac.yaml, and bind it to that user$'
bad "a shadow without rights" 4 "the user karst-shadow may not get namespaces kube-system, list .*; $cure" --shadow --kubeconfig "$shadow_config"
k apply -f "$root/deploy/manifests/shadow/rbac.yaml" > /dev/null
k create clusterrolebinding test-shadow --clusterrole=karst-shadow --user=karst-shadow > /dev/null
await "the server knows of the shadow's rights" 30 may yes karst-shadow-token watch poddisruptionbudgets -A || true
without_rule karst-shadow '.resources == ["poddisruptionbudgets"]'
await "the server knows of the missing one" 30 may no karst-shadow-token watch poddisruptionbudgets -A || true
bad "a shadow that lacks one right" 4 "the user karst-shadow may not list poddisruptionbudgets.policy, watch poddisruptionbudgets.policy; $cure" --shadow --kubeconfig "$shadow_config"
k apply -f "$root/deploy/manifests/shadow/rbac.yaml" > /dev/null
await "the server knows of it again" 30 may yes karst-shadow-token watch poddisruptionbudgets -A || true
without_rule karst-shadow '.resourceNames == ["kube-system"]'
await "the server knows that it may not see kube-system" 30 may no karst-shadow-token get namespace/kube-system || true
bad "a shadow that may not learn which cluster it is" 4 "the user karst-shadow may not get namespaces kube-system; $cure" --shadow --kubeconfig "$shadow_config"
k apply -f "$root/deploy/manifests/shadow/rbac.yaml" > /dev/null
await "the server knows that it may" 30 may yes karst-shadow-token get namespace/kube-system || true
good "a shadow that was cured so" --shadow --kubeconfig "$shadow_config"

echo "# the data directory"
if [ -n "$as_others" ]; then
  mkdir -p "$work/shut/others"; chmod 555 "$work/shut"  # with something in it: an empty one would be made the log's
  allow="Permission denied. Let user $(id -u), as whom karst runs, read and write there, or give --data another folder$"
  karst=$as_others folder=$work/shut/a/log bad "one that cannot be made" 4 "cannot open .*/shut/a/log: it cannot be made in .*/shut: $allow" --kubeconfig "$good_config"
  karst=$as_others folder=$work/shut bad "one that cannot be written" 4 "cannot open .*/shut/lock: $allow" --kubeconfig "$good_config"
  chmod 755 "$work/shut"
else
  skip "one that cannot be made: root may write anywhere, and setpriv cannot take that away here"
  skip "one that cannot be written: likewise"
fi
folder=$good_config/log bad "one in a file" 2 'cannot open .*/good/log: it cannot be made in .*/good: Not a directory. Expected a folder' --kubeconfig "$good_config"
"$karst" run --data "$work/data.taken" --listen "127.0.0.1:$((base + 7))" --kubeconfig "$good_config" > "$work/first.out" 2>&1 < /dev/null &
first=$!; started=("$first")
await "a first process runs" 30 curl -fsS "http://127.0.0.1:$((base + 7))/readyz" || true
folder=$work/data.taken bad "one that is taken" 4 "data.taken is in use by process $first: .* Stop it, or give --data another folder$" --kubeconfig "$good_config"
listen=$((base + 7)) bad "an address that is taken" 4 "cannot listen on .*:$((base + 7)): .*; choose another address with --listen$" --kubeconfig "$good_config"
kill -TERM $first; code=0; wait $first || code=$?; started=()
check "the first process stops with exit code 0 (was $code)" [ $code = 0 ] || true

echo "# what works"
for version in v1 v1beta1; do
  printf 'echo '\''{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/%s","status":{"token":"karst-token"}}'\''\n' $version > "$work/plugin.$version"
  good "the token of a plugin of $version" --kubeconfig "$(config a "$server, $ca" \
    "exec: {apiVersion: client.authentication.k8s.io/$version, interactiveMode: Never, command: sh, args: ['$work/plugin.$version']}")"
done
printf 'karst-token\n' > "$work/token"
good "a token file" --kubeconfig "$(config a "$server, $ca" "tokenFile: $work/token")"
# signed CA NAME DAYS: a client certificate of the user karst.
signed() {
  openssl req -newkey rsa:2048 -nodes -keyout "$work/$2.key" -subj /CN=karst 2> /dev/null |
    openssl x509 -req -CA "$1.crt" -CAkey "$1.key" -CAcreateserial -days "$3" -out "$work/$2.crt" 2> /dev/null
}
signed "$plane/client_ca" client 1; signed "$plane/client_ca" ended -1; signed "$work/other" stranger 1
good "a client certificate" --kubeconfig "$(config a "$server, $ca" "client-certificate: $work/client.crt, client-key: $work/client.key")"
bad "a client certificate of a CA that the server does not know" 4 'does not accept the credentials of .*users\[0\].user \(HTTP 401' \
  --kubeconfig "$(config a "$server, $ca" "client-certificate: $work/stranger.crt, client-key: $work/stranger.key")"
bad "a client certificate that has ended" 4 "does not accept the client certificate of .*users\[0\].user \(HTTP 401.*: it expired at $(date -u -d yesterday +%Y-%m-).*Z; renew client-certificate\(-data\) and client-key" \
  --kubeconfig "$(config a "$server, $ca" "client-certificate: $work/ended.crt, client-key: $work/ended.key")"
# by_proxy WHAT KARST URL [CERTIFICATE KEY]: through a proxy, which sees a tunnel to the server and nothing else.
by_proxy() {
  local what=$1 proxy
  python3 "$here/connect_proxy.py" $((base + 8)) "${@:4}" > "$work/tunnels" 2> "$work/proxy.err" & proxy=$!
  beside=("$proxy"); started=("$proxy")
  await "$what: it is there" 30 listens || true
  karst=$2 good "$what" --kubeconfig "$(config a "$server, $ca, proxy-url: '$3'" "$token")"
  check "$what: no request waited for nothing" bash -c '! grep "is asked again" "$1"' - "$work/out" || true
  check "$what: it opened ways to the server, and to nothing else" [ "$(sort -u "$work/tunnels")" = "127.0.0.1:$((base + 2))" ] || true
  kill $proxy; wait $proxy 2> /dev/null || true; beside=(); started=()
}
by_proxy "a proxy" "$karst" "http://127.0.0.1:$((base + 8))"
by_proxy "a proxy over TLS, of the kubeconfig's CA" "$karst" "https://127.0.0.1:$((base + 8))" "$plane/certs/apiserver.crt" "$plane/certs/apiserver.key"
python3 "$here/connect_proxy.py" $((base + 8)) "$work/other.crt" "$work/other.key" > "$work/tunnels" 2> "$work/proxy.err" & proxy=$!
started=("$proxy")
await "a proxy over TLS that nobody vouches for: it is there" 30 listens || true
bad "a proxy over TLS that nobody vouches for" 4 'cannot be reached through the proxy: .*certificate.*clusters\[0\].cluster.proxy-url right' \
  --kubeconfig "$(config a "$server, $ca, proxy-url: 'https://127.0.0.1:$((base + 8))'" "$token")"
kill $proxy; wait $proxy 2> /dev/null || true; started=()
if unshare -m true 2> /dev/null; then
  openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/proxy.key" -out "$work/proxy.crt" -subj /CN=proxy -addext subjectAltName=IP:127.0.0.1 \
    -days 1 2> /dev/null
  cp "$work/proxy.crt" "$work/system_ca/$(openssl x509 -hash -noout -in "$work/proxy.crt").0"
  by_proxy "a proxy over TLS, of a CA of the system's" "$karst_with_ca" "https://127.0.0.1:$((base + 8))" "$work/proxy.crt" "$work/proxy.key"
else
  skip "a proxy over TLS, of a CA of the system's: no mount namespaces here"
fi
good "a server of another name" --kubeconfig "$(config a "$server, $ca, tls-server-name: kubernetes.default.svc" "$token")"
good "no verification" --kubeconfig "$(config a "$server, insecure-skip-tls-verify: true" "$token")"
check "no verification is warned of" grep -q 'insecure-skip-tls-verify is true: whoever answers' "$work/out" || true
good "another user's rights by impersonation" --kubeconfig "$(config a "$server, $ca" 'token: admin-token, as: karst')"
KUBECONFIG="$work/none:$good_config" good "KUBECONFIG, a list"
check "the lease is given back at the end" [ "$(k get lease -n karpenter karpenter-leader-election -o jsonpath='{.spec.holderIdentity}')" = "" ] || true

echo "# in a pod: the shipped service account, its rights by the shipped bindings, its folder as the kubelet makes it"
pools_ready() { [ "$(k get nodepools -o json | jq -c '[.items[].status.conditions[]? | select(.type == "Ready") | .status] | unique')" = '["True"]' ]; }
# account TOKEN: the folder, inside of what stands for /run.
account() {
  local folder=$work/run/secrets/kubernetes.io/serviceaccount
  mkdir -p "$folder"
  printf %s "$1" > "$folder/token"; printf karpenter > "$folder/namespace"; cp "$plane/certs/apiserver.crt" "$folder/ca.crt"
}
token_refused() {
  [ "$(curl -s -o /dev/null -w '%{http_code}' --cacert "$plane/certs/apiserver.crt" "https://127.0.0.1:$((base + 2))/api" \
    -H "Authorization: Bearer $(cat "$work/run/secrets/kubernetes.io/serviceaccount/token")")" = 401 ]
}
transitions() { k get lease -n karpenter karpenter-leader-election -o jsonpath='{.spec.leaseTransitions}'; }
unset LEADER_ELECTION_NAMESPACE
export KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=$((base + 2))
if unshare -m true 2> /dev/null; then
  in_pod=$(sees karst_in_pod "$work/run" "$(readlink -f /var/run)")
  account "$(k create token karst --namespace=karpenter)"
  check "node pools are accepted" k apply -f "$here/manifests/pools.yaml" || true
  check "nobody has looked at them" [ "$(k get nodepools -o json | jq '[.items[].status.conditions[]?] | length')" = 0 ] || true
  terms=$(transitions)
  work_to_do=pools_ready karst=$in_pod good "a pod's service account"
  check "it led, by the lease of its namespace" [ "$(transitions)" -gt "$terms" ] || true
  k create serviceaccount idle --namespace=karpenter > /dev/null
  account "$(k create token idle --namespace=karpenter)"
  karst=$in_pod bad "a service account without rights" 4 'the user system:serviceaccount:karpenter:idle may not .*ClusterRole karst'
  k create serviceaccount gone --namespace=karpenter > /dev/null
  account "$(k create token gone --namespace=karpenter)"
  k delete serviceaccount gone --namespace=karpenter > /dev/null
  await "the server refuses the token of an account that is gone" 30 token_refused
  karst=$in_pod bad "a dead token" 4 "does not accept the credentials of the pod's service account \\(HTTP 401"
  rm "$work/run/secrets/kubernetes.io/serviceaccount/token"
  karst=$in_pod bad "no token" 2 'cannot read /var/run/secrets/kubernetes.io/serviceaccount/token: .*; set automountServiceAccountToken: true in the pod'
else
  skip "a pod's service account: no mount namespaces here"
fi
