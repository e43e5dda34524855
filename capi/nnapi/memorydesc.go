package nnapi

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// MemoryDesc is an ANeuralNetworksMemoryDesc: the roles that memory will have. Safe for concurrent use.
type MemoryDesc struct {
	handle.Ref

	mu       sync.Mutex
	finished bool
	shape    shape
	roles    []role
}

func memoryDescCreate() (*MemoryDesc, error) { return &MemoryDesc{}, nil }

// memoryDescFree leaves memories made from the description as they are.
func memoryDescFree(*MemoryDesc) error { return nil }

func (d *MemoryDesc) open() error {
	if d.finished {
		return badState("desc: it is finished: nothing can be added after ANeuralNetworksMemoryDesc_finish " +
			"[nnapi-desc-finished-nothing]")
	}
	return nil
}

// merge adds dimensions to those known, all of them open for an unknown rank. It changes nothing when they contradict.
func (s *shape) merge(dims []uint32) bool {
	if len(dims) == 0 {
		return true
	}
	if !s.ranked {
		s.ranked, s.operand.Dims = true, slices.Clone(dims)
		return true
	}
	if !agree(s.operand.Dims, dims) {
		return false
	}
	for i, n := range dims {
		s.operand.Dims[i] = max(s.operand.Dims[i], n)
	}
	return true
}

// agree reports whether two lists of dimensions, neither of unknown rank, can be one tensor's.
func agree(a, b []uint32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && a[i] != 0 && b[i] != 0 {
			return false
		}
	}
	return true
}

// completes reports whether given says what dims says, and more where dims is open.
func completes(dims, given []uint32) bool {
	if len(dims) != len(given) {
		return false
	}
	for i := range dims {
		if dims[i] != given[i] && dims[i] != 0 {
			return false
		}
	}
	return true
}

func (d *MemoryDesc) addRole(c *Compilation, index uint32, frequency float32, output bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(); err != nil {
		return err
	}
	result := c.finishedResult()
	if result == nil {
		return badData("compilation: it is not finished, or has failed: call ANeuralNetworksCompilation_finish " +
			"first [nnapi-compilation-finished-failed]")
	}
	ports, what := result.in, "inputs"
	if output {
		ports, what = result.out, "outputs"
	}
	if uint64(index) >= uint64(len(ports)) {
		return badData("index: %d: the model has %d %s [nnapi-index-model]", index, len(ports), what)
	}
	if !(frequency > 0 && frequency <= 1) {
		return badData("frequency: %v: want a number above 0 and at most 1 [nnapi-frequency-number-above]", frequency)
	}
	r := role{result, output, index}
	if slices.Contains(d.roles, r) {
		return badData("index: %d: the description has this role already [nnapi-index-description-role]", index)
	}
	o := ports[index].operand
	if len(d.roles) > 0 {
		first := &d.shape.operand
		if o.Type != first.Type || o.Scale != first.Scale || o.ZeroPoint != first.ZeroPoint || !sameScales(o, first) {
			return badData("index: %d is %v with scale %v and zero point %d: earlier roles are %v with %v and %d "+
				"[nnapi-index-scale-zero]", index,
				o.Type, o.Scale, o.ZeroPoint, first.Type, first.Scale, first.ZeroPoint)
		}
	} else if o.Type.IsScalar() && d.shape.ranked {
		return badData("index: %d is %v, a scalar: the description has dimensions %v "+
			"[nnapi-index-scalar-description]", index, o.Type, d.shape.operand.Dims)
	}
	if !d.shape.merge(o.Dims) {
		return badData("index: %d has dimensions %v: those known so far are %v "+
			"[nnapi-index-dimensions-those]", index, o.Dims, d.shape.operand.Dims)
	}
	dims := d.shape.operand.Dims
	d.shape.operand = nnapi.Operand{Type: o.Type, Scale: o.Scale, ZeroPoint: o.ZeroPoint, Channel: o.Channel, Dims: dims}
	d.roles = append(d.roles, r)
	return nil
}

func sameScales(a, b *nnapi.Operand) bool {
	if a.Channel == nil || b.Channel == nil {
		return a.Channel == b.Channel
	}
	return a.Channel.Dim == b.Channel.Dim && slices.Equal(a.Channel.Scales, b.Channel.Scales)
}

func memoryDescAddInputRole(d *MemoryDesc, c *Compilation, index uint32, frequency float32) error {
	return d.addRole(c, index, frequency, false)
}

func memoryDescAddOutputRole(d *MemoryDesc, c *Compilation, index uint32, frequency float32) error {
	return d.addRole(c, index, frequency, true)
}

// memoryDescSetDimensions takes a rank of 0 as one that stays open.
func memoryDescSetDimensions(d *MemoryDesc, rank uint32, p unsafe.Pointer) error {
	if p == nil && rank > 0 {
		return null("dimensions")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(); err != nil {
		return err
	}
	if rank > maxRank {
		return badData("rank: %d: want at most %d [nnapi-rank-most]", rank, maxRank)
	}
	if rank > 0 && len(d.roles) > 0 && d.shape.operand.Type.IsScalar() {
		return badData("rank: %d: the roles are %v, a scalar [nnapi-rank-roles-scalar]", rank, d.shape.operand.Type)
	}
	if known := d.shape.operand.Dims; rank > 0 && d.shape.ranked && int(rank) != len(known) {
		return badData("rank: %d: the dimensions known so far are %v [nnapi-rank-dimensions-known]", rank, known)
	}
	dims, err := elements((*uint32)(p), uint64(rank), "dimensions")
	if err != nil {
		return err
	}
	if !d.shape.merge(dims) {
		return badData("dimensions: %v: those known so far are %v "+
			"[nnapi-dimensions-those-known]", dims, d.shape.operand.Dims)
	}
	return nil
}

func memoryDescFinish(d *MemoryDesc) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.finished {
		return badState("desc: it is finished already [nnapi-desc-finished-already]")
	}
	if len(d.roles) == 0 {
		return badData("desc: it has no role: call ANeuralNetworksMemoryDesc_addInputRole or ..._addOutputRole " +
			"first [nnapi-desc-no-role]")
	}
	d.finished = true
	return nil
}

// memoryCreateFromDesc takes memory of the device that computes the first role.
func memoryCreateFromDesc(d *MemoryDesc) (*Memory, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.finished {
		return nil, badState("desc: it is not finished: call ANeuralNetworksMemoryDesc_finish first " +
			"[nnapi-desc-finished-memory]")
	}
	o := d.shape.operand
	size, err := o.Size()
	if err != nil || size == 0 || !o.Specified() || size > math.MaxInt64 {
		return nil, refuse(OpFailed, "desc: %v%v: memory needs all dimensions: call "+
			"ANeuralNetworksMemoryDesc_setDimensions [nnapi-desc-memory-needs]", o.Type, o.Dims)
	}
	buf, err := d.roles[0].compiled.devices[0].Alloc(int64(size))
	if err != nil {
		return nil, refuseFor(OpFailed, err, "desc: %d bytes of device %s "+
			"[nnapi-desc-bytes-device]", size, d.roles[0].compiled.devices[0].name)
	}
	o.Dims = slices.Clone(o.Dims)
	return &Memory{size: size, fd: -1, buf: buf, managed: &managed{operand: o, roles: slices.Clone(d.roles)}}, nil
}

// state returns what the memory holds.
func (m *Memory) state() (dims []uint32, written bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.managed.dims, m.managed.written
}

// setState notes what was written to the memory; nil dims stand for those it was made with.
func (m *Memory) setState(dims []uint32, written bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if dims == nil {
		dims = m.managed.operand.Dims
	}
	m.managed.dims, m.managed.written = dims, written
}

// memoryCopy leaves dst without contents when it fails.
func memoryCopy(src, dst *Memory) error {
	if src == dst {
		return nil
	}
	err := copyMemory(src, dst)
	if dst.managed != nil && err != nil {
		dst.setState(nil, false)
	}
	return err
}

func copyMemory(src, dst *Memory) error {
	var dims []uint32
	if src.managed != nil {
		var written bool
		if dims, written = src.state(); !written {
			return badData("src: nothing was written to it [nnapi-src-nothing-written]")
		}
	}
	if src.size != dst.size {
		return badData("dst: %d bytes: src has %d [nnapi-dst-bytes-src]", dst.size, src.size)
	}
	if src.managed != nil && dst.managed != nil && !agree(dst.managed.operand.Dims, dims) {
		return badData("dst: it was made with dimensions %v: src has %v "+
			"[nnapi-dst-made-dimensions]", dst.managed.operand.Dims, dims)
	}
	from, err := src.whole(reading)
	if err != nil {
		return err
	}
	defer from.Release()
	to, err := dst.whole(writing)
	if err != nil {
		return err
	}
	defer to.Release()
	if err := guarded("the memory", func() error { return mem.Copy(to, 0, from, 0, int64(src.size)) }); err != nil {
		return refuseFor(Unmappable, err, "memory")
	}
	if dst.managed != nil {
		dst.setState(dims, true)
	}
	return nil
}

// whole is all bytes of the memory, with a reference for the caller.
func (m *Memory) whole(use access) (mem.Buffer, error) {
	if m.managed == nil && m.protect&int32(use) == 0 {
		return nil, refuse(Unmappable, "memory: it was made with protect %#x, which does not let it be copied so "+
			"[nnapi-memory-made-protect-let]", m.protect)
	}
	return m.buffer()
}
