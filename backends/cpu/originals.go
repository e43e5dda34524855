package cpu

import (
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// leastDropped is the size in bytes from which an original is worth dropping: smaller ones share memory in the store.
const leastDropped = 64 << 10

// dropped are the constants of a graph whose originals were freed because a plan reads a packed form of them. Its
// methods are safe for concurrent use.
type dropped struct {
	weights device.WeightStore
	unsaved bool // originals that nothing restores may go as well

	mu      sync.RWMutex              // held for reading while originals are read
	closed  bool                      // nothing is dropped any more
	byData  map[*byte][]*tensor.Const // the graph's constants that may be dropped, by the address of their bytes
	restore map[tensor.Hash]func([]byte)
	sizes   map[tensor.Hash]int
}

// newDropped finds what may be dropped of an exclusive unit's constants.
func newDropped(u device.Unit, o device.Options) *dropped {
	d := &dropped{
		weights: u.Weights, unsaved: o.Unsaved,
		byData: map[*byte][]*tensor.Const{}, restore: map[tensor.Hash]func([]byte){}, sizes: map[tensor.Hash]int{},
	}
	for i := range u.Graph.Values {
		if c := u.Graph.Values[i].Fact.Const; c != nil && len(c.Data) >= leastDropped {
			at := unsafe.SliceData(c.Data)
			d.byData[at] = append(d.byData[at], c)
		}
	}
	return d
}

// drop frees a constant whose bytes the plan does not read any more, if they can be had again. It is
// plan.Options.Unread.
func (d *dropped) drop(data []byte, restore func([]byte)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := unsafe.SliceData(data)
	all := d.byData[at]
	if d.closed || len(all) == 0 || restore == nil && !d.unsaved {
		return
	}
	h := all[0].Hash()
	for _, c := range all {
		c.Data = nil
	}
	delete(d.byData, at)
	d.restore[h], d.sizes[h] = restore, len(data)
	d.weights.Drop(h)
}

// originals returns g with all constants in place, the dropped ones in memory of their own, until done is called. Kind
// fault.Memory; fault.State when one is gone for good.
func (d *dropped) originals(g *graph.Graph) (whole *graph.Graph, done func(), err error) {
	d.mu.RLock()
	var buffers []mem.Buffer
	done = func() {
		d.mu.RUnlock()
		release(buffers)
	}
	whole, buffers, err = d.restored(g)
	if err != nil {
		done()
	}
	return whole, done, err
}

// keepOriginals is originals for good: nothing is dropped from now on, and the buffers are the caller's.
func (d *dropped) keepOriginals(g *graph.Graph) (whole *graph.Graph, buffers []mem.Buffer, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if whole, buffers, err = d.restored(g); err != nil {
		release(buffers)
	}
	return whole, buffers, err
}

// restored returns a copy of g with the dropped constants in buffers, which the caller releases whatever err is. mu is
// held.
func (d *dropped) restored(g *graph.Graph) (whole *graph.Graph, buffers []mem.Buffer, err error) {
	whole = g.WithInputs(nil)
	made := map[tensor.Hash]*tensor.Const{}
	for i := range whole.Values {
		f := &whole.Values[i].Fact
		if f.Const == nil || f.Const.Data != nil {
			continue
		}
		h := f.Const.Hash()
		n, ok := d.sizes[h]
		if !ok { // it is empty
			continue
		}
		if made[h] == nil {
			if d.restore[h] == nil {
				return nil, buffers, fault.New(fault.State, "constant %d %q was dropped", i, whole.Values[i].Name)
			}
			b, err := mem.Host(int64(n), mem.Options{})
			if err != nil {
				return nil, buffers, err
			}
			buffers = append(buffers, b)
			data, err := b.Map()
			if err != nil {
				return nil, buffers, err
			}
			d.restore[h](data)
			made[h] = tensor.NewHashedConst(data, h)
		}
		f.Const = made[h]
	}
	return whole, buffers, nil
}

func release(buffers []mem.Buffer) {
	for _, b := range buffers {
		b.Release()
	}
}
