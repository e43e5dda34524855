#!/usr/bin/env bash
# usage: report_picture.sh PICTURE.svg
# Writes the report page of an example as a picture: an SVG file that holds the page itself. Times are those of this
# machine, so that the picture is written anew by hand when the page changes. `make` has built tool and examples.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
[ $# = 1 ] || { echo "usage: report_picture.sh PICTURE.svg" >&2; exit 2; }
width=920 height=1110
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
picture=$(realpath -m "$1")
cp -r "$build/examples/rknn_digits" examples/digits/digits.onnx* examples/digits/images "$dir/"
cd "$dir" # so that the page names no folder of this machine
"$build/bin/anynpu" exec --report=report.html -- ./rknn_digits digits.onnx images/*.pgm > log 2>&1 || { cat log; exit 1; }
# part NAME: the element of the page
part() { sed -n "/<$1[ >]/,/<\/$1>/p" report.html; }
{
  echo "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"$width\" height=\"$height\" viewBox=\"0 0 $width $height\">"
  echo "<title>A report of anynpu exec</title>"
  part style
  echo "<foreignObject width=\"$width\" height=\"$height\"><body xmlns=\"http://www.w3.org/1999/xhtml\">"
  part main | sed 's|<br>|<br/>|g'
  echo '</body></foreignObject></svg>'
} > picture
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' picture
cp picture "$picture"
