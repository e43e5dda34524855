package hbdnn

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/anynpu/anynpu/core/format/metadata"
)

// leastFrame is the least height and width of an input that is taken for one that cameras are meant for.
const leastFrame = 32

// framed reports whether an input of real numbers looks like one that a board's converter would have made one of NV12
// images of: [1,3,H,W] of which the metadata say nothing.
func (p *port) framed() bool {
	return p.Image == nil && p.kind == typeF32 && len(p.dims) == 4 && p.dims[0] == 1 && p.dims[1] == 3 &&
		min(p.dims[2], p.dims[3]) >= leastFrame && reflect.DeepEqual(p.Info, metadata.Input{})
}

// nv12Key says how an input becomes one of NV12 images.
func (p *port) nv12Key() string {
	return fmt.Sprintf("anynpu.input.%s.pixel = nv12 in the model's metadata has it take NV12 images: anynpu metadata "+
		"MODEL.onnx "+
		"input.%s.pixel=nv12 input.%s.std=255, with the mean and std of the training", p.Name, p.Name, p.Name)
}

// wantsNV12 says once of a first input that a program for a board may look for NV12 images in it.
func (p *port) wantsNV12() {
	if p.framed() {
		toldNV12.Do(func() {
			caution("the first input takes real numbers, not frames of a camera: "+p.nv12Key()+
				"; anynpu.input.NAME.layout = nchw ends this line "+
				"[hbdnn-anynpu-input-name]", "input", p.Name, "shape", p.dims)
		})
	}
}

var toldNV12 sync.Once

// frame says, of memory with have bytes that is too small for the numbers of an input, whether an NV12 image of its
// size fits it.
func (p *port) frame(have int64) string {
	if !p.framed() {
		return ""
	}
	for _, width := range []int64{p.dims[3], roundUp(p.dims[3], widthAlignment)} {
		if have == p.dims[2]*width*3/2 {
			return fmt.Sprintf("; %d bytes are an NV12 image: %s", have, p.nv12Key())
		}
	}
	return ""
}
