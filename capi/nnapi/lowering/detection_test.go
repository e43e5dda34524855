package lowering

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// coordinates is how regions are stored beside images in f.
func (f form) coordinates() form {
	if f.quantized() {
		return form{"", nnapi.TensorQuant16Asymm, 0.125, 0}
	}
	return f
}

// bilinear reads an image [h,w] between its cells; beyond the border it repeats.
func bilinear(x []float64, h, w int, a, b float64) float64 {
	at := func(i, j int) float64 { return x[min(i, h-1)*w+min(j, w-1)] }
	a, b = max(a, 0), max(b, 0)
	i, j := int(a), int(b)
	u, v := a-float64(i), b-float64(j)
	if i >= h-1 {
		i, u = h-1, 0
	}
	if j >= w-1 {
		j, v = w-1, 0
	}
	return at(i, j)*(1-u)*(1-v) + at(i+1, j)*u*(1-v) + at(i, j+1)*(1-u)*v + at(i+1, j+1)*u*v
}

func TestROIAlign(t *testing.T) {
	const high, wide, oh, ow = 4, 5, 2, 3
	const hr, wr = 2, 4 // image per feature
	regions := v1(2, 1, 14, 7, 0, 0, 3, 1, 4, 2, 20, 8)
	batches := []int{0, 1, 1}
	for _, f := range forms {
		x := f.put(noise(31, 2*high*wide, -2, 2), 2, high, wide, 1)
		out := f
		if f.quantized() {
			out.scale = 1. / 40
		}
		for _, samples := range [][2]int{{2, 3}, {0, 0}} {
			var y []float64
			for r, b := range batches {
				x1, y1, x2, y2 := regions[4*r]/wr, regions[4*r+1]/hr, regions[4*r+2]/wr, regions[4*r+3]/hr
				bh, bw := max(y2-y1, 1)/oh, max(x2-x1, 1)/ow
				sh, sw := samples[0], samples[1]
				if sh == 0 {
					sh, sw = int(math.Ceil(bh)), int(math.Ceil(bw))
				}
				for i := range oh {
					for j := range ow {
						sum := 0.
						for k := range sh {
							for l := range sw {
								sum += bilinear(reals(x)[b*high*wide:][:high*wide], high, wide, y1+(float64(i)+(float64(k)+0.5)/float64(sh))*bh,
									x1+(float64(j)+(float64(l)+0.5)/float64(sw))*bw)
							}
						}
						y = append(y, sum/float64(sh*sw))
					}
				}
			}
			more := []arg{f.coordinates().put(regions, 3, 4), list(0, 1, 1), num(oh), num(ow), f.scalar(hr), f.scalar(wr),
				num(float64(samples[0])), num(float64(samples[1]))}
			want := out.want(y, 3, oh, ow, 1)
			check{fmt.Sprint(f.name, samples), nnapi.ROIAlign, args([]arg{x}, more, []arg{flag(false)}), []arg{want}, 0}.run(t)
			check{fmt.Sprint(f.name, samples, " NCHW"), nnapi.ROIAlign, args([]arg{nchw(x)}, more, []arg{flag(true)}),
				[]arg{nchw(want)},
				0}.run(t)
		}
		// A region is rounded to cells of the image; its bins run from floor to ceil of their bounds.
		var y []float64
		for r, b := range batches {
			x1, y1 := math.Round(regions[4*r]/wr), math.Round(regions[4*r+1]/hr)
			h, w := math.Round(regions[4*r+3]/hr)-y1+1, math.Round(regions[4*r+2]/wr)-x1+1
			for i := range oh {
				for j := range ow {
					m := math.Inf(-1)
					for k := y1 + math.Floor(float64(i)*h/oh); k < min(y1+math.Ceil(float64(i+1)*h/oh), high); k++ {
						for l := x1 + math.Floor(float64(j)*w/ow); l < min(x1+math.Ceil(float64(j+1)*w/ow), wide); l++ {
							m = max(m, reals(x)[b*high*wide+int(k)*wide+int(l)])
						}
					}
					if math.IsInf(m, -1) {
						m = 0
					}
					y = append(y, m)
				}
			}
		}
		more := []arg{f.coordinates().put(regions, 3, 4), list(0, 1, 1), num(oh), num(ow), f.scalar(hr), f.scalar(wr)}
		want := f.want(y, 3, oh, ow, 1)
		check{f.name, nnapi.ROIPooling, args([]arg{x}, more, []arg{flag(false)}), []arg{want}, 0}.run(t)
		check{f.name + " NCHW", nnapi.ROIPooling, args([]arg{nchw(x)}, more, []arg{flag(true)}), []arg{nchw(want)}, 0}.run(t)
	}
	x, y := f32(seq(0, 1, 20), 1, 4, 5, 1), []arg{f32(nil)}
	more := []arg{num(2), num(2), real(2), real(2)}
	for _, outside := range [][]float64{{-1, 0, 4, 4}, {0, 0, 11, 4}, {0, 5, 4, 4}, {0, 0, 4, 9}} {
		fails(t, check{"", nnapi.ROIPooling, args([]arg{x, f32(outside, 1, 4), list(0)}, more, []arg{flag(false)}), y, 0})
		fails(t, check{"", nnapi.ROIAlign, args([]arg{x, f32(outside, 1, 4), list(0)}, more,
			[]arg{num(1), num(1), flag(false)}), y,
			0})
	}
	fails(t, check{"", nnapi.ROIPooling, args([]arg{x, f32(v1(0, 0, 4, 4), 1, 4), list(1)}, more, []arg{flag(false)}), y,
		0})
	refused(t, check{"", nnapi.ROIPooling, args([]arg{x, f32(v1(0, 0, 4, 4), 1, 4), list(1), num(0)}, more[1:],
		[]arg{flag(false)}), y,
		0}, "input 3 (output height): want 1 to")
}

func TestBBoxTransform(t *testing.T) {
	boxes, deltas := v1(10, 10, 20, 30, 0, 0, 8, 8), v1(0.25, -0.5, 0, 0.5, 1, 0.25, -0.25, 0, 0, 0, 0, 0, 2, 2, 1, 1)
	size := v1(64, 24, 16, 12)
	var y []float64
	for i := range 2 {
		b := boxes[4*i:]
		w, h, cx, cy := b[2]-b[0], b[3]-b[1], (b[0]+b[2])/2, (b[1]+b[3])/2
		for c := range 2 {
			d := deltas[8*i+4*c:]
			nx, ny, nw, nh := cx+d[0]*w, cy+d[1]*h, w*math.Exp(d[2]), h*math.Exp(d[3])
			x, y2 := clip(0, size[2*i+1]), clip(0, size[2*i])
			y = append(y, x(nx-nw/2), y2(ny-nh/2), x(nx+nw/2), y2(ny+nh/2))
		}
	}
	for _, f := range forms {
		p := f.coordinates()
		check{f.name, nnapi.AxisAlignedBBoxTransform, []arg{p.put(boxes, 2, 4), f.put(deltas, 2, 8), list(0, 1),
			p.put(size, 2, 2)},
			[]arg{p.want(y, 2, 8)}, 0}.run(t)
	}
	in := func(b, batch []float64) check {
		return check{"", nnapi.AxisAlignedBBoxTransform, []arg{f32(b, 1, 4), f32(v1(0, 0, 0, 0), 1, 4), i32(batch, 1),
			f32(v1(8, 8), 1, 2)},
			[]arg{f32(nil)}, 0}
	}
	fails(t, in(v1(5, 0, 4, 4), v1(0)))
	fails(t, in(v1(0, 0, 4, 4), v1(1)))
}

// overlap is the intersection of two boxes over their union.
func overlap(a, b []float64) float64 {
	area := func(x []float64) float64 { return max(x[2]-x[0], 0) * max(x[3]-x[1], 0) }
	both := area(v1(max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])))
	return both / (area(a) + area(b) - both)
}

func TestBoxWithNMSLimit(t *testing.T) {
	// Three boxes of one batch and one of another; one class beside the background.
	scores := v1(0.9, 0.75, 0.5, 0.875, 0.9, 0.5, 0.1, 0.625)
	box := [][]float64{{0, 0, 8, 8}, {2, 0, 10, 8}, {20, 20, 28, 28}, {0, 0, 8, 8}}
	var boxes []float64
	for _, b := range box {
		boxes = append(append(boxes, 0, 0, 1, 1), b...)
	}
	iou := overlap(box[0], box[1])
	for _, f := range forms {
		s := f
		if f.quantized() {
			s.scale = 1. / 256
			s.zero = map[nnapi.OperandCode]int32{nnapi.TensorQuant8Asymm: 0, nnapi.TensorQuant8AsymmSigned: -128}[f.code]
		}
		p := f.coordinates()
		for kernel, decay := range []float64{0, 1 - iou, math.Exp(-iou * iou / 0.5)} {
			kept, keptBox := v1(0.875, 0.5, 0.625), [][]float64{box[1], box[2], box[3]}
			if kernel > 0 {
				kept, keptBox = v1(0.875, 0.75*decay, 0.5, 0.625), [][]float64{box[1], box[0], box[2], box[3]}
				if 0.75*decay < 0.5 {
					kept[1], kept[2], keptBox[1], keptBox[2] = kept[2], kept[1], keptBox[2], keptBox[1]
				}
			}
			n := uint32(len(kept))
			ones, batch := make([]float64, n), make([]float64, n)
			for i := range ones {
				ones[i] = 1
			}
			batch[n-1] = 1
			var flat []float64
			for _, b := range keptBox {
				flat = append(flat, b...)
			}
			check{fmt.Sprint(f.name, kernel), nnapi.BoxWithNMSLimit, []arg{s.put(scores, 4, 2), p.put(boxes, 4, 8),
				list(0, 0, 0, 1),
				f.scalar(0.25), num(-1), num(float64(kernel)), f.scalar(0.4), f.scalar(0.5), f.scalar(0.125)},
				[]arg{s.want(kept, n), p.put(flat, n, 4), i32(ones, n), i32(batch, n)}, 0}.run(t)
		}
	}
	limited := []arg{f32(scores, 4, 2), f32(boxes, 4, 8), list(0, 0, 0, 1), real(0.25), num(1), num(0), real(0.4), real(1),
		real(0)}
	check{"one", nnapi.BoxWithNMSLimit, limited, []arg{f32(v1(0.875, 0.625), 2), f32(slices.Concat(box[1], box[3]), 2, 4),
		i32(v1(1, 1), 2), i32(v1(0, 1), 2)}, 0}.run(t)
	limited[3] = real(0.95)
	check{"none", nnapi.BoxWithNMSLimit, limited, []arg{f32(nil, 0), f32(nil, 0, 4), i32(nil, 0), i32(nil, 0)}, 0}.run(t)
	limited[5] = num(3)
	refused(t, check{"", nnapi.BoxWithNMSLimit, limited, []arg{f32(nil), f32(nil), i32(nil), i32(nil)}, 0},
		"input 5 (kernel)")
}

func TestGenerateProposals(t *testing.T) {
	// Two anchors at each of 1 x 2 cells, without deltas but one; the image is 16 high and 32 wide.
	anchors := v1(0, 0, 8, 8, 2, 0, 12, 10)
	scores := v1(0.5, 0.75, 0.875, 0.25)
	deltas := make([]float64, 16)
	deltas[8+1] = 0.25 // the first anchor of the second cell moves down by a quarter of its height
	boxes := [][]float64{{0, 0, 8, 8}, {2, 0, 12, 10}, {16, 2, 24, 10}, {18, 0, 28, 10}}
	if overlap(boxes[0], boxes[1]) < 0.3 || overlap(boxes[2], boxes[3]) < 0.3 {
		t.Fatal("the boxes of a cell should overlap")
	}
	for _, f := range forms {
		s, a, p := f, f, f
		if f.quantized() {
			s.scale = 1. / 256
			s.zero = map[nnapi.OperandCode]int32{nnapi.TensorQuant8Asymm: 0, nnapi.TensorQuant8AsymmSigned: -128}[f.code]
			a, p = form{"", nnapi.TensorQuant16Symm, 0.125, 0}, form{"", nnapi.TensorQuant16Asymm, 0.125, 0}
		}
		run := func(name string, before, after, iou, least float64, order ...int) {
			var kept, flat []float64
			for _, i := range order {
				kept, flat = append(kept, scores[i]), append(flat, boxes[i]...)
			}
			n := uint32(len(order))
			more := []arg{f.scalar(16), f.scalar(16), num(before), num(after), f.scalar(iou), f.scalar(least)}
			out := []arg{s.put(kept, n), p.put(flat, n, 4), i32(make([]float64, n), n)}
			in := []arg{s.put(scores, 1, 1, 2, 2), f.put(deltas, 1, 1, 2, 8), a.put(anchors, 2, 4), p.put(v1(16, 32), 1, 2)}
			check{f.name + " " + name, nnapi.GenerateProposals, args(in, more, []arg{flag(false)}), out, 0}.run(t)
			in[0], in[1] = nchw(in[0]), nchw(in[1])
			check{f.name + " NCHW " + name, nnapi.GenerateProposals, args(in, more, []arg{flag(true)}), out, 0}.run(t)
		}
		run("all", 0, 0, 0.95, 1, 2, 1, 0, 3)
		run("suppressed", -1, -1, 0.3, 1, 2, 1)
		run("best two", 2, -1, 0.9, 1, 2, 1)
		run("after", -1, 1, 0.9, 1, 2)
		run("large", -1, -1, 0.95, 9, 1, 3)
	}
}

func TestHeatmapMaxKeypoint(t *testing.T) {
	// A paraboloid with its peak between cells: the series of second order is the function itself.
	const s, px, py = 5, 2.25, 1.75
	heat := make([]float64, s*s)
	for i := range s {
		for j := range s {
			heat[i*s+j] = 3 - 0.5*math.Pow(float64(j)-px, 2) - 0.25*math.Pow(float64(i)-py, 2)
		}
	}
	box := v1(8, 16, 48, 36)
	x, y := (px+0.5)/s*(box[2]-box[0])+box[0], (py+0.5)/s*(box[3]-box[1])+box[1]
	for _, f := range forms[:2] {
		for _, first := range []bool{false, true} {
			in := f.put(heat, 1, s, s, 1)
			if first {
				in = nchw(in)
			}
			check{fmt.Sprint(f.name, first), nnapi.HeatmapMaxKeypoint, []arg{in, f.put(box, 1, 4), flag(first)},
				[]arg{f.put(v1(3), 1, 1),
					f.put(v1(x, y), 1, 1, 2)}, 0}.run(t)
		}
	}
	flat := u8(0.5, 0, v1(0, 0, 0, 9, 0, 0, 0, 0, 0), 1, 3, 3, 1)
	// The peak lies at the border, whose mirror makes both differences equal: it stays where it is in that direction.
	corner := form{"", nnapi.TensorQuant16Asymm, 0.125, 0}
	check{"border", nnapi.HeatmapMaxKeypoint, []arg{flat, corner.put(v1(0, 0, 30, 30), 1, 4), flag(false)},
		[]arg{u8(0.5, 0, v1(9), 1, 1), corner.put(v1(5, 15), 1, 1, 2)}, 0}.run(t)
}

func TestDetectionPostprocessing(t *testing.T) {
	// Three anchors, of which the first two overlap; classes 1 and 2 beside the background.
	anchors := v1(4, 4, 8, 8, 4, 5, 8, 8, 20, 20, 8, 8)
	deltas := make([]float64, 12)
	deltas[8] = 2 // the last moves down by 2/10 of its height
	scores := v1(0.9, 0.5, 0.25, 0.9, 0.625, 0.75, 0.1, 0.875, 0.125)
	b1, b2 := v1(0, 1, 8, 9), v1(17.6, 16, 25.6, 24)
	zero := v1(0, 0, 0, 0)
	for _, f := range forms[:2] {
		for label := range 2 {
			l := float64(label)
			in := func(regular bool, detections, perDetection, perClass float64) []arg {
				return []arg{f.put(scores, 1, 3, 3), f.put(deltas, 1, 3, 4), f.put(anchors, 3, 4), f.scalar(10), f.scalar(10),
					f.scalar(5),
					f.scalar(5), flag(regular), num(detections), num(perDetection), num(perClass), f.scalar(0.2), f.scalar(0.5),
					flag(label == 1)}
			}
			name := fmt.Sprint(f.name, label)
			check{name + " fast", nnapi.DetectionPostprocessing, in(false, 3, 1, 1), []arg{f.put(v1(0.875, 0.75, 0), 1, 3),
				f.put(slices.Concat(b2, b1, zero), 1, 3, 4), i32(v1(l, 1+l, 0), 1, 3), i32(v1(2), 1)}, 0}.run(t)
			check{name + " regular", nnapi.DetectionPostprocessing, in(true, 4, 1, 2),
				[]arg{f.put(v1(0.875, 0.75, 0.625, 0), 1, 4),
					f.put(slices.Concat(b2, b1, b1, zero), 1, 4, 4), i32(v1(l, 1+l, l, 0), 1, 4), i32(v1(3), 1)}, 0}.run(t)
			check{name + " one of each class", nnapi.DetectionPostprocessing, in(true, 4, 1, 1),
				[]arg{f.put(v1(0.875, 0.75, 0, 0), 1, 4),
					f.put(slices.Concat(b2, b1, zero, zero), 1, 4, 4), i32(v1(l, 1+l, 0, 0), 1, 4), i32(v1(2), 1)}, 0}.run(t)
		}
	}
}
