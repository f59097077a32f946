#!/usr/bin/env bash
# Starts a control plane on loopback in directory $1 (made afresh), prints the admin kubeconfig's path. Ready in about 2 s.
# Ports: etcd PORT, its peer PORT+1, API server PORT+2, scheduler PORT+3, controller-manager PORT+4 (PORT from $2, default 21000).
# Environment: BIN (where build.sh put the binaries), KWOK=1 to let kwok play the kubelets of nodes annotated kwok.x-k8s.io/node=fake.
# REQUESTS_PER_SECOND raises what kube-scheduler, controller-manager and kwok may ask of the API server.
# Users (bearer tokens): admin-token is cluster-admin; karst-token and karst-shadow-token are users with no rights but those that are bound to them.
# DIR/client_ca.key signs client certificates: CN is the user.
# DIR/audit.jsonl is the API server's own record of what the users did (audit_policy.yaml). Exit 4: it did not become ready.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?directory}; port=${2:-21000}; bin=${BIN:-$HOME/.cache/karst-cluster}
[ ! -e "$dir" ] || "$here/down.sh" "$dir"
rm -rf "$dir"; mkdir -p "$dir"; cd "$dir"; dir=$PWD
start() { local name=$1; shift; "$@" > "$name.log" 2>&1 < /dev/null & echo $! > "$name.pid"; }
openssl genrsa -out sa.key 2048 2> openssl.log; openssl rsa -in sa.key -pubout -out sa.pub 2>> openssl.log
openssl req -x509 -newkey rsa:2048 -nodes -keyout client_ca.key -out client_ca.crt -subj /CN=client-ca -days 1 2>> openssl.log
printf 'admin-token,admin,admin,system:masters\nkarst-token,karst,karst\nkarst-shadow-token,karst-shadow,karst-shadow\n' > tokens.csv
start etcd "$bin/etcd" --data-dir "$dir/etcd" --unsafe-no-fsync \
  --listen-client-urls "http://127.0.0.1:$port" --advertise-client-urls "http://127.0.0.1:$port" \
  --listen-peer-urls "http://127.0.0.1:$((port+1))" --initial-advertise-peer-urls "http://127.0.0.1:$((port+1))" \
  --initial-cluster "default=http://127.0.0.1:$((port+1))"
start apiserver "$bin/kube-apiserver" --etcd-servers "http://127.0.0.1:$port" --bind-address 127.0.0.1 --advertise-address 127.0.0.1 \
  --secure-port "$((port+2))" --cert-dir "$dir/certs" --token-auth-file tokens.csv --client-ca-file client_ca.crt --authorization-mode RBAC \
  --service-account-issuer https://kubernetes.default.svc --service-account-key-file sa.pub --service-account-signing-key-file sa.key \
  --service-cluster-ip-range 10.0.0.0/24 --disable-admission-plugins ServiceAccount \
  --audit-policy-file "$here/audit_policy.yaml" --audit-log-path "$dir/audit.jsonl" --audit-log-mode blocking
for user in admin karst karst-shadow; do cat > "kubeconfig.$user" <<K
apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: "https://127.0.0.1:$((port+2))", certificate-authority: "$dir/certs/apiserver.crt"}}]
users: [{name: $user, user: {token: $user-token}}]
contexts: [{name: local, context: {cluster: local, user: $user}}]
current-context: local
K
done
ready() {
  [ -s certs/apiserver.crt ] && curl -s --cacert certs/apiserver.crt -H 'Authorization: Bearer admin-token' \
    "https://127.0.0.1:$((port+2))/readyz" | grep -qx ok
}
for attempt in $(seq 240); do
  ready && break
  kill -0 "$(cat apiserver.pid)" 2> /dev/null || { tail -5 apiserver.log >&2; echo "up.sh: the API server ended, see $dir/apiserver.log" >&2; exit 4; }
  [ "$attempt" -lt 240 ] || { echo "up.sh: the API server is not ready after 60 s, see $dir/apiserver.log" >&2; exit 4; }
  sleep 0.25
done
rate=()
[ -z "${REQUESTS_PER_SECOND:-}" ] || rate=(--kube-api-qps "$REQUESTS_PER_SECOND" --kube-api-burst "$REQUESTS_PER_SECOND")
start scheduler "$bin/kube-scheduler" "${rate[@]}" --kubeconfig kubeconfig.admin --leader-elect=false --bind-address 127.0.0.1 --secure-port "$((port+3))"
# kwok drops heartbeats while the API server is away: by the default 50 s its nodes and their pods would be unready for good.
start controller-manager "$bin/kube-controller-manager" "${rate[@]}" --kubeconfig kubeconfig.admin --leader-elect=false --bind-address 127.0.0.1 \
  --secure-port "$((port+4))" --node-monitor-grace-period 15m --service-account-private-key-file sa.key --controllers '*,-nodeipam,-route,-cloud-node-lifecycle-controller'
[ "${KWOK:-0}" = 0 ] || start kwok "$bin/kwok" --kubeconfig kubeconfig.admin --manage-nodes-with-annotation-selector kwok.x-k8s.io/node=fake
echo "$dir/kubeconfig.admin"
