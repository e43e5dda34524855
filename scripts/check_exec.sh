#!/usr/bin/env bash
# `anynpu exec` on every kind of program: its result, or a sentence that says why not and what to type. Exit codes are
# those of shells, signals reach the program. A library of the vendor's stands where the loader looks first without
# exec. Reports are those of docs/report.md.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
root=$PWD dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "check_exec: $*"; exit 1; }
make --no-print-directory libs "${BUILD:-build}"/{bin/anynpu,lib/anynpu-devices} examples > /dev/null
scripts/install.sh "$dir/opt" 0.0 lib include
anynpu=$dir/opt/bin/anynpu stubs=$dir/opt/lib/anynpu
unset LD_PRELOAD
export ANYNPU_LOG_FILE=/dev/null
cd "$dir"
mkdir vendor
cat > vendor.c << 'EOF'
int rknn_init(void *c, void *m, unsigned n, unsigned f, void *e) { return c || m || n || f || e ? -99 : -99; }
EOF
gcc -shared -fPIC -o vendor/librknnrt.so vendor.c -Wl,-soname,librknnrt.so
# Says who answers: AnyNPU refuses NULL with RKNN_ERR_PARAM_INVALID, the stand-in everything with -99.
cat > who.c << 'EOF'
#include <stdio.h>
#include <stdlib.h>
int rknn_init(void *, void *, unsigned, unsigned, void *);
int main(int argc, char **argv)
{
	puts(rknn_init(0, 0, 0, 0, 0) == -99 ? "vendor" : "AnyNPU");
	return argc > 1 ? atoi(argv[1]) : 0;
}
EOF
gcc who.c -o dynamic -Lvendor -lrknnrt
gcc who.c -o rpath -Lvendor -lrknnrt -Wl,--disable-new-dtags,-rpath,"$dir/vendor"
gcc who.c -o runpath -Lvendor -lrknnrt -Wl,--enable-new-dtags,-rpath,"$dir/vendor"
cat > static.c << 'EOF'
#include <stdio.h>
int main(void)
{
	return puts("static") < 0;
}
EOF
gcc -static static.c -o static
cat > forks.c << 'EOF'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int status = 1;
	if (fork() == 0) {
		execl("./dynamic", "./dynamic", "5", (char *)0);
		_exit(99);
	}
	wait(&status);
	return WEXITSTATUS(status);
}
EOF
gcc forks.c -o forks
printf '#!/bin/sh\n./dynamic\nexit 9\n' > script
printf '#!/usr/bin/env sh\n./dynamic\n' > envscript
printf '#!/no/such/shell\n' > lost
echo './dynamic' > text
chmod +x script envscript lost text
cp dynamic '32bit' && printf '\x01' | dd of='32bit' bs=1 seek=4 conv=notrunc status=none # ELFCLASS32
case $(uname -m) in x86_64) other=arm64 code='\xb7' ;; *) other=x86_64 code='\x3e' ;; esac
cp dynamic foreign && printf "$code" | dd of=foreign bs=1 seek=18 conv=notrunc status=none # e_machine
cp dynamic plain && chmod -x plain
mkdir folder

# want CODE TEXT ARGS...: exec with the arguments ends with the code, and what is printed has the text
want() {
  local code=$1 text=$2 got=0; shift 2
  LD_LIBRARY_PATH=$dir/vendor "$anynpu" exec "$@" > out 2>&1 || got=$?
  [ "$got" = "$code" ] || { cat out; fail "exec $*: exit code $got, want $code"; }
  grep -qF -- "$text" out || { cat out; fail "exec $*: want \"$text\""; }
}
[ "$(LD_LIBRARY_PATH=$dir/vendor ./dynamic)" = vendor ] || fail "the stand-in is not found without exec"
want 0 AnyNPU -- ./dynamic
want 3 AnyNPU ./dynamic 3
PATH=$dir:$PATH want 4 AnyNPU -- dynamic 4
want 0 AnyNPU --api rknn -- ./dynamic
want 0 vendor --api ohnn -- ./dynamic
want 0 static -- ./static
want 0 'is linked statically and loads no library' -- ./static
want 126 "its RPATH leads to $dir/vendor/librknnrt.so and comes before LD_LIBRARY_PATH; type: anynpu exec --api rknn -- ./rpath" -- ./rpath
want 126 'patchelf --remove-rpath ./rpath' -- ./rpath
want 0 AnyNPU --api rknn -- ./rpath
want 0 AnyNPU -- ./runpath
want 9 AnyNPU -- ./script
want 0 AnyNPU -- ./envscript
want 127 'its interpreter /no/such/shell cannot be run' -- ./lost
want 126 'anynpu exec -- sh ./text' -- ./text
want 126 'is a 32-bit program' -- ./32bit
want 126 "is a program for $other" -- ./foreign
want 127 'there is no such file' -- ./nothing
want 127 'not found in PATH' -- no-such-program
want 126 'is a folder, not a program' -- ./folder
want 126 'is not executable; type: chmod +x ./plain' -- ./plain
want 5 AnyNPU -- ./forks
want 2 'no API "cuda"' --api cuda -- ./dynamic
want 2 'want the program to run'
kinds=11
if [ "$(id -u)" = 0 ]; then
  cp dynamic setid && chown 65534 setid && chmod u+s setid
  want 126 'gets rights that you lack' -- ./setid
  kinds=12
else
  echo "SKIP: set-id: only root can give a program to another user"
fi

# Not beside the libraries: exec itself fails.
cp "$anynpu" alone
got=0
./alone exec -- ./dynamic > out 2>&1 || got=$?
[ "$got" = 125 ] && grep -q "libraries are not beside this tool" out ||
  { cat out; fail "a tool alone: exit code $got"; }

# The log of the program, and signals.
ANYNPU_LOG_FILE='' LD_LIBRARY_PATH='' "$anynpu" exec --log rknn=trace -- ./dynamic > out 2>&1
grep -q 'rknn_init(' out || { cat out; fail "--log"; }
"$anynpu" exec -- sleep 600 &
child=$!
for _ in $(seq 100); do
  if [ "$(cat /proc/$child/comm)" = sleep ]; then break; fi
  sleep 0.1
done
kill -TERM $child
got=0
wait $child || got=$?
[ "$got" = 143 ] || fail "a program that SIGTERM ends: exit code $got"

# Reports: the texts of docs/report.md, whose times, sizes of memory and spaces count for nothing.
plain() { sed -E 's/[0-9.]+ (ms|s|MiB|%)/N \1/g; s/ +/ /g; s/ $//' "$@"; }
cp -r "$root/examples/digits/." .
report() { # PROGRAM MODEL LIBRARY
  gcc -I"$dir/opt/include/anynpu" "$root/examples/$1.c" -o "$1" -L"$stubs" "-l$3" -lm
  "$anynpu" exec --report -- "./$1" "$2" images/*.pgm > out 2> said || { cat out said; fail "exec --report -- $1"; }
  grep -qF '59 of 60 right' out || { cat out; fail "exec --report -- $1: its output"; }
  awk -v first="Report of ./$1 " '/^```/ {on = 0} index($0, first) == 1 {on = 1} on' "$root/docs/report.md" > written
  diff <(plain written) <(plain said) || fail "docs/report.md has another report of $1"
}
report rknn_digits digits.onnx rknnrt
report hbdnn_digits digits.onnx dnn
report ohnn_digits digits.weights neural_network_core
report nnapi_digits digits.weights neuralnetworks

# Calls that are passed straight to a driver are counted too, and those that it refuses.
sed '/^#/d; s/.*/int &(void) { return -99; }/' "$root/capi/stub/zlibrknnrt.symbols" > driver.c
gcc -shared -fPIC driver.c -o driver.so
cat > queries.c << 'EOF'
int rknn_query(unsigned long, int, void *, unsigned);
int main(void)
{
	for (int i = 0; i < 4; i++)
		if (rknn_query(77, 0, 0, 0) != -99)
			return 1;
	return 0;
}
EOF
gcc queries.c -o queries -L"$stubs" -lrknnrt
ANYNPU_RKNN=driver ANYNPU_DRIVER_RKNN=$dir/driver.so want 0 'rknn_query  4      4' --report -- ./queries

# Every API of a driver that refuses all: a code that is no success, and NULL for a pointer; no code is no refusal.
refusing() { # API LIBRARY STUB FUNCTION RESULT REFUSED
  sed '/^#/d; /^hbDNNGetVersion$/d; s/.*/long &(void) { return '"$5"'; }/' "$root/capi/stub/z$3.symbols" > driver.c
  echo 'const char *hbDNNGetVersion(void) { return "1.23.0"; }' >> driver.c
  gcc -shared -fPIC driver.c -o driver.so
  printf 'long %s();\nint main(void) { for (int i = 0; i < 3; i++) %s(77L, 0L, 0L, 0L); return 0; }\n' "$4" "$4" > \
    "$4.c"
  gcc -std=gnu11 "$4.c" -o calls -L"$stubs" "-l$2"
  env "ANYNPU_$1=driver" "ANYNPU_DRIVER_$1=$dir/driver.so" "$anynpu" exec --report -- ./calls > out 2>&1 ||
    { cat out; fail "$4"; }
  grep -qE "$4 +3 +$6( |\$)" out || { cat out; fail "$4: want $6 of 3 calls refused"; }
}
refusing RKNN rknnrt librknnrt rknn_create_mem 0 3
refusing RKNN rknnrt librknnrt rknn_run -6 3
refusing RKNN rknnrt librknnrt rknn_run 0 0
refusing HBDNN dnn libdnn hbSysAllocMem -6000130 3
refusing HBDNN dnn libdnn hbDNNConvertLayoutRoi -6000001 3
refusing OHNN neural_network_core libneural_network_core OH_NNTensor_GetSize 3 3
refusing OHNN neural_network_core libneural_network_core OH_NNTensor_GetDataBuffer 0 3
refusing OHNN neural_network_core libneural_network_core OH_NNTensor_GetDataBuffer 8 0
refusing NNAPI neuralnetworks libneuralnetworks ANeuralNetworksEvent_wait 4 3
refusing NNAPI neuralnetworks libneuralnetworks ANeuralNetworks_getDefaultLoopTimeout 5 0

# This library's own answers: an ordinary one with a code, NULL, and what is no handle.
cat > answers.c << 'EOF'
#include <neural_network_runtime/neural_network_runtime.h>
int main(void)
{
	const int32_t open[] = {-1};
	size_t n = 0;
	NN_TensorDesc *d = OH_NNTensorDesc_Create();
	OH_NNTensorDesc_SetShape(d, open, 1);
	OH_NNTensorDesc_SetShape(d, NULL, 1);
	OH_NNTensorDesc_SetShape((NN_TensorDesc *)&n, open, 1);
	return OH_NNTensorDesc_GetElementCount(d, &n) == OH_NN_SUCCESS || OH_NNTensor_Create(0, d) != NULL;
}
EOF
gcc -I"$root/include" answers.c -o answers -L"$stubs" -lneural_network_core
want 0 'OH_NNTensorDesc_SetShape         3      2' --report -- ./answers
for line in 'OH_NNTensorDesc_GetElementCount +1 +1' 'OH_NNTensor_Create +1 +1' 'OH_NNTensorDesc_Create +1 +0'; do
  grep -qE "$line( |\$)" out || { cat out; fail "want $line"; }
done

# A page that needs nothing from elsewhere; exit codes and signals with a report.
want 3 AnyNPU --report=page.html -- ./dynamic 3
grep -qE '<code>rknn_init</code></td><td class="n"[^>]*>1</td>' page.html ||
  { cat page.html; fail "the page has no rknn_init"; }
! grep -E '(src|href)=|url\(|@import' page.html || fail "the page refers to something"
want 0 'Process 2 of 2' --report -- sh -c './dynamic; ./dynamic'
want 0 'Nothing called AnyNPU' --report -- true
want 125 'no such file or directory' --report=none/report.txt -- ./dynamic
want 127 'there is no such file' --report -- ./nothing
cat > killed.c << 'EOF'
#include <signal.h>
int rknn_init(void *, void *, unsigned, unsigned, void *);
int main(void)
{
	for (int i = 0; i < 7; i++)
		rknn_init(0, 0, 0, 0, 0);
	return raise(SIGKILL);
}
EOF
gcc killed.c -o killed -Lvendor -lrknnrt
want 137 'ended by SIGKILL' --report -- ./killed
for text in 'rknn_init  7      7' ' (7 times)' 'not known: the process was ended by a signal'; do
  grep -qF "$text" out || { cat out; fail "the report of a program that was killed lacks \"$text\""; }
done
for signal in SEGV BUS ABRT FPE; do # for which Go would print a trace and exit with 2
  got=0
  "$anynpu" exec --report=died.txt -- sh -c "kill -$signal \$\$" > out 2>&1 || got=$?
  [ "$got" = "$((128 + $(kill -l $signal)))" ] && grep -qF "ended by SIG$signal" died.txt && ! grep -q goroutine out ||
    { cat died.txt out; fail "SIG$signal with a report: exit code $got"; }
done
# A program of hbDNN that crashes: the setting for older headers is named where neither its file nor the environment
# says which they are. It ends as without exec.
cat > crash.c << 'EOF'
#include <signal.h>
#include <stdlib.h>
struct hbDNNTensorProperties { char bytes[SIZE]; };
int hbDNNGetInputTensorProperties(struct hbDNNTensorProperties *, void *, int);
int main(int argc, char **argv)
{
	struct hbDNNTensorProperties p;
	hbDNNGetInputTensorProperties(&p, 0, 0);
	return argc > 1 && raise(atoi(argv[1]));
}
EOF
gcc -DSIZE=136 crash.c -o crash -L"$stubs" -ldnn
gcc -g -DSIZE=176 crash.c -o told -L"$stubs" -ldnn
hint='ANYNPU_HBDNN_ABI=1.14, then 1.12 [tool-exec-crashed-abi]'
silent() { # CODE ARGS...: exec ends with the code, and without the hint
  local code=$1 got=0; shift
  "$anynpu" exec "$@" > out 2>&1 || got=$?
  [ "$got" = "$code" ] || { cat out; fail "exec $*: exit code $got, want $code"; }
  ! grep -qF crashed-abi out || { cat out; fail "exec $*: a hint that is none"; }
}
want 139 "$hint" -- ./crash 11
want 134 "$hint" -- ./crash 6
want 139 "$hint" --report -- ./crash 11
want 139 "$hint" --report -- sh -c './crash 11; kill -SEGV $$'
silent 143 -- ./crash 15
silent 0 -- ./crash
silent 139 -- ./told 11
ANYNPU_HBDNN_ABI=1.12 silent 139 -- ./crash 11
silent 139 -- sh -c 'kill -SEGV $$'
# A disk that is full: the program runs, and the record goes elsewhere.
if unshare -rm true 2> /dev/null; then
  cat > full << 'EOF2'
#!/bin/sh
mkdir -p full_disk && mount -t tmpfs -o size=64k tmpfs full_disk || exit 77
dd if=/dev/zero of=full_disk/filler bs=1k 2> /dev/null
TMPDIR=$PWD/full_disk "$1" exec --report -- ./dynamic 3 > out 2>&1
got=$?
[ $got = 3 ] && grep -q '^Report of ./dynamic' out && grep -q AnyNPU out || exit 1
"$1" exec --report=full_disk/report.txt -- ./dynamic 3 > out 2>&1
got=$?
[ $got = 3 ] && grep -q AnyNPU out && grep -q 'the report could not be written: .*no space left' out
EOF2
  chmod +x full
  got=0
  unshare -rm ./full "$anynpu" || got=$?
  [ $got = 0 ] || [ $got = 77 ] || { cat out; fail "a report on a disk that is full: exit code $got"; }
fi
"$anynpu" exec --report=late.txt -- sleep 600 &
child=$!
for _ in $(seq 100); do
  if [ -n "$(cat /proc/$child/task/*/children)" ]; then break; fi
  sleep 0.1
done
kill -TERM $child
got=0
wait $child || got=$?
[ "$got" = 143 ] && grep -qF 'ended by SIGTERM' late.txt ||
  { cat late.txt; fail "SIGTERM with a report: exit code $got"; }
! compgen -G "$stubs/*.new-*" > /dev/null || fail "left behind: $stubs"
echo "exec: $kinds of 12 kinds of program: result or sentence; exit codes and signals are the program's"
