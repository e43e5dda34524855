package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

//go:embed compare.html
var comparePage string

// The plot of the page, in its own units; top is the ratio at its upper edge, in decibels.
const (
	plotWidth  = 960
	plotHeight = 240
	plotTop    = 140
)

// pageView is the data of the page.
type pageView struct {
	*compareReport
	Verdict      string
	Total, Added string // points of polylines
	LimitY       float64
	Width        int
	Height       int
	First        *layer
	Maps         []featureMap
}

// featureMap shows a channel of the first value that departs, on both sides, and their difference.
type featureMap struct {
	Channel    int
	A, B, Diff template.URL // PNG
}

// writePage writes the report as a page of its own.
func (c *comparisonOf) writePage(path string) error {
	v := pageView{compareReport: c.report, Verdict: c.report.verdict(), Width: plotWidth, Height: plotHeight,
		LimitY: plotY(c.limit)}
	v.Total = points(c.report.Layers, func(l *layer) *distance { return l.Error })
	v.Added = points(c.report.Layers, func(l *layer) *distance { return l.Added })
	if len(c.report.Departs) > 0 {
		i := c.report.Departs[0]
		v.First = &c.report.Layers[i]
		if own, ok := c.own[c.rows[i].Value]; ok {
			v.Maps = featureMaps(c.want[c.rows[i].Value], own)
		}
	}
	functions := template.FuncMap{"db": decibels, "label": (*layer).label, "text": number.text, "exact": number.exact}
	t, err := template.New("compare").Funcs(functions).Parse(comparePage)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := t.Execute(&page, v); err != nil {
		return err
	}
	return fault.As(fault.File, os.WriteFile(path, page.Bytes(), 0o666), "--html")
}

func plotY(db float64) float64 {
	if math.IsNaN(db) {
		db = 0
	}
	return plotHeight * (1 - max(0, min(db, plotTop))/plotTop)
}

// points returns the points of a line through the rows that have a distance.
func points(rows []layer, of func(*layer) *distance) string {
	var list []string
	for i := range rows {
		if d := of(&rows[i]); d != nil {
			x := plotWidth * (float64(i) + 0.5) / float64(len(rows))
			list = append(list, fmt.Sprintf("%.1f,%.1f", x, plotY(float64(d.SNR))))
		}
	}
	return strings.Join(list, " ")
}

// mostMaps bounds the channels that are shown, mostPixels the width and height of one.
const (
	mostMaps   = 6
	mostPixels = 1024
)

// featureMaps draws the channels with the largest differences, those first: planes of the last two dimensions.
func featureMaps(a, b tensor.Tensor) []featureMap {
	r := len(a.Dims)
	if r < 2 || fmt.Sprint(a.Dims) != fmt.Sprint(b.Dims) {
		return nil
	}
	h, w := int(a.Dims[r-2]), int(a.Dims[r-1])
	if h < 2 || w < 2 || h > mostPixels || w > mostPixels {
		return nil
	}
	x, n := tensordiff.Elements(a)
	y, _ := tensordiff.Elements(b)
	type channel struct {
		at   int
		most float64
	}
	var channels []channel
	for c := range n / (h * w) {
		most := 0.0
		for i := c * h * w; i < (c+1)*h*w; i++ {
			most = max(most, apart(x(i), y(i)))
		}
		if most > 0 {
			channels = append(channels, channel{c, most})
		}
	}
	slices.SortStableFunc(channels, func(a, b channel) int { return cmp.Compare(b.most, a.most) })
	var maps []featureMap
	for _, c := range channels[:min(len(channels), mostMaps)] {
		first := c.at * h * w
		at := func(f func(int) float64) func(int) float64 { return func(i int) float64 { return f(first + i) } }
		diff := func(i int) float64 { return apart(x(first+i), y(first+i)) }
		lo, hi := limits(h*w, at(x))
		_, most := limits(h*w, diff)
		maps = append(maps, featureMap{c.at, plane(w, h, lo, hi, at(x)), plane(w, h, lo, hi, at(y)),
			plane(w, h, 0, max(most, math.SmallestNonzeroFloat32), diff)})
	}
	return maps
}

// apart is the difference of two elements, infinite where one alone is a number.
func apart(x, y float64) float64 {
	switch {
	case x == y, math.IsNaN(x) && math.IsNaN(y):
		return 0
	case math.IsNaN(x), math.IsNaN(y):
		return math.Inf(1)
	}
	return math.Abs(x - y)
}

func limits(n int, at func(int) float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := range n {
		if v := at(i); !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

// plane is a picture of w x h numbers, black for lo and white for hi.
func plane(w, h int, lo, hi float64, at func(int) float64) template.URL {
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range w * h {
		v := 0.0
		if hi > lo {
			v = 255 * (at(i) - lo) / (hi - lo)
		}
		if math.IsNaN(v) {
			v = 0
		}
		m.SetGray(i%w, i/w, color.Gray{Y: uint8(max(0, min(v, 255)))})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return ""
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))
}
