# Sourced by the scripts, as `. "$(dirname "$0")/settings.sh"`: goes to the repository's root and sets build, the
# absolute name of the folder that BUILD names, and lib. GOFLAGS are those of the Makefile, for scripts that are started
# without it.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(realpath -m -- "${BUILD:-build}") lib=$build/lib
goflags='-trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags=-w -tags=netgo,osusergo'
case " ${GOFLAGS:-} " in
  *" $goflags "*) ;;
  *) export GOFLAGS="${GOFLAGS:+$GOFLAGS }$goflags" ;;
esac
