package hbdnn

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/model"
)

// BadHandle gives an error the code for what is no pack's handle.
func (*Packed) BadHandle(err error) error {
	return refuseFor(errPackedHandle, err, "no pack of models")
}

// dnnInitializeFromFiles loads the models of all files, or none. Those that are for a driver are left to it.
func dnnInitializeFromFiles(names []uintptr) (*Packed, error) {
	if len(names) == 0 {
		return nil, invalid("modelFileCount is 0: want at least one file")
	}
	var files []model.Source
	for i, at := range names {
		if at == 0 {
			return nil, invalid("modelFileNames[%d] is NULL: want the name of a file", i)
		}
		path, err := boundary.CString(cPointer(at))
		if err != nil {
			return nil, fault.Wrap(err, "modelFileNames[%d]", i)
		}
		if path == "" {
			return nil, refuse(errOpen, "modelFileNames[%d] is an empty string: want the name of a file", i)
		}
		files = append(files, model.Source{Path: path})
	}
	if forDriver(files) {
		return nil, boundary.ErrPassOn
	}
	var sources []model.Source
	for i, f := range files {
		list, err := model.Pack(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another file may stand for it
			return nil, loadError(err, fmt.Sprintf("modelFileNames[%d]", i))
		}
		if list == nil {
			list = []string{f.Path}
		}
		for _, file := range list {
			sources = append(sources, model.Source{Path: file})
		}
	}
	return newPacked(sources, "modelFileNames")
}

// dnnInitializeFromDDR loads models from memory, which is not needed afterwards. Those that are for a driver are left to
// it.
func dnnInitializeFromDDR(data []uintptr, lengths []int32) (*Packed, error) {
	if len(data) == 0 {
		return nil, invalid("modelDataCount is 0: want at least one model")
	}
	var sources []model.Source
	for i, at := range data {
		switch {
		case at == 0:
			return nil, invalid("modelData[%d] is NULL: want the bytes of a model", i)
		case lengths[i] <= 0:
			return nil, invalid("modelDataLengths[%d] is %d: want the bytes of modelData[%d]", i, lengths[i], i)
		}
		if err := boundary.CheckRange(cPointer(at), uint64(lengths[i])); err != nil {
			return nil, fault.Wrap(err, "modelData[%d]", i)
		}
		sources = append(sources, model.Source{Data: bytesAt(at, int64(lengths[i]))})
	}
	if forDriver(sources) {
		return nil, boundary.ErrPassOn
	}
	return newPacked(sources, "modelData")
}

// newPacked loads the models of all sources, or none.
func newPacked(sources []model.Source, what string) (*Packed, error) {
	p := &Packed{}
	for i, s := range sources {
		m, err := load(s)
		if err != nil {
			p.free()
			return nil, loadError(err, fmt.Sprintf("%s: model %d", what, i))
		}
		m.pack = p
		p.models = append(p.models, m)
	}
	var names []uintptr
	for _, m := range p.models {
		names = append(names, m.text(m.name))
	}
	boundary.SetSlice(&p.names, names)
	return p, nil
}

// loadError gives the error of a model that could not be loaded its code (section 11, load errors).
func loadError(err error, what string) error {
	code := errModel
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		code = errOpen
	case fault.KindOf(err) == fault.Memory:
		code = errMemory
	}
	return refuseFor(code, err, "%s", what)
}

func (p *Packed) free() {
	for _, m := range p.models {
		m.free()
	}
	p.names.Free()
}

// dnnRelease ends a pack and all that was borrowed from it, unless a task of one of its models waits or runs.
func dnnRelease(h uintptr) error {
	var p *Packed
	for {
		var err error
		if h == 0 {
			err = handle.ErrNull
		} else if p, err = handle.Close[Packed](h); err == nil {
			break
		}
		if !errors.Is(err, handle.ErrBusy) {
			return p.BadHandle(fault.Wrap(err, "packedDNNHandle: %#x", h))
		}
		runtime.Gosched() // another call uses it, or ends it
	}
	p.mu.Lock()
	busy := p.busy
	p.closed = busy == 0
	p.mu.Unlock()
	if busy > 0 {
		handle.Reopen(h)
		return refuse(errRunning, "packedDNNHandle: %d members of tasks that wait or run use its models: wait for the tasks or "+
			"release them first", busy)
	}
	for _, m := range p.models {
		for !handle.Drop(m) {
			runtime.Gosched() // a call that only asks
		}
	}
	p.free()
	handle.Drop(p)
	return nil
}

// dnnGetModelNameList gives the names of all models in the order of the files.
func dnnGetModelNameList(names *uintptr, count *int32, p *Packed) error {
	*names, *count = p.names.Addr(), int32(len(p.models))
	return nil
}

// dnnGetModelHandle gives the handle of the first model with a name.
func dnnGetModelHandle(p *Packed, name string) (*Model, error) {
	var have []string
	for _, m := range p.models {
		if m.name == name {
			return m, nil
		}
		have = append(have, m.name)
	}
	return nil, invalid("modelName is %q: the models are called %q", name, have)
}
