package hb

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"time"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/model"
)

// Models returns the models of the pack, in the order of the files.
func (p *Packed) Models() []PackedModel { return p.models }

// Enter counts a user of one of the models, until Leave.
func (p *Packed) Enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return Refuse(BadModelHandle, "dnnHandle: its models are being released [hb-dnn-handle-models]")
	}
	p.busy++
	return nil
}

// Leave ends one Enter.
func (p *Packed) Leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
}

// Hold counts a holder that wants the pack to stay, until Unhold.
func (p *Packed) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held++
}

// Unhold ends one Hold.
func (p *Packed) Unhold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held--
}

// unused waits until nothing uses one of the models; nothing new does.
func (p *Packed) unused() {
	for {
		p.mu.Lock()
		busy := p.busy
		p.mu.Unlock()
		if busy == 0 {
			return
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// Files are the names of files that a program hands over.
func Files(names []uintptr) ([]model.Source, error) {
	if len(names) == 0 {
		return nil, Invalid("modelFileCount is 0: want at least one file [hb-model-file-count]")
	}
	var files []model.Source
	for i, at := range names {
		if at == 0 {
			return nil, Invalid("modelFileNames[%d] is NULL: want the name of a file [hb-model-file-names]", i)
		}
		path, err := boundary.CString(CPointer(at))
		if err != nil {
			return nil, fault.Wrap(err, "modelFileNames[%d]", i)
		}
		if path == "" {
			return nil, Refuse(NoFile, "modelFileNames[%d] is an empty string: want the name of a file "+
				"[hb-model-file-names-empty]", i)
		}
		files = append(files, model.Source{Path: path})
	}
	return files, nil
}

// Unpacked are the files, with those of pack lists in place of the lists.
func Unpacked(files []model.Source) (sources []model.Source, err error) {
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
	return sources, nil
}

// Data are the bytes of models that a program hands over, which are not needed afterwards.
func Data(data []uintptr, lengths []int32) ([]model.Source, error) {
	if len(data) == 0 {
		return nil, Invalid("modelDataCount is 0: want at least one model [hb-model-data-count]")
	}
	var sources []model.Source
	for i, at := range data {
		switch {
		case at == 0:
			return nil, Invalid("modelData[%d] is NULL: want the bytes of a model [hb-model-data-null]", i)
		case lengths[i] <= 0:
			return nil, Invalid("modelDataLengths[%d] is %d: want the bytes of modelData[%d] "+
				"[hb-model-data-lengths]", i, lengths[i], i)
		}
		if err := boundary.CheckRange(CPointer(at), uint64(lengths[i])); err != nil {
			return nil, fault.Wrap(err, "modelData[%d]", i)
		}
		sources = append(sources, model.Source{Data: BytesAt(at, int64(lengths[i]))})
	}
	return sources, nil
}

// NewPacked loads the models of all sources with load, or none. keep says whether a model becomes one of the pack's.
func NewPacked(sources []model.Source, what string, files int, load func(s model.Source) (PackedModel, error),
	keep func(p *Packed, m PackedModel) bool) (*Packed, error) {
	p := &Packed{Files: files}
	for i, s := range sources {
		m, err := load(s)
		if err != nil {
			p.free()
			return nil, loadError(err, fmt.Sprintf("%s: model %d", what, i))
		}
		if keep != nil && !keep(p, m) {
			m.Free()
			continue
		}
		m.Base().Pack = p
		p.models = append(p.models, m)
	}
	var names []uintptr
	for _, m := range p.models {
		names = append(names, m.Base().Text(m.Base().Name))
	}
	boundary.SetSlice(&p.names, names)
	return p, nil
}

// loadError gives the error of a model that could not be loaded its code (section 11, load errors).
func loadError(err error, what string) error {
	code, own := boundary.Prescribed[Code](err)
	switch {
	case own:
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
		code = NoFile
	case fault.KindOf(err) == fault.Memory:
		code = NoMemory
	default:
		code = BadModel
	}
	return RefuseFor(code, err, "%s", what)
}

func (p *Packed) free() {
	for _, m := range p.models {
		m.Free()
	}
	p.names.Free()
}

// ReleasePacked ends a pack and all that was borrowed from it, when the users of its models have ended. refuse says why
// it is not to end, by the numbers of users and holders.
func (a *API) ReleasePacked(h uintptr, refuse func(busy, held int) error) error {
	var p *Packed
	for {
		var err error
		if h == 0 {
			err = handle.ErrNull
		} else if p, err = handle.Close[Packed](h); err == nil {
			break
		}
		if !errors.Is(err, handle.ErrBusy) {
			return p.BadHandle(fault.Wrap(err, "%s: %#x", a.Pack, h))
		}
		runtime.Gosched() // another call uses it, or ends it
	}
	p.mu.Lock()
	err := refuse(p.busy, p.held)
	p.closed = err == nil
	p.mu.Unlock()
	if err != nil {
		handle.Reopen(h)
		return err
	}
	p.unused()
	for _, m := range p.models {
		for !handle.Drop(m) {
			runtime.Gosched() // a call that only asks
		}
	}
	p.free()
	handle.Drop(p)
	return nil
}

// NameList gives the names of all models in the order of the files.
func (p *Packed) NameList(names *uintptr, count *int32) {
	*names, *count = p.names.Addr(), int32(len(p.models))
}

// Find is the first model with a name.
func (p *Packed) Find(name string) (PackedModel, error) {
	var have []string
	for _, m := range p.models {
		if m.Base().Name == name {
			return m, nil
		}
		have = append(have, m.Base().Name)
	}
	return nil, Invalid("modelName is %q: the models are called %q [hb-model-name-models]", name, have)
}
