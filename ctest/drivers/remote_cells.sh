# Sourced: programs of each API beside servers. cells DIR MODEL COLUMN... runs a row per program and a column per
# server, COLUMN being NAME=ADDRESS; all must find the digits that the CPU finds, and the log says who computed what.
# DIR is for files.
programs=(ohnn_digits rknn_digits hbdnn_digits hbucp_digits nnapi_digits)
images=(examples/digits/images/*.pgm)
remote_manifest() { # FILE MODEL MORE ADDRESS...
  local file=$1 model=$2 more=$3
  shift 3
  local list=
  for a in "$@"; do list="$list${list:+, }\"$a\""; done
  mkdir -p "$(dirname "$file")"
  chmod 755 "$(dirname "$file")"
  echo "{\"schema\": \"anynpu.remote/1\", \"name\": \"test\", \"model\": \"$model\"$more, \"addresses\": [$list]}" > "$file"
}
remote_run() { # DIR PROGRAM: writes DIR/digits
  local model=examples/digits/digits.onnx
  case $2 in ohnn_digits | nnapi_digits) model=examples/digits/digits.weights ;; esac
  : > "$1/log"
  timeout 300 "$build/examples/$2" "$model" "${images[@]}" > "$1/out" 2> "$1/errors" || return
  sed -n 's/^\([^:]*: [0-9], probability [0-9.]*\),.*/\1/p' "$1/out" > "$1/digits"
}
remote_who() { sed -n 's/.*placement="\([^"]*\)".*/\1/p' "$1/log" | tail -1; }
cells() { # DIR MODEL COLUMN...
  local dir=$1 model=$2 count=0 program column want
  shift 2
  export ANYNPU_LOG=info ANYNPU_LOG_FILE=$dir/log
  for program in "${programs[@]}"; do
    ANYNPU_DRIVERS=$dir/none remote_run "$dir" "$program" || return
    [ "$(wc -l < "$dir/digits")" = "${#images[@]}" ] || { echo "$program: not every image has a digit"; return 1; }
    mv "$dir/digits" "$dir/local"
    case $program in
      rknn_digits) want='(remote:test: 9), 0 fallbacks' ;;
      hbdnn_digits | hbucp_digits) want='(remote:test: 9, cpu: 1), 1 fallback' ;; # the image is decoded here
      *) want='(remote:test: 8), 0 fallbacks' ;;
    esac
    for column in "$@"; do
      remote_manifest "$dir/${column%%=*}/remote.json" "$model" ', "fallback": "off", "deadline_ms": 60000' \
        "${column#*=}"
      ANYNPU_DRIVERS=$dir/${column%%=*} remote_run "$dir" "$program" || {
        cat "$dir/out" "$dir/errors" "$dir/log"
        echo "$program beside ${column%%=*} failed"
        return 1
      }
      diff "$dir/local" "$dir/digits" || { echo "$program beside ${column%%=*}: other digits"; return 1; }
      [[ "$(remote_who "$dir")" == *"$want"* ]] || {
        cat "$dir/log"
        echo "$program beside ${column%%=*}: want $want, got $(remote_who "$dir")"
        return 1
      }
      printf '%-12s %-14s %s\n' "$program" "${column%%=*}" "$(remote_who "$dir")"
      count=$((count + 1))
    done
  done
  echo "$count of $((${#programs[@]} * $#)) cells, same digits"
}
