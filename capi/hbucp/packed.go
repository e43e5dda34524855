package hbucp

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/model"
)

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
	return newPacked(sources, "modelFileNames", len(files))
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
	return newPacked(sources, "modelData", len(sources))
}

// newPacked loads the models of all sources, or none. Of several with one name the first stays.
func newPacked(sources []model.Source, what string, files int) (*Packed, error) {
	return hb.NewPacked(sources, what, files, func(s model.Source) (hb.PackedModel, error) { return load(s) },
		func(p *Packed, m hb.PackedModel) bool {
			name := m.Base().Name
			if _, err := p.Find(name); err != nil {
				return true
			}
			api.Warn("a model is left out: another one has its name [hbucp-model-left-another]", "model", name)
			return false
		})
}

// dnnRelease ends a pack and all that was borrowed from it, unless a task of one of its models is not released.
func dnnRelease(h uintptr) error {
	return api.ReleasePacked(h, func(_, held int) error {
		if held == 0 {
			return nil
		}
		return hb.Refuse(hb.ModelRunning, "dnnPackedHandle: %d members of tasks that are not released are runs of its models: "+
			"hbUCPReleaseTask ends them [hbucp-dnn-packed-handle]", held)
	})
}

// dnnGetModelNameList gives the names of all models in the order of the files.
func dnnGetModelNameList(names *uintptr, count *int32, p *Packed) error {
	p.NameList(names, count)
	return nil
}

// dnnGetModelHandle gives the handle of the model with a name.
func dnnGetModelHandle(p *Packed, name string) (*Model, error) {
	m, err := p.Find(name)
	if err != nil {
		return nil, err
	}
	return m.(*Model), nil
}

// dnnGetHBMDesc gives an empty text for each file.
func dnnGetHBMDesc(desc *uintptr, size *uint32, kind *int32, p *Packed, index int32) error {
	if index < 0 || int(index) >= p.Files {
		return hb.Invalid("index is %d: %d files were loaded, whose numbers begin at 0 "+
			"[hbucp-index-files-loaded]", index, p.Files)
	}
	*desc, *size, *kind = hb.Forever(""), 0, descString
	return nil
}
