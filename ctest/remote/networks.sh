# Sourced: ctest/remote/network.c for each API. build_networks DIR builds DIR/network_API and what writes NNAPI's
# calls; network_models DIR MODEL... has the files NAME.onnx and NAME.nnapi in DIR, and in DIR/API.NAME the outputs
# that the CPU computes for 16 inputs, of a network of codes, NAME_qdq, for 4.
apis=(ohnn rknn hbdnn hbucp nnapi)
build_networks() {
  local flags=(-std=c11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude -Ictest -Ictest/remote -Ibench/anynpu) api
  declare -A libraries=([ohnn]="-lneural_network_core -lneural_network_runtime" [rknn]=-lrknnrt [hbdnn]=-ldnn
    [hbucp]="-lhbucp -ldnn" [nnapi]=-lneuralnetworks)
  for api in "${apis[@]}"; do
    local header=$api more=
    [ "$api" != hbucp ] || header=hbdnn more=-DUCP
    # shellcheck disable=SC2086 # lists
    gcc "${flags[@]}" "-DAPI=\"$header.h\"" $more ctest/remote/network.c -o "$1/network_$api" -L"$lib" \
      -Wl,-rpath,"$lib" ${libraries[$api]} -lanynpu -lpthread -lm
  done
  CGO_ENABLED=0 go build -o "$1/nnapicalls" ./cmd/nnapicalls
}
plain_digits() { # FILE: the digits without what has inputs be images, and with 1 for the open dimension
  python3 - examples/digits/digits.onnx "$1" << 'PY'
import sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(data.replace(b"\n\3\x12\1N", b"\n\3\x08\x81\0"))  # 81 00 is a 1 of two bytes
PY
}
# Engines round codes within a network otherwise: of 16 inputs, one had a result that is one code apart, as those of
# ONNX Runtime are with and without its optimizations. The first 4 have none.
network_inputs() { # NAME
  [[ $1 = *_qdq ]] && echo 4 || echo 16
}
network_file() { # API FILE: the file that the API's program loads
  [ "$1" = nnapi ] && echo "${2%.onnx}.nnapi" || echo "$2"
}
network_models() { # DIR MODEL...
  local dir=$1 model name api
  shift
  for model in "$@"; do
    name=$(basename "$model" .onnx)
    cp "$model" "$dir/$name.onnx"
    "$dir/nnapicalls" "$dir/$name.onnx" "$dir/$name.nnapi"
    for api in "${apis[@]}"; do
      # NNAPI's operators of codes round otherwise than ONNX's, which the server computes.
      [[ $api = nnapi && $name = *_qdq ]] && { cp "$dir/ohnn.$name" "$dir/nnapi.$name"; continue; }
      ANYNPU_LOG_FILE=/dev/null ANYNPU_DRIVERS=$dir/none "$dir/network_$api" write \
        "$(network_file $api "$dir/$name.onnx")" "$dir/$api.$name" "$(network_inputs "$name")" > /dev/null
    done
  done
}
network_cells() { # DIR NAME COLUMN...: every API beside every server, COLUMN being SERVER=ADDRESS
  # With upload, a manifest's value of that key, servers are sent what they lack; sent counts how often.
  local dir=$1 name=$2 api column line count=0 who model=$2
  [ -z "${upload:-}" ] || model=
  shift 2
  for api in "${apis[@]}"; do
    for column in "$@"; do
      remote_manifest "$dir/${column%%=*}/remote.json" "$model" \
        ", \"fallback\": \"off\", \"deadline_ms\": 60000${upload:+, \"upload\": $upload}" "${column#*=}"
      : > "$dir/log"
      line=$(ANYNPU_LOG=info ANYNPU_LOG_FILE=$dir/log ANYNPU_DRIVERS=$dir/${column%%=*} timeout 300 \
        "$dir/network_$api" check "$(network_file $api "$dir/$name.onnx")" "$dir/$api.$name" \
        "$(network_inputs "$name")") || {
        echo "$line"
        grep -v ' placed node=' "$dir/log"
        echo "$name, $api beside ${column%%=*}: not as computed here"
        return 1
      }
      who=$(remote_who "$dir")
      # Two nodes may stay here: those that decode the input's codes and encode the output's.
      printf '%s\n' "$line" | grep -q ' apart by ' || return 1
      [[ "$who" =~ 'remote:test: '[0-9]{2,} && ! "$who" =~ 'cpu: '([3-9]|[0-9]{2,}) ]] || {
        cat "$dir/log"
        echo "$name, $api beside ${column%%=*}: computed by $who"
        return 1
      }
      sent=$((${sent:-0} + $(grep -c remote-model-leaves "$dir/log" || true)))
      printf '%-20s %-6s %-12s %s; %s\n' "$name" "$api" "${column%%=*}" "$line" "$who"
      count=$((count + 1))
    done
  done
  echo "$name: $count of $((${#apis[@]} * $#)) cells, as computed here"
}
crowd() { # DIR API NAME RUNS KILL...: DIR/crowd gets the last line; the command KILL is run when a quarter is done
  local dir=$1 api=$2 name=$3 runs=$4 pid line
  shift 4
  rm -f "$dir/pipe"
  mkfifo "$dir/pipe"
  ANYNPU_LOG_FILE=$dir/log ANYNPU_DRIVERS=$dir/crowd.d timeout 300 "$dir/network_$api" crowd \
    "$(network_file "$api" "$dir/$name.onnx")" "$dir/$api.$name" "$(network_inputs "$name")" 16 "$runs" > "$dir/pipe" &
  pid=$!
  exec 7< "$dir/pipe"
  read -r line <&7 || true
  [ "$line" = quarter ] && "$@"
  cat <&7 > "$dir/crowd"
  exec 7<&-
  wait "$pid" || { echo "$line"; cat "$dir/crowd" "$dir/log"; echo "$api: the program failed"; return 1; }
}
state_of() { # PID: descriptors, threads, and KB of memory that it has written
  echo "$(find "/proc/$1/fd" -mindepth 1 | wc -l) $(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)" \
    "$(awk '/^Private_Dirty/ { n += $2 } END { print n }' "/proc/$1/smaps_rollup")"
}
helper_of() { # DIR: the program that speaks with servers for the process whose log is DIR/log
  local file
  for file in /proc/[0-9]*/comm; do
    [ "$(cat "$file" 2> /dev/null)" = anynpu-remote ] || continue
    ! { tr '\0' '\n' < "${file%comm}environ"; } 2> /dev/null | grep -qx "ANYNPU_LOG_FILE=$1/log" || basename "${file%/comm}"
  done
}
cycles() { # DIR API NAME CYCLES: loads, runs and unloads a model so often, beside the servers of DIR/cycles.d
  local dir=$1 api=$2 name=$3 all=$4 pid line who before after i
  : > "$dir/log"
  coproc HOST { ANYNPU_LOG_FILE=$dir/log ANYNPU_DRIVERS=$dir/cycles.d exec "$dir/network_$api" cycles \
    "$(network_file "$api" "$dir/$name.onnx")" "$dir/$api.$name" "$(network_inputs "$name")" "$all"; }
  pid=$HOST_PID
  for i in 1 2; do
    read -r line <&"${HOST[0]}" || line=nothing
    [ "$line" = settled ] || [ "$line" = ended ] || { echo "$line"; cat "$dir/log"; return 1; }
    who=$(helper_of "$dir")
    [ -n "$who" ] || { echo "$api: no program speaks with servers"; return 1; }
    after="$(state_of "$pid") $(state_of "$who")"
    [ "$i" = 2 ] || before=$after
    echo >&"${HOST[1]}"
  done
  wait "$pid" || { echo "$api: the program failed"; return 1; }
  # shellcheck disable=SC2086 # six numbers each
  set -- $before $after
  echo "$api, $all cycles: descriptors $1 $7, threads $2 $8, KB $3 $9; of the helper $4 ${10}, $5 ${11}, ${6} ${12}"
  # Threads that wait for work come and go, and so does memory of Go's; 500 pages would be 2000 KB.
  [ "$1 $4" = "$7 ${10}" ] && [ "$8" -le $(($2 + 3)) ] && [ "${11}" -le $(($5 + 3)) ] &&
    [ "$9" -le $(($3 + 1800)) ] && [ "${12}" -le $(($6 + 1800)) ]
}
crowd_whole() { # DIR DEADLINE: all runs were right, and none took longer
  grep -q '^\([0-9]*\) of \1 right,.* ms$' "$1/crowd" && [ "$(crowd_longest "$1")" -le "$2" ]
}
crowd_longest() { sed -n 's/.*longest run took \([0-9]*\) ms.*/\1/p' "$1/crowd"; }
