package hb

import (
	"sync"

	"github.com/anynpu/anynpu/core/model"
)

// headed are the channels of boxes in the heads of detectors that boards give as codes.
var headed = map[int64]bool{32: true, 64: true}

// leastMap is the least height and width of an output of one channel that is taken for a map of disparities.
const leastMap = 32

// toldHeads and toldMaps are of the process: programs ask for each output.
var toldHeads, toldMaps sync.Once

// WantsCodes says once of an output of real numbers that a program which asks for it may be one that boards give codes
// of 32 bits: the vendor's own programs stop at others. dims are the output's in the model's order, shape as the
// program sees them.
func (a *API) WantsCodes(p *model.Port, dims, shape []int64) {
	if len(dims) != 4 || p.Says.Layout+p.Says.Native != "" {
		return
	}
	channels, height, width := dims[1], dims[2], dims[3]
	if p.Last {
		channels, height, width = dims[3], dims[1], dims[2]
	}
	var told *sync.Once
	switch {
	case headed[channels]:
		told = &toldHeads
	case channels == 1 && min(height, width) >= leastMap:
		told = &toldMaps
	default:
		return
	}
	told.Do(func() {
		a.Caution("the output has real numbers; a program that looks for codes of 32 bits with scales (S32, SCALE), as "+
			"boards have them of such heads and maps, gets them with anynpu.output.NAME.codes or anynpu.outputs.codes = int32 "+
			"in the model's metadata, and channels last with anynpu.output.NAME.layout = nhwc; a layout ends this line "+
			"[hb-output-real-numbers]", "output", p.Name, "shape", shape)
	})
}
