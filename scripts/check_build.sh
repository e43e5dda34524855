#!/usr/bin/env bash
# What a machine or a checkout may be like: tools missing or too old, no git or one that refuses the checkout (as it
# does when another user owns it), spaces in its path, a strict umask, a build folder elsewhere. Commands that must not
# do their work are replaced by ones that write down how they were called.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
unset BUILD GOFLAGS
dir=$(mktemp -d)
trap 'cd / && rm -rf "$dir"' EXIT
fail() { echo "check_build: $*"; exit 1; }
has() { grep -qF -- "$2" "$1" || { cat "$1"; fail "want \"$2\""; }; }

# stub FOLDER NAME TEXT: a command with that text
stub() {
  mkdir -p "$dir/$1"
  printf '#!/usr/bin/env bash\n%s\n' "$3" > "$dir/$1/$2"
  chmod +x "$dir/$1/$2"
}

# need.sh: what it installs as root, what it says as another user, and what counts as missing.
stub root id 'echo 0'
stub root apt-get 'echo "$*" >> '"'$dir/apt'"
stub user id 'echo 1000'
PATH=$dir/root:$PATH scripts/need.sh no-such-compiler:g++,libc6-dev 'ls /no/such/file:coreutils' 'ls /:nothing' \
  '?no-such-tool:tool' > /dev/null
has "$dir/apt" 'install -y -qq --no-install-recommends g++ libc6-dev coreutils tool'
! PATH=$dir/user:$PATH scripts/need.sh no-such-compiler:g++,libc6-dev '?no-such-tool:tool' > "$dir/out" ||
  fail "need.sh goes on without a compiler"
has "$dir/out" 'missing: no-such-compiler (Debian packages: g++ libc6-dev tool)'
has "$dir/out" 'its tests are left out: no-such-tool'
PATH=$dir/user:$PATH scripts/need.sh '?no-such-tool:tool' > /dev/null ||
  fail "need.sh stops without a tool that is only wanted"

# need_go.sh: versions. An old Go cannot read go.mod and fails.
want=$(sed -n 's/^go //p' go.mod)
for version in "go$want" go1.99.1 "go1.99rc1 X:experiment"; do
  stub go go "echo '$version'"
  scripts/need_go.sh "$dir/go/go" || fail "$version is refused"
done
stub go go '[ "$1" = version ] && echo "go version go1.19.8 linux/amd64"'
! scripts/need_go.sh "$dir/go/go" > "$dir/out" || fail "Go 1.19 is accepted"
has "$dir/out" "Go 1.19.8 is too old: $want or later is needed"
! scripts/need_go.sh "$dir/no-go" > "$dir/out" || fail "no Go is accepted"
has "$dir/out" "missing: Go $want or later"

# suite.sh: names of suites.
code=0
scripts/suite.sh test no-such-suite > "$dir/out" || code=$?
[ $code = 2 ] || fail "a suite that is not there: exit code $code"
has "$dir/out" 'SUITES has "no-such-suite": want some of race '

# A checkout with a space in its path that git refuses, built under a strict umask.
tree="$dir/a checkout"
mkdir -p "$tree/.git"
find . -mindepth 1 -maxdepth 1 ! -name '.?*' ! -name build -exec cp -r {} "$tree/" \;
stub git git 'echo "fatal: detected dubious ownership" >&2; exit 128'
export PATH=$dir/git:$PATH
cd "$tree"
for target in all examples; do
  # As a user: root would ask Debian for packages.
  ! PATH=$dir/user:$PATH make "$target" CC=no-such-compiler > "$dir/out" 2>&1 ||
    fail "make $target goes on without a compiler"
  has "$dir/out" 'missing: no-such-compiler'
  ! make "$target" GO="$dir/go/go" > "$dir/out" 2>&1 || fail "make $target goes on with an old Go"
  has "$dir/out" 'Go 1.19.8 is too old'
done
umask 077
make all examples > "$dir/out" 2>&1 || { cat "$dir/out"; fail "make"; }
[ "$(build/examples/ohnn_first)" = "11 22 33 44" ] || fail "ohnn_first"
build/bin/anynpu inspect examples/digits/digits.onnx > /dev/null
cmake -S . -B build/cmake -DANYNPU_BUILD="$tree/build" > "$dir/out" 2>&1 || { cat "$dir/out"; fail "cmake"; }
cmake --build build/cmake --target link_core > "$dir/out" 2>&1 || { cat "$dir/out"; fail "cmake --build"; }
ctest --test-dir build/cmake -R '^link_core$' > "$dir/out" 2>&1 || { cat "$dir/out"; fail "ctest"; }
make install DESTDIR="$dir/a root" PREFIX=/usr > "$dir/out" 2>&1 || { cat "$dir/out"; fail "make install"; }
unreadable=$(find "$dir/a root" -mindepth 1 \( ! -perm -o=r -o -type d ! -perm -o=x \))
[ -z "$unreadable" ] || fail "installed for its owner only: $unreadable"

# lint and fuzz, with a Go that writes down its arguments.
stub log go '[ "$*" = "env GOROOT" ] && exec '"'$(command -v go)'"' "$@"; echo "BUILD=${BUILD:-} GOFLAGS=${GOFLAGS:-} $*" >> '"'$dir/log.txt'"
printf 'package cpu\nvar  x int\n' > backends/cpu/zzz.go
! timeout 60 make lint GO="$dir/log/go" > "$dir/out" 2>&1 < /dev/null ||
  fail "lint takes a file that gofmt would change"
has "$dir/out" backends/cpu/zzz.go
rm backends/cpu/zzz.go
printf '#!/bin/sh\necho columns >> "%s/log.txt"\n' "$dir" > scripts/columns.sh
timeout 60 make lint GO="$dir/log/go" > "$dir/out" 2>&1 < /dev/null || { cat "$dir/out"; fail "lint"; }
has "$dir/log.txt" columns
PATH=$dir/log:$PATH scripts/fuzz.sh 1s core/op > /dev/null
has "$dir/log.txt" "-fuzz ^FuzzInfer\$ -fuzztime 1s"

# A build folder elsewhere.
! make BUILD='a b' > "$dir/out" 2>&1 || fail "a build folder with a space"
has "$dir/out" 'want a folder without spaces'
elsewhere=$dir/elsewhere
mkdir -p "$elsewhere/lib"
touch "$elsewhere/lib/libneural_network_core.so"
stub log cmake 'echo "cmake $*" >> '"'$dir/log.txt'"
stub log ctest 'echo "ctest $*" >> '"'$dir/log.txt'; echo '1 tests passed'"
stub log make 'echo "make BUILD=$BUILD $*" >> '"'$dir/log.txt'"
export PATH=$dir/log:$PATH
BUILD=$elsewhere scripts/ctest.sh > /dev/null
has "$dir/log.txt" "cmake -S . -B $elsewhere/cmake -DANYNPU_BUILD=$elsewhere"
! BUILD=$elsewhere scripts/conformance.sh > /dev/null 2>&1 || fail "an empty table of operators is up to date"
has "$dir/log.txt" "make BUILD=$elsewhere --no-print-directory conformance"
has "$dir/log.txt" "generate operators --library $elsewhere/lib/libneural_network_core.so"
! grep -vE 'buildvcs=false| env GO' "$dir/log.txt" | grep '^BUILD=' || fail "Go without -buildvcs=false"
echo "missing tools are named; odd checkouts and build folders work"
