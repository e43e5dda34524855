package hbdnn

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/model"
)

// Packed is an hbPackedDNNHandle_t.
type Packed = hb.Packed

// dnnInitializeFromFiles loads the models of all files, or none. Those that are for a driver are left to it.
func dnnInitializeFromFiles(names []uintptr) (*Packed, error) {
	files, err := hb.Files(names)
	if err != nil {
		return nil, err
	}
	if api.ForDriver(files) {
		return nil, boundary.ErrPassOn
	}
	sources, err := hb.Unpacked(files)
	if err != nil {
		return nil, err
	}
	return newPacked(sources, "modelFileNames")
}

// dnnInitializeFromDDR loads models from memory, which is not needed afterwards. Those that are for a driver are left
// to it.
func dnnInitializeFromDDR(data []uintptr, lengths []int32) (*Packed, error) {
	sources, err := hb.Data(data, lengths)
	if err != nil {
		return nil, err
	}
	if api.ForDriver(sources) {
		return nil, boundary.ErrPassOn
	}
	return newPacked(sources, "modelData")
}

// newPacked loads the models of all sources, or none.
func newPacked(sources []model.Source, what string) (*Packed, error) {
	return hb.NewPacked(sources, what, len(sources), func(s model.Source) (hb.PackedModel, error) { return load(s) }, nil)
}

// dnnRelease ends a pack and all that was borrowed from it, unless a task of one of its models waits or runs.
func dnnRelease(h uintptr) error {
	return api.ReleasePacked(h, func(busy, _ int) error {
		if busy == 0 {
			return nil
		}
		return refuse(errRunning, "packedDNNHandle: %d members of tasks that wait or run use its models: wait for the tasks or "+
			"release them first [hbdnn-packed-dnnhandle-members]", busy)
	})
}

// dnnGetModelNameList gives the names of all models in the order of the files.
func dnnGetModelNameList(names *uintptr, count *int32, p *Packed) error {
	p.NameList(names, count)
	return nil
}

// dnnGetModelHandle gives the handle of the first model with a name.
func dnnGetModelHandle(p *Packed, name string) (*Model, error) {
	m, err := p.Find(name)
	if err != nil {
		return nil, err
	}
	return m.(*Model), nil
}
