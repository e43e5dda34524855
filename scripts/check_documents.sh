#!/usr/bin/env bash
# Runs every command line of README.md, CONTRIBUTING.md and docs/ that begins with make or anynpu, variables before it
# included: indented lines and what stands between backquotes. Those that scripts/document_commands names are not run,
# for the reasons given there; then the target or the verb must exist. anynpu runs in a folder with the repository's
# examples, so that its results leave nothing behind.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
make --no-print-directory all > /dev/null # anynpu, and what it opens drivers with
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
root=$PWD
fail() { echo "check_documents: $*"; exit 1; }
documents=(README.md CONTRIBUTING.md docs/*.md docs/extending/*.md)
start='([A-Z_]+=[^ ]* +)*(make|anynpu)'

# Comments of code lines begin after two spaces, with # or without.
{ grep -hE "^    $start( |\$)" "${documents[@]}" | sed -E 's/^ +//; s/  +[^ ].*//'
  grep -hoE "\`$start( [^\`]*)?\`" "${documents[@]}" | tr -d '`'; } | sed -E 's/ +$//' |
    awk '!seen[$0]++' > "$dir/commands"
# What the documents set for the lines below.
assignments=$(grep -hoE '^With `[^:]*:$' "${documents[@]}" | grep -oE '`[A-Z]+=[^`]*`' | tr -d '`')

grep -vE '^(#|$)' scripts/document_commands | sed -E 's/ +\| .*//' > "$dir/listed"
while IFS= read -r line; do
  grep -qxF -- "$line" "$dir/commands" || fail "scripts/document_commands names \"$line\", which is in no document"
done < "$dir/listed"
grep -E '^[^#|]+ \| *$' scripts/document_commands && fail "no reason is given"

ln -s "$root/examples" "$dir/examples"
export PATH=$build/bin:$PATH
ran=0 listed=0 targets=()
while IFS= read -r line <&3; do
  bare=$(sed -E 's/^([A-Z_]+=[^ ]* +)*//' <<< "$line")
  read -r program verb _ <<< "$bare"
  code=0
  if [ "$bare" = "anynpu $verb" ]; then # a mention
    anynpu "$verb" --help > "$dir/out" 2>&1 || fail "\"$line\": no such verb"
    continue
  fi
  if grep -qxF -- "$line" "$dir/listed"; then
    listed=$((listed + 1))
    if [ "$program" = make ]; then
      targets+=(${verb:+"$verb"})
    else
      [ "$verb" = VERB ] || anynpu "$verb" --help > "$dir/out" 2>&1 ||
        { tail -n 5 "$dir/out"; fail "\"$line\": no such verb"; }
    fi
    continue
  fi
  ran=$((ran + 1))
  if [ "$program" = make ]; then
    DESTDIR=$dir/root timeout 1800 bash -c "$line" > "$dir/out" 2>&1 < /dev/null || code=$?
  else
    (cd "$dir" && eval "$assignments" && eval "timeout 600 $line") > "$dir/out" 2>&1 < /dev/null || code=$?
    # Times that a busy machine makes unstable are no fault of the line.
    if [ "$code" = 6 ] && [[ $bare == 'anynpu bench'* ]]; then code=0; fi
  fi
  [ "$code" = 0 ] || { tail -n 20 "$dir/out"; fail "\"$line\": exit code $code"; }
done 3< "$dir/commands"
make -n "${targets[@]}" > "$dir/out" 2>&1 || { tail -n 5 "$dir/out"; fail "a target that is listed is not there"; }
[ "$ran" -gt 10 ] || fail "only $ran commands were found"

# The first program, as its page builds it.
first=$(sed -n 's/^    \(cc .*ohnn_first\.c .*\) -o first$/\1/p' docs/first_program.md)
[ -n "$first" ] || fail "docs/first_program.md builds no first program"
eval "${first//build\/lib/\"\$lib\"} -o \"\$dir/first\""
said=$(sed -n 's/^prints `\([0-9 ]*\)`\.$/\1/p' docs/first_program.md)
[ "$(LD_LIBRARY_PATH=$lib "$dir/first")" = "$said" ] || fail "the first program prints other than \"$said\""
echo "$ran command lines of the documents work, $listed are listed"
