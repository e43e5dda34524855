#!/usr/bin/env bash
# usage: check.sh [BASE]
# What a change needs before it is shown to others, in about two minutes: format, vet, the Go tests that the change
# reaches (go test caches the others), generated files whose sources changed, and the conformance suites of the APIs
# that it touches. The change is all that differs from where the branch left BASE, by default main, uncommitted and
# untracked files included.
set -uo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
base=$(git merge-base HEAD "${1:-main}" 2>/dev/null) ||
  { echo "check.sh: no commit \"${1:-main}\": want a branch, a tag or a commit"; exit 2; }
changed=$({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u)
failed=0 table=()

# step NAME COMMAND... runs one step and notes its seconds.
step() {
  local name=$1 start=$SECONDS result=ok
  shift
  echo "--- $name: $(cut -c 1-200 <<< "$*")"
  "$@" || { result=FAILED; failed=1; }
  table+=("$(printf '%-12s %4d s  %s' "$name" $((SECONDS - start)) "$result")")
}

# touches PATTERN tells whether a changed file's name matches the extended regular expression.
touches() { grep -qE "$1" <<< "$changed"; }

format() {
  local files
  files=$(grep '\.go$' <<< "$changed" | while read -r f; do [ ! -f "$f" ] || echo "$f"; done)
  [ -n "$files" ] || return 0
  files=$(xargs "$("$GO" env GOROOT)/bin/gofmt" -l <<< "$files") || return 1
  [ -z "$files" ] || { echo "not as gofmt has it:"; echo "$files"; return 1; }
}

step format format
step vet "$GO" vet ./...
# Some Go tests judge the built library.
if touches '^(core|backends|capi|conformance)/'; then step libraries make --no-print-directory libs; fi
# conformance/strangers judges the suites with libraries of others, for a minute, and opens this one, too: it would run
# after every change.
packages=(./...)
touches '^conformance/' || mapfile -t packages < <("$GO" list ./... | grep -v '/conformance/strangers$')
step go "$GO" test -vet=off "${packages[@]}"
if touches '^(capi/abi|capi/stub|backends/cpu/kernel|ctest/bombs|core/format/rknn|core/spec/nnapi|conformance/names|conformance/statements|scripts/picture|docs/layers|docs/operators|core/op|backends/(driver|ohnn|nnapi|hbdnn|hbucp|rknn)|ctest/drivers)|/statements\.txt$|/z[^/]*$'; then
  step generated scripts/check_generated.sh
fi
apis=()
for api in ohnn rknn hbdnn hbucp nnapi; do
  if touches "^(capi|conformance|backends|core/spec)/$api/"; then apis+=("$api"); fi
done
if [ ${#apis[@]} -gt 0 ] || touches '^(core|backends|capi)/'; then
  for api in "${apis[@]}"; do
    step "$api" "$GO" run ./conformance/cmd/conformance all --api "$api"
  done
  # What all APIs rest on is checked by whole networks; make test has every suite.
  if [ ${#apis[@]} -eq 0 ]; then step networks "$GO" run ./conformance/cmd/conformance ohnn networks; fi
fi
echo "--- seconds per step"
printf '%s\n' "${table[@]}"
printf '%-12s %4d s\n' total $SECONDS
exit $failed
