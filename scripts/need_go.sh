#!/usr/bin/env bash
# usage: need_go.sh GO
# Fails with the reason unless the command GO is Go of the version in go.mod or a later one.
set -euo pipefail
cd "$(dirname "$0")/.."
go=$1
want=$(sed -n 's/^go //p' go.mod)
command -v "$go" > /dev/null || { echo "missing: Go $want or later, https://go.dev/dl"; exit 1; }
# A Go that may fetch a newer one does so in this folder; one that is too old cannot read go.mod.
have=$("$go" env GOVERSION 2> /dev/null || true)
[ -n "$have" ] || have=$(cd / && "$go" version | awk '{print $3}')
have=${have#go} have=${have%%[ -]*}
[ "$(printf '%s\n' "$want" "$have" | sort -V | head -n 1)" = "$want" ] ||
  { echo "Go $have is too old: $want or later is needed, https://go.dev/dl"; exit 1; }
