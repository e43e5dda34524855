package hbdnn

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
)

// dnnRoiInfer adds runs of a model to a task whose resizer inputs are regions of images: tensors and regions are batch
// by batch, results one after another, and the last batch of the model is filled up (section 8).
func dnnRoiInfer(to, output *uintptr, input *Tensor, first *Roi, count int32, m *Model, c *InferCtrlParam) error {
	if *output == 0 {
		return invalid("output points to NULL: want the array of the model's output tensors " +
			"[hbdnn-output-points-null-array]")
	}
	if err := checkControl(c); err != nil {
		return err
	}
	switch {
	case count <= 0:
		return invalid("roiCount is %d: want at least one region [hbdnn-roi-count-region]", count)
	case count > maxMembers:
		return refuse(errBatch, "roiCount is %d: a task has at most %d regions "+
			"[hbdnn-roi-count-task]", count, maxMembers)
	}
	if err := boundary.CheckRange(unsafe.Pointer(first), uint64(count)*uint64(unsafe.Sizeof(*first))); err != nil {
		return fault.Wrap(err, "rois")
	}
	rois := slices.Clone(unsafe.Slice(first, int(count)))
	for i, r := range rois {
		if r.left > r.right || r.top > r.bottom {
			return invalid("rois[%d] is left %d, top %d, right %d, bottom %d: want left <= right and top <= "+
				"bottom [hbdnn-rois-left-top]", i, r.left,
				r.top, r.right, r.bottom)
		}
	}
	resizers := 0
	for _, p := range m.in {
		if p.resizer() {
			resizers++
		}
	}
	switch {
	case resizers == 0:
		return misused("dnnHandle: model %q has no input whose source is a resizer, which anynpu.input.NAME.source in its "+
			"metadata says: hbDNNInfer runs it [hbdnn-dnn-handle-model]", m.Name)
	case len(rois)%resizers != 0:
		return invalid("roiCount is %d: the model has %d resizer inputs and wants a region for each of every "+
			"batch [hbdnn-roi-count-model]", count,
			resizers)
	}
	return enqueue(to, c, len(rois), func(t *Task) error {
		list, err := m.regions((*Tensor)(cPointer(*output)), input, rois, len(rois)/resizers)
		if err == nil {
			for _, m := range list {
				t.Add(m)
			}
		}
		return err
	})
}

// resizer reports whether an input is made of regions.
func (p *port) resizer() bool { return p.Image != nil && p.Image.Source == "resizer" }

// regions makes the members for a number of batches.
func (m *Model) regions(output, input *Tensor, rois []Roi, batches int) (list []*member, err error) {
	whole := false
	defer func() {
		if !whole { // also when the memory of the tensors faults
			for _, n := range list {
				n.End()
			}
		}
	}()
	size := 1 // of the model's batch
	for _, p := range m.in {
		if p.resizer() {
			size = int(p.batch())
		}
	}
	runs := (batches + size - 1) / size
	for run := range runs {
		if err := m.Pack.Enter(); err != nil {
			return list, err
		}
		n := &member{model: m}
		list = append(list, n)
		for k := range m.in {
			var own bound
			for i := range size {
				one, err := m.regionOf(input, rois, min(run*size+i, batches-1), k)
				if err != nil {
					own.release()
					return list, err
				}
				own = append(own, one)
				if one.batch == m.in[k].batch() {
					break
				}
			}
			n.in = append(n.in, own)
		}
		for k, p := range m.out {
			one, err := p.result(served().tensors(output, k+1)[k], fmt.Sprintf("(*output)[%d]", k), run, runs)
			if err != nil {
				return list, err
			}
			n.out = append(n.out, bound{one})
		}
	}
	whole = true
	return list, nil
}

// regionOf takes input k of a batch.
func (m *Model) regionOf(input *Tensor, rois []Roi, batch, k int) (piece, error) {
	p := m.in[k]
	at := batch*len(m.in) + k
	t, name := served().tensors(input, at+1)[at], fmt.Sprintf("input[%d]", at)
	if !p.resizer() {
		return p.take(t, name, p.batch() > 1)
	}
	resizers, own := 0, 0
	for i, q := range m.in {
		if q.resizer() {
			if i == k {
				own = resizers
			}
			resizers++
		}
	}
	source, err := takePicture(t, name)
	if err != nil {
		return piece{}, err
	}
	d := &p.Image.Decode
	roi := batch*resizers + own
	region, err := source.within(rois[roi], fmt.Sprintf("rois[%d]", roi))
	if err == nil {
		_, h, w := p.Image.Size(p.dims)
		err = aimed().refuseRegion(fmt.Sprintf("rois[%d]", roi), rois[roi], source, h, w)
	}
	same := source.pixel == pixelsOf[p.kind] && (source.interleaved == d.Interleaved || p.kind == typeY)
	if err == nil && !same {
		err = invalid("%s.properties: tensorType is %s in %s: %q takes %s in %s "+
			"[hbdnn-properties-tensor-type-takes]", name, typeName(t.properties.kind),
			layoutName(t.properties.layout), p.Name, typeName(p.kind), layoutName(p.layout))
	}
	if err != nil {
		source.release()
		return piece{}, err
	}
	source.interleaved = d.Interleaved // of a single component both are the same
	return piece{batch: 1, source: source, region: region}, nil
}

// result takes the place of one run's result in a tensor for several: as queried, or with a first size for all.
func (p *port) result(t *Tensor, name string, run, runs int) (piece, error) {
	if err := boundary.CheckRange(unsafe.Pointer(t), 96+136); err != nil {
		return piece{}, fault.Wrap(err, "%s", name)
	}
	d := &t.properties
	valid, ok := d.valid.list()
	if d.kind != p.kind || !ok || len(valid) != len(p.valid) || len(valid) > 0 && !slices.Equal(valid[1:], p.valid[1:]) ||
		len(valid) > 0 && valid[0] != p.valid[0] && valid[0] != int64(runs)*p.valid[0] {
		return piece{}, invalid("%s.properties: tensorType is %s and validShape %v: %q is %s %v, of %d runs "+
			"[hbdnn-properties-tensor-type-valid]", name,
			typeName(d.kind), valid, p.Name, typeName(p.kind), p.valid, runs)
	}
	if need := p.bytes * int64(runs); t.mem[0].virt != 0 && int64(t.mem[0].size) < need {
		return piece{}, invalid("%s.sysMem[0].memSize is %d: the results of %d runs of %q take %d bytes, alignedByteSize "+
			"for "+
			"each [hbdnn-sys-mem-size]", name, t.mem[0].size, runs, p.Name, need)
	}
	own := t.mem[0]
	if own.virt != 0 {
		own.virt += uintptr(int64(run) * p.bytes)
	}
	buf, err := pinned(&own, name+".sysMem[0]", p.bytes)
	return piece{buf: buf, batch: p.batch()}, err // with gaps where the port has some
}
