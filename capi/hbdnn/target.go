package hbdnn

import (
	"fmt"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
)

// A target is a chip whose layout of tensors and whose limits a program meets, so that it shows on any machine what it
// takes for granted. None reports tensors without gaps and has no limits.
type target struct {
	name     string // value of ANYNPU_HBDNN_TARGET, empty: none
	cores    int32  // mask of its BPU cores
	channels int64  // of an NV12 image in alignedShape
	padded   bool   // codes have gaps
	resizes  bool   // its library has hbDNNResize
	limits   func(r Roi, from *picture, h, w int64) string
}

var targets = []target{
	{cores: maxCore, channels: 3, resizes: true},
	{name: "x3", cores: 3, channels: 4, padded: true, resizes: true, limits: bernoulli},
	{name: "x5", cores: 1, channels: 4, padded: true, limits: bayes},
	{name: "ultra", cores: 3, channels: 4, padded: true, limits: bayes},
}

// aimed is the target that ANYNPU_HBDNN_TARGET names; read once.
var aimed = sync.OnceValue(func() *target { return targetNamed(boundary.Getenv("ANYNPU_HBDNN_TARGET")) })

func targetNamed(name string) *target {
	var names []string
	for i := range targets {
		if targets[i].name == name {
			return &targets[i]
		}
		names = append(names, targets[i].name)
	}
	caution("value ignored [hbdnn-value-ignored]", "ANYNPU_HBDNN_TARGET", name, "want", strings.Join(names[1:], ", "))
	return &targets[0]
}

// pad makes alignedShape of codes in memory: rows of NHWC outputs and of inputs with more than four channels, and rows
// of NCHW, are a whole number of blocks; NHWC inputs with fewer channels have an even height and a width of whole 32s
// (section 6).
func (g *target) pad(valid []int64, layout int32, size int64, input bool) []int64 {
	out := append([]int64(nil), valid...)
	switch {
	case !g.padded || len(valid) != 4:
	case layout == layoutNHWC && input && valid[3] <= 4:
		out[1], out[2] = roundUp(valid[1], 2), roundUp(valid[2], 32)
	default:
		out[3] = rowBytes(valid[3]*size) / size
	}
	return out
}

// rowBytes is the bytes of a row in memory: 16, 32, 64, 128, or whole 256s.
func rowBytes(n int64) int64 {
	for _, b := range []int64{16, 32, 64, 128} {
		if n <= b {
			return b
		}
	}
	return roundUp(n, 256)
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// refuseRegion refuses a region that the chip cannot scale to h x w pixels (section 8).
func (g *target) refuseRegion(name string, r Roi, from *picture, h, w int64) error {
	if g.limits == nil {
		return nil
	}
	if why := g.limits(r, from, h, w); why != "" {
		return invalid("%s is left %d, top %d, right %d, bottom %d of %dx%d for %dx%d: %s "+
			"(ANYNPU_HBDNN_TARGET=%s) [hbdnn-left-top-right]", name,
			r.left, r.top, r.right, r.bottom, from.w, from.h, w, h, why, g.name)
	}
	return nil
}

// bernoulli are the limits of X3's resizer.
func bernoulli(r Roi, from *picture, h, w int64) string {
	rw, rh := int64(r.right)-int64(r.left)+1, int64(r.bottom)-int64(r.top)+1
	switch {
	case r.left&1 != 0 || r.top&1 != 0 || r.right&1 == 0 || r.bottom&1 == 0:
		return "want even left and top and odd right and bottom"
	case min(rw, rh) < 16 || max(rw, rh) >= 256:
		return "want 16 to 255 rows and columns"
	case 2*w <= rw || 2*h <= rh || w > 8*rw || h > 8*rh:
		return "want a scale of more than 1/2, and of 8 at most"
	case h*w >= 18432:
		return "want a model of fewer than 18432 pixels"
	}
	return pitchLimit(from, 131072)
}

// bayes are the limits of the resizer of X5 and Ultra.
func bayes(r Roi, from *picture, h, w int64) string {
	rw, rh := int64(r.right)-int64(r.left)+1, int64(r.bottom)-int64(r.top)+1
	step := func(src, dst int64) int64 { return ((src-1)*65536 + (dst-1)/2) / (dst - 1) }
	switch {
	case min(rw, rh) < 2 || max(rw, rh) > 4096:
		return "want 2 to 4096 rows and columns"
	case h < 2 || w < 2:
		return "want a model of at least 2 rows and columns"
	case step(rw, w) > 262143 || step(rh, h) > 262143:
		return "want a scale of more than 1/4"
	case from.w > 4096:
		return "want an image of at most 4096 columns"
	}
	return pitchLimit(from, 131072)
}

// refuseResize refuses what X3 cannot resize to the other image (section 8).
func (g *target) refuseResize(r Roi, from, to *picture) error {
	if !g.resizes {
		return misused("the library of this chip has no hbDNNResize: hbDNNRoiInfer runs models on regions "+
			"(ANYNPU_HBDNN_TARGET=%s) [hbdnn-library-chip-no]", g.name)
	}
	if g.limits == nil {
		return nil
	}
	rw, rh := int64(r.right)-int64(r.left)+1, int64(r.bottom)-int64(r.top)+1
	why := ""
	switch {
	case r.left < 0 || r.top < 0 || int64(r.right) >= from.w || int64(r.bottom) >= from.h:
		why = "want a region inside the image"
	case from.pixel.Semiplanar() && (from.w|from.h|to.w|to.h)&1 != 0:
		why = "want even sides of NV12 images"
	case to.w*185 < rw || to.h*185 < rh || to.w >= 256*rw || to.h >= 256*rh:
		why = "want a scale of at least 1/185 and below 256"
	case max(from.w, to.w, to.h) > 4080:
		why = "want at most 4080 columns, and rows of the result"
	default:
		why = pitchLimit(from, 4080)
	}
	if why == "" {
		return nil
	}
	return invalid("roi is left %d, top %d, right %d, bottom %d of %dx%d for %dx%d: %s (ANYNPU_HBDNN_TARGET=%s) "+
		"[hbdnn-roi-left-top-right]", r.left,
		r.top, r.right, r.bottom, from.w, from.h, to.w, to.h, why, g.name)
}

func pitchLimit(from *picture, most int64) string {
	if from.pitch%16 != 0 || from.pitch < 16 || from.pitch > most {
		return fmt.Sprintf("want rows of 16 to %d bytes, a multiple of 16, got %d", most, from.pitch)
	}
	return ""
}

// tellCores says once that a program asks for a core that the chip lacks. The task runs nevertheless.
func (g *target) tellCores(mask int32) {
	if lacking := mask &^ g.cores; lacking != 0 {
		if _, told := toldCores.LoadOrStore(lacking, true); !told {
			caution("the chip lacks a core that a task asks for: it runs on another "+
				"[hbdnn-chip-lacks-core]", "bpuCoreId", mask, "cores", g.cores,
				"ANYNPU_HBDNN_TARGET", g.name)
		}
	}
}

var toldCores sync.Map
