#!/usr/bin/env bash
# Ends what up.sh started in directory $1, by its process ids, and waits until they are gone (10 s, then kill -9).
set -u
dir=${1:?directory}
for name in kwok controller-manager scheduler apiserver etcd; do
  [ -f "$dir/$name.pid" ] || continue
  pid=$(cat "$dir/$name.pid")
  # The id may belong to somebody else by now: only a process that runs in this directory is ours.
  if [ "$(readlink "/proc/$pid/cwd" 2> /dev/null)" = "$(cd "$dir" && pwd)" ]; then
    kill "$pid" 2> /dev/null
    for _ in $(seq 100); do kill -0 "$pid" 2> /dev/null || break; sleep 0.1; done
    kill -9 "$pid" 2> /dev/null
  fi
  rm -f "$dir/$name.pid"
done
exit 0
