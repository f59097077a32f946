#!/usr/bin/env bash
# Starts the AWS-shaped server (moto, moto/server.py) on 127.0.0.1:PORT in directory DIR (made afresh): up.sh DIR [PORT, default 25055].
# Ready in about 2 s; prints its URL. DIR/env.sh sets what a client needs: keys, region, AWS_ENDPOINT_URL. MOTO is where build.sh put the
# virtual environment, SEED another seed file. Exit 4: it did not become ready.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?directory}; port=${2:-25055}; python=${MOTO:-$HOME/.cache/karst-moto}/venv/bin/python; seed=${SEED:-$here/moto/seed.json}
[ ! -e "$dir" ] || "$here/down.sh" "$dir"
rm -rf "$dir"; mkdir -p "$dir"; cd "$dir"
PYTHONDONTWRITEBYTECODE=1 "$python" "$here/moto/server.py" "$port" "$seed" > moto.log 2>&1 < /dev/null & echo $! > moto.pid
cat > env.sh <<ENV
for name in \$(compgen -e AWS_); do unset "\$name"; done
export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=AKIATEST AWS_SECRET_ACCESS_KEY=canary-secret HOME=$PWD
ENV
for attempt in $(seq 240); do
  curl -sf "http://127.0.0.1:$port/karst/calls" > /dev/null && break
  kill -0 "$(cat moto.pid)" 2> /dev/null || { tail -5 moto.log >&2; echo "up.sh: the server ended, see $PWD/moto.log" >&2; exit 4; }
  [ "$attempt" -lt 240 ] || { echo "up.sh: the server is not ready after 60 s, see $PWD/moto.log" >&2; exit 4; }
  sleep 0.25
done
echo "http://127.0.0.1:$port"
