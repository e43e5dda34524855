package models

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/queue"
)

// LoadAll loads every version of every model in the folder and returns how many there are and could be loaded. Kind
// fault.File when the folder cannot be read.
func (r *Repository) LoadAll(ctx context.Context) (loaded, all int, err error) {
	there, err := r.scan()
	if err != nil {
		return 0, 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if ctx.Err() != nil {
			break
		}
		all += len(there[name])
		n, _ := r.load(ctx, name, there[name])
		loaded += n
	}
	return loaded, all, nil
}

// Load loads every version of a model that the folder has, anew where it is loaded already: requests go to the version
// of before until then, and on when the file cannot be loaded. Versions whose files are gone are unloaded. ErrUnknown,
// or what the loading of a version reports.
func (r *Repository) Load(ctx context.Context, name string) error {
	there, err := r.scan()
	if err != nil {
		return err
	}
	if len(there[name]) == 0 {
		return refusal(ErrUnknown, "failed to load %q, no such model in the repository", name)
	}
	_, err = r.load(ctx, name, there[name])
	return err
}

// load loads the files as the versions of a model; it returns how many it could, and the first error.
func (r *Repository) load(ctx context.Context, name string, files map[int]string) (loaded int, first error) {
	r.loads.Lock()
	defer r.loads.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()
	for _, n := range slices.Sorted(maps.Keys(files)) {
		if !r.state(name, n, Loading) {
			return loaded, queue.ErrClosed
		}
		begin := time.Now()
		v, err := r.open(ctx, name, n, files[n])
		if err == nil {
			loaded++
		} else if first == nil {
			first = fault.Wrap(err, "failed to load %q version %d", name, n)
		}
		r.put(name, n, v, err)
		if err != nil {
			r.config.Log(fmt.Sprintf("model %s version %d is not loaded: %v", name, n, err))
		} else {
			r.config.Log(fmt.Sprintf("model %s version %d is loaded from %s in %.0f ms", name, n, files[n],
				float64(time.Since(begin).Microseconds())/1000))
		}
	}
	for _, n := range r.gone(name, files) {
		r.put(name, n, nil, nil)
		r.config.Log(fmt.Sprintf("model %s version %d is unloaded: its file is gone", name, n))
	}
	return loaded, first
}

// gone are the versions of a model that have no file.
func (r *Repository) gone(name string, files map[int]string) (list []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := range r.models[name] {
		if _, there := files[n]; !there {
			list = append(list, n)
		}
	}
	return list
}

// state notes what is being done to a version; false: the repository is closed.
func (r *Repository) state(name string, n int, state string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	if r.models[name] == nil {
		r.models[name] = map[int]*slot{}
	}
	if r.models[name][n] == nil {
		r.models[name][n] = &slot{}
	}
	if s := r.models[name][n]; s.version == nil || state != Loading {
		s.state, s.reason = state, ""
	}
	return true
}

// put has a version compute from now on, nil: none, and closes the one before when what it was given is done. A version
// that could not be loaded leaves the one before in its place. A version without an error and a reason is forgotten.
func (r *Repository) put(name string, n int, v *Version, err error) {
	r.mu.Lock()
	s := r.models[name][n]
	old := s.version
	switch {
	case err != nil && old != nil:
		s.state, s.reason = Ready, "the file of now cannot be loaded: "+err.Error()
		old = nil
	case err != nil:
		s.state, s.reason = Unavailable, err.Error()
	case v != nil && r.closed:
		old = v
	case v != nil:
		s.version, s.state, s.reason = v, Ready, ""
	default:
		delete(r.models[name], n)
	}
	r.mu.Unlock()
	if old != nil {
		r.old.Go(func() { old.Close(r.life) })
	}
}

// open makes a version ready.
func (r *Repository) open(ctx context.Context, name string, n int, path string) (*Version, error) {
	p, err := r.config.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	v := &Version{Name: name, Number: n, Path: path}
	v.In, v.Out = p.Ports()
	v.Metadata = oip.Model{Name: name, Platform: "anynpu"}
	if v.Metadata.Inputs, err = describe("input", v.In); err == nil {
		v.Metadata.Outputs, err = describe("output", v.Out)
	}
	if err != nil {
		return nil, err
	}
	c := r.config.Queue
	c.Joined = func(ok bool, why string) {
		if ok {
			r.config.Log(fmt.Sprintf("model %s version %d: requests are joined", name, n))
		} else {
			r.config.Log(fmt.Sprintf("model %s version %d: requests are not joined: %s", name, n, why))
		}
	}
	v.Queue = queue.New(p, c)
	return v, nil
}

// describe returns ports as the protocol has them. Kind fault.Unsupported for types that it lacks.
func describe(side string, ports []device.Port) ([]oip.Port, error) {
	out := make([]oip.Port, len(ports))
	for i, p := range ports {
		typ, ok := oip.Datatype(p.Type.DType)
		if !ok {
			return nil, fault.New(fault.Unsupported, "%s %q is %v, which the protocol has no datatype for", side, p.Name,
				p.Type.DType)
		}
		shape := []int64{-1}
		if p.Type.Shape.Ranked {
			shape = make([]int64, len(p.Type.Shape.Dims))
			for k, d := range p.Type.Shape.Dims {
				if shape[k] = -1; d.Known() {
					shape[k] = d.N
				}
			}
		}
		out[i] = oip.Port{Name: p.Name, Datatype: typ, Shape: shape}
	}
	return out, nil
}

// Unload has no version of a model compute any more; requests that it has are still answered. ErrUnknown for a model
// that is not loaded.
func (r *Repository) Unload(name string) error {
	r.loads.Lock()
	defer r.loads.Unlock()
	r.mu.Lock()
	var old []*Version
	for _, s := range r.models[name] {
		if s.version != nil {
			old = append(old, s.version)
			s.version, s.state = nil, Unloading
		}
	}
	known := len(r.models[name]) > 0
	r.mu.Unlock()
	switch {
	case !known:
		return refusal(ErrUnknown, "failed to unload %q, no such model is loaded", name)
	case len(old) > 0:
		r.config.Log(fmt.Sprintf("model %s is unloaded", name))
	}
	for _, v := range old {
		r.old.Go(func() {
			v.Close(r.life)
			r.unloaded(v)
		})
	}
	return nil
}

// unloaded notes that a version has ended, unless another has taken its place.
func (r *Repository) unloaded(v *Version) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.models[v.Name][v.Number]; s != nil && s.version == nil && s.state == Unloading {
		s.state, s.reason = Unavailable, "unloaded"
	}
}

// Close refuses further requests, waits for those that there are and for the loading of a model until ctx ends, stops
// what is left, and frees everything.
func (r *Repository) Close(ctx context.Context) {
	halt := context.AfterFunc(ctx, r.stop)
	defer halt()
	defer r.stop()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.loads.Lock() // nothing is loaded any more
	defer r.loads.Unlock()
	r.Each(func(v *Version) {
		r.mu.Lock()
		r.models[v.Name][v.Number].state = Unloading
		r.mu.Unlock()
		r.old.Go(func() { v.Close(r.life) })
	})
	r.old.Wait()
}
