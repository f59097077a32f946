#!/usr/bin/env bash
# Ends the server that up.sh started in directory $1, by its process id, and waits until it is gone (10 s, then kill -9).
set -u
dir=${1:?directory}
[ -f "$dir/moto.pid" ] || exit 0
pid=$(cat "$dir/moto.pid")
# The id may belong to somebody else by now: only a process that runs in this directory is ours.
if [ "$(readlink "/proc/$pid/cwd" 2> /dev/null)" = "$(cd "$dir" && pwd)" ]; then
  kill "$pid" 2> /dev/null
  for _ in $(seq 100); do kill -0 "$pid" 2> /dev/null || break; sleep 0.1; done
  kill -9 "$pid" 2> /dev/null
fi
rm -f "$dir/moto.pid"
exit 0
