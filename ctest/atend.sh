#!/usr/bin/env bash
# usage: atend.sh ATEND-LIBRARY PROGRAM ARGS...
# Runs a program that does not check itself with atend.c preloaded: it fails if the program does, or leaves something
# behind.
set -euo pipefail
LD_PRELOAD=$1 exec "${@:2}"
