#!/usr/bin/env bash
# Fails if a test host in this folder, facade/ or drivers/ does not end with the check of host_end.h. The generated
# zprototypes_*.c call nothing of the library.
set -euo pipefail
cd "$(dirname "$0")"
without=$(grep -lE '^(int )?main\(' ./*.c ./*.cc facade/*.c drivers/*.c | grep -v '/zprototypes_' | xargs grep -LE '\b(host|misuse)_end\(\)' || true)
[ -z "$without" ] || { echo "no host_end() in: $without"; exit 1; }
