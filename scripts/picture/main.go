// Picture makes an SVG of layers that a text describes, as docs/layers.txt does:
//
//	go run ./scripts/picture docs/layers.txt docs/layers.svg
//
// A line is a layer, its boxes are between |, each TITLE: TEXT. A box that begins with ~ stands outside, and leads
// nowhere unless it is the first layer's; *N at the end makes it N times as wide. Empty lines and those that begin with
// # count for nothing.
package main

import (
	"fmt"
	"html"
	"os"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/rewrite"
)

// Sizes in pixels.
const (
	width  = 800
	height = 62 // of a box
	gap    = 22 // between layers, and half of it between boxes
)

// A box of a layer.
type box struct {
	title, text string
	outside     bool
	share       int // of the layer's width
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: picture TEXT SVG")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	layers, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return rewrite.File(to, []byte(draw(layers)))
}

// parse reads the layers.
func parse(text string) (layers [][]box, err error) {
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		var layer []box
		for _, part := range strings.Split(line, "|") {
			b := box{share: 1}
			if at := strings.LastIndex(part, " *"); at >= 0 {
				if b.share, err = strconv.Atoi(strings.TrimSpace(part[at+2:])); err != nil || b.share < 1 {
					return nil, fmt.Errorf("line %d: %q is no width", n+1, part[at+1:])
				}
				part = part[:at]
			}
			part, b.outside = strings.CutPrefix(strings.TrimSpace(part), "~")
			var found bool
			if b.title, b.text, found = strings.Cut(part, ": "); !found {
				return nil, fmt.Errorf("line %d: %q has no title", n+1, part)
			}
			layer = append(layer, b)
		}
		layers = append(layers, layer)
	}
	if len(layers) == 0 {
		return nil, fmt.Errorf("no layers")
	}
	return layers, nil
}

const style = `<style>
text { font-family: system-ui, sans-serif; font-size: 13px; fill: #1b2230; text-anchor: middle; }
text.title { font-weight: 600; font-size: 15px; }
rect { fill: #eaf0fb; stroke: #4a7bd0; }
rect.outside { fill: #f6f7f9; stroke: #8b95a5; stroke-dasharray: 5 3; }
path { stroke: #8b95a5; fill: none; marker-end: url(#arrow); }
#arrow path { fill: #8b95a5; stroke: none; }
@media (prefers-color-scheme: dark) {
text { fill: #e6eaf0; }
rect { fill: #1d2a42; stroke: #6f9ff0; }
rect.outside { fill: #1a202a; stroke: #9ba6b6; }
}
</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0 0 8 4 0 8z"/></marker></defs>
`

// draw returns the picture: an arrow leads from the middle of a box to the layer below.
func draw(layers [][]box) string {
	var b strings.Builder
	whole := len(layers)*(height+gap) - gap + 2
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>Layers of "+
		"AnyNPU"+
		"</title>\n%s", width, whole, style)
	for i, layer := range layers {
		shares, x, y := 0, 1, 1+i*(height+gap)
		for _, box := range layer {
			shares += box.share
		}
		for k, box := range layer {
			w := (width - 2 - (len(layer)-1)*gap/2) * box.share / shares
			if k == len(layer)-1 {
				w = width - 1 - x
			}
			class := ""
			if box.outside {
				class = ` class="outside"`
			}
			fmt.Fprintf(&b, "<rect%s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", class, x, y, w, height)
			fmt.Fprintf(&b, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", x+w/2, y+25, html.EscapeString(box.title))
			fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">%s</text>\n", x+w/2, y+46, html.EscapeString(box.text))
			if i+1 < len(layers) && (i == 0 || !box.outside) {
				fmt.Fprintf(&b, "<path d=\"M%d %d v%d\"/>\n", x+w/2, y+height+2, gap-4)
			}
			x += w + gap/2
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
