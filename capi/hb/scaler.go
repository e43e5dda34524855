package hb

import (
	"context"
	"sync"

	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// A Geometry is the form for which a program that scales images is made; its regions are of a run.
type Geometry struct {
	Pixel       op.Pixel
	Interleaved bool
	H, W        int64 // of the image
	OH, OW      int64 // of the result
}

// mostScalers bounds the programs that are kept.
const mostScalers = 16

// scalers are the programs that scale images, each made when first wanted. They end with the last model and task.
var scalers struct {
	mu    sync.Mutex
	users int
	kept  map[Geometry]*scaler
}

// scaler is a program with the executions that no task has.
type scaler struct {
	program *compile.Program
	idle    []*scaling
}

// scaling is an execution of a scaler.
type scaling struct {
	of      *scaler
	shape   Geometry
	exec    *io.Execution
	regions mem.Buffer
}

// HoldScalers keeps programs that scale until DropScalers.
func HoldScalers() {
	scalers.mu.Lock()
	defer scalers.mu.Unlock()
	scalers.users++
}

// DropScalers ends one HoldScalers.
func DropScalers() {
	scalers.mu.Lock()
	defer scalers.mu.Unlock()
	if scalers.users--; scalers.users > 0 {
		return
	}
	for g := range scalers.kept {
		forget(g)
	}
}

// forget ends a program; executions that tasks have end when these give them back. The lock is held.
func forget(g Geometry) {
	s := scalers.kept[g]
	delete(scalers.kept, g)
	for _, r := range s.idle {
		r.free()
	}
	s.idle = nil
	s.program.Release()
}

// borrowScaling returns an execution that no other task has.
func borrowScaling(g Geometry) (*scaling, error) {
	scalers.mu.Lock()
	defer scalers.mu.Unlock()
	s := scalers.kept[g]
	if s == nil {
		var err error
		if s, err = newScaler(g); err != nil {
			return nil, err
		}
		for old := range scalers.kept {
			if len(scalers.kept) < mostScalers {
				break
			}
			forget(old)
		}
		if scalers.kept == nil {
			scalers.kept = map[Geometry]*scaler{}
		}
		scalers.kept[g] = s
	}
	if n := len(s.idle); n > 0 {
		r := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return r, nil
	}
	regions, err := mem.Host(16, mem.Options{})
	if err != nil {
		return nil, err
	}
	e, err := s.program.New(device.ExecOptions{})
	if err != nil {
		regions.Release()
		return nil, err
	}
	in, out := s.program.Ports()
	return &scaling{of: s, shape: g, exec: io.New(e, len(in), len(out)), regions: regions}, nil
}

func newScaler(g Geometry) (*scaler, error) {
	o := op.ResizeImage{Pixel: g.Pixel, Interleaved: g.Interleaved, Height: g.OH, Width: g.OW}
	made, err := model.Resizer(o, 1, g.H, g.W, true)
	if err != nil {
		return nil, err
	}
	all, err := devices.List()
	if err != nil {
		return nil, err
	}
	p, err := compile.Compile(context.Background(), made, all, compile.Options{})
	return &scaler{program: p}, err
}

func (r *scaling) free() {
	r.exec.Release()
	r.regions.Release()
}

// giveBack lets other tasks have the execution, unless its program is kept no more.
func (r *scaling) giveBack() {
	scalers.mu.Lock()
	defer scalers.mu.Unlock()
	if scalers.kept[r.shape] != r.of {
		r.free()
		return
	}
	r.of.idle = append(r.of.idle, r)
}

// Scale writes region r of an image to a place for another one, both one or two planes.
func Scale(g Geometry, from []mem.View, r op.Region, to []mem.View) error {
	HoldScalers() // a task may be released while it runs
	defer DropScalers()
	s, err := borrowScaling(g)
	if err != nil {
		return err
	}
	defer s.giveBack()
	defer s.exec.Unbind()
	regions := tensor.Int32s(int32(r.Left), int32(r.Top), int32(r.Right), int32(r.Bottom))
	if err := mem.Write(s.regions, 0, regions); err != nil {
		return err
	}
	for i, v := range append(from, mem.View{Buf: s.regions, Type: tensor.T(tensor.Int32, 1, 4)}) {
		if err := s.exec.Input(i, v); err != nil {
			return fault.Wrap(err, "image")
		}
	}
	for i, v := range to {
		if err := s.exec.Output(i, v); err != nil {
			return fault.Wrap(err, "result")
		}
	}
	return s.exec.Run(device.RunRequest{})
}

// ScalersKept is how many programs that scale are kept, and how many hold them.
func ScalersKept() (kept, users int) {
	scalers.mu.Lock()
	defer scalers.mu.Unlock()
	return len(scalers.kept), scalers.users
}
