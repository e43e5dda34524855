package hbdnn

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

// A geometry is what a program that scales images is made for; its regions are of a run.
type geometry struct {
	pixel       op.Pixel
	interleaved bool
	h, w        int64 // of the image
	oh, ow      int64 // of the result
}

// mostScalers bounds the programs that are kept.
const mostScalers = 16

// scalers are the programs that scale images, each made when first wanted. They end with the last model and task.
var scalers struct {
	mu    sync.Mutex
	users int
	kept  map[geometry]*scaler
}

// scaler is a program with the executions that no task has.
type scaler struct {
	program *compile.Program
	idle    []*scaling
}

// scaling is an execution of a scaler.
type scaling struct {
	of      *scaler
	shape   geometry
	exec    *io.Execution
	regions mem.Buffer
}

// holdScalers keeps programs that scale until dropScalers.
func holdScalers() {
	scalers.mu.Lock()
	defer scalers.mu.Unlock()
	scalers.users++
}

func dropScalers() {
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
func forget(g geometry) {
	s := scalers.kept[g]
	delete(scalers.kept, g)
	for _, r := range s.idle {
		r.free()
	}
	s.idle = nil
	s.program.Release()
}

// borrowScaling returns an execution that no other task has.
func borrowScaling(g geometry) (*scaling, error) {
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
			scalers.kept = map[geometry]*scaler{}
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

func newScaler(g geometry) (*scaler, error) {
	o := op.ResizeImage{Pixel: g.pixel, Interleaved: g.interleaved, Height: g.oh, Width: g.ow}
	made, err := model.Resizer(o, 1, g.h, g.w, true)
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

// scale writes region r of an image to a place for another one, both one or two planes.
func scale(g geometry, from []mem.View, r op.Region, to []mem.View) error {
	holdScalers() // a task may be released while it runs
	defer dropScalers()
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
