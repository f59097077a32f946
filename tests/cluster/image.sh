#!/usr/bin/env bash
# What deploy/image/Dockerfile promises, as far as it can be seen without building it: image.sh BUILD_DIR. The packages of its
# list are those that the program links against, no more and no fewer; and the program, alone with its libraries in a root that
# cannot be written, as uid 65532 and with /data as the one writable place, runs and verifies its log. Needs root for that part,
# else it is skipped. Prints a line per check and ends with "N passed, N failed[, N skipped]".
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
image=$(cd "$here/../../deploy/image" && pwd)
karst=$(cd "${1:?usage: image.sh BUILD_DIR}" && pwd)/karst
[ -x "$karst" ] || { echo "image.sh: there is no program $karst; build it first (tools/build)" >&2; exit 2; }
place=$(mktemp -d -t karst-image.XXXXXX); trap 'rm -rf "$place"' EXIT
passed=0; failed=0; skipped=0
check() {
  local what=$1 output; shift
  if output=$("$@" 2>&1); then passed=$((passed + 1)); echo "ok $what"
  else failed=$((failed + 1)); echo "not ok $what: $(tail -c 600 <<< "$output" | tr '\n' ' ')"; fi
}
libraries() { ldd "$karst" | awk '/=> \// { print $3 } /^\t\/lib/ { print $1 }'; }
linked_packages() {  # those of the libraries that the program itself names; libc and libgcc come with libstdc++
  local name
  for name in $(readelf -d "$karst" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    dpkg-query -S "*/$name" | cut -d: -f1
  done | grep -vE '^(libc6|lib32|libgcc-s1)' | sort -u
}
same_packages() { diff <(grep -v '^ca-certificates$' "$image/packages.txt" | sort -u) <(linked_packages); }
# Runs the program in the bare root; its arguments follow.
alone() {
  unshare --mount bash -euc '
    mount --bind "$0/bare" "$0/bare"; mount --bind "$0/data" "$0/bare/data"; mount -o remount,ro,bind "$0/bare"
    export TMPDIR=/data
    exec chroot --userspec=65532:65532 "$0/bare" /usr/local/bin/karst "$@"' "$place" "$@"
}
make_root() {
  mkdir -p "$place/bare/usr/local/bin" "$place/bare/data" "$place/data"; chmod 755 "$place"
  cp "$karst" "$place/bare/usr/local/bin/karst"
  local library; while read -r library; do install -D "$library" "$place/bare$library"; done < <(libraries)
  chown 0:65532 "$place/data"; chmod 2775 "$place/data"  # as Kubernetes gives a volume to its fsGroup
}
writes_elsewhere() { alone run --embedded --for 1s --listen 127.0.0.1:0 --data /elsewhere; }

check "the image's packages are those that the program links against" same_packages
check "the Dockerfile runs it as uid 65532" grep -qx 'USER 65532:65532' "$image/Dockerfile"
if [ "$(id -u)" = 0 ] && unshare --mount true 2> /dev/null; then
  make_root
  check "alone with its libraries it starts" alone version
  check "as uid 65532 on a read-only root it runs" alone run --embedded --speed 20 --for 3s --listen 127.0.0.1:0 --data /data/log
  check "its log verifies there" alone replay --verify --data /data/log
  check "it left something in /data" test -n "$(ls -A "$place/data")"
  if writes_elsewhere > "$place/elsewhere" 2>&1; then failed=$((failed + 1)); echo "not ok nothing but /data can be written"
  else check "nothing but /data can be written" grep -q 'cannot open /elsewhere' "$place/elsewhere"; fi
else
  skipped=5; echo "# skipped: to run the program in a bare, read-only root takes root"
fi
[ $skipped = 0 ] && echo "$passed passed, $failed failed" || echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
