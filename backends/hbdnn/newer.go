package hbdnn

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
)

// UCP are the functions of a driver of the newer generation that a device takes.
type UCP interface {
	Functions
	DnnInferV2(task, output, input unsafe.Pointer, model uintptr) (int32, error)
	UcpSubmitTask(task uintptr, param unsafe.Pointer) (int32, error)
	UcpWaitTaskDone(task uintptr, timeout int32) (int32, error)
	UcpReleaseTask(task uintptr) (int32, error)
	UcpMallocCached(mem unsafe.Pointer, size uint64, device int32) (int32, error)
	UcpMemFlush(mem unsafe.Pointer, flag int32) (int32, error)
	UcpFree(mem unsafe.Pointer) (int32, error)
}

// neededOfUCP are the functions without which a driver of the newer generation is no device.
var neededOfUCP = []string{"hbDNNGetVersion", "hbDNNInitializeFromDDR", "hbDNNRelease", "hbDNNGetModelNameList",
	"hbDNNGetModelHandle", "hbDNNGetInputCount", "hbDNNGetInputName", "hbDNNGetInputTensorProperties",
	"hbDNNGetOutputCount", "hbDNNGetOutputName", "hbDNNGetOutputTensorProperties", "hbDNNInferV2", "hbUCPSubmitTask",
	"hbUCPWaitTaskDone", "hbUCPReleaseTask", "hbUCPMallocCached", "hbUCPMemFlush", "hbUCPFree"}

// NewUCP returns the device of a driver of the newer generation, as New does.
func NewUCP(l *driver.Library, u UCP, c driver.Config) (*Device, error) {
	return newDevice(l, newer{u}, neededOfUCP, newerOf, c)
}

// newerOf is the generation of a driver which says that it has a version, such as "3.13.6_(4.7.5 HBRT)".
func newerOf(version string) (generation, error) {
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n != 3 {
		return generation{}, fault.New(fault.Unsupported, "the driver has version %q: want 3.x", version)
	}
	return generation{newer: true}, nil
}

// newer is a driver of the newer generation.
type newer struct{ UCP }

var newerWords = words{wait: "hbUCPWaitTaskDone", alloc: "hbUCPMallocCached", flush: "hbUCPMemFlush",
	noMemory: -400001, noBlock: -400001,
	models: map[int32]string{-600002: "HB_UCP_MODEL_INVALID", -600004: "HB_UCP_MODEL_INCOMPATIBLE"}}

func (newer) words() *words { return &newerWords }

// prepare writes an hbUCPSchedParam: any core of the BPU.
func (newer) prepare(c *call, priority int32) {
	c.setWord(c.control, priority)
	c.setAddress(c.control+16, 1<<7)
}

func (n newer) start(c *call, model uintptr) error {
	code, err := n.DnnInferV2(c.at(0), c.at(c.outputs), c.at(c.inputs), model)
	if err = made("hbDNNInferV2", c, code, err); err != nil {
		return err
	}
	code, err = n.UcpSubmitTask(c.address(0), c.at(c.control))
	if err = refused("hbUCPSubmitTask", code, err); err != nil {
		_, _ = n.UcpReleaseTask(c.address(0)) // nothing is left to do with an error
	}
	return err
}

func (n newer) finish(task uintptr) error {
	code, err := n.UcpWaitTaskDone(task, 0)
	err = refused("hbUCPWaitTaskDone", code, err)
	code, released := n.UcpReleaseTask(task)
	if err == nil {
		err = refused("hbUCPReleaseTask", code, released)
	}
	return err
}

func (n newer) alloc(at unsafe.Pointer, size uint32) (int32, error) {
	return n.UcpMallocCached(at, uint64(size), 0)
}

func (n newer) flush(at unsafe.Pointer, flag int32) (int32, error) { return n.UcpMemFlush(at, flag) }
func (n newer) free(at unsafe.Pointer) (int32, error)              { return n.UcpFree(at) }

// newerKinds are the older generation's numbers of the newer one's element types; a bool is a byte.
var newerKinds = [...]int32{6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 9}

// newerRows divides the strides that a program has to give.
const newerRows = 64

// newerStrides is where the strides are, and newerDims how many.
const (
	newerStrides = 96
	newerDims    = 10
)

// readNewer reads hbDNNTensorProperties of the newer generation. Strides and a size that are the program's to say are
// decided, and written where they were.
func readNewer(data []byte) (p properties, err error) {
	word := func(at int) int32 { return int32(binary.NativeEndian.Uint32(data[at:])) }
	long := func(at int) int64 { return int64(binary.NativeEndian.Uint64(data[at:])) }
	rank, kind := word(4*newerDims), word(44)
	switch {
	case rank < 0 || rank > newerDims:
		return p, fault.New(fault.Device, "its valid shape has %d dimensions", rank)
	case kind < 0 || int(kind) >= len(newerKinds):
		return p, fault.New(fault.Device, "its type is %d", kind)
	}
	p = properties{kind: newerKinds[kind], layout: -1, scaleLen: word(48), scale: uintptr(long(56)), zeroLen: word(64),
		zero: uintptr(long(72)), zeroWidth: 4, axis: word(84), bytes: long(88)}
	switch quant := word(80); quant {
	case 0:
	case 1:
		p.quant = quantScale
	default:
		return p, fault.New(fault.Device, "its quantization is %d", quant)
	}
	for i := range int(rank) {
		p.valid = append(p.valid, int64(word(4*i)))
		p.stride = append(p.stride, long(newerStrides+8*i))
		if p.valid[i] == -1 {
			return p, fault.New(fault.Unsupported, "its size %d is for the program to say", i)
		}
	}
	p.aligned = p.valid
	if err = p.decide(int64(max(dtypes[p.kind].Bits(), 8) / 8)); err != nil {
		return p, err
	}
	for i, s := range p.stride {
		binary.NativeEndian.PutUint64(data[newerStrides+8*i:], uint64(s))
	}
	binary.NativeEndian.PutUint64(data[88:], uint64(p.bytes))
	return p, nil
}

// decide decides strides of -1, from the last one outwards, and a number of bytes of -1.
func (p *properties) decide(width int64) error {
	least := width
	for i := len(p.stride) - 1; i >= 0; i-- {
		if p.stride[i] == -1 {
			p.stride[i] = (least + newerRows - 1) / newerRows * newerRows
		}
		if p.stride[i] < 0 || p.valid[i] > 0 && p.stride[i] > math.MaxInt32/p.valid[i] {
			return fault.New(fault.Device, "the sizes %v lie %v bytes apart", p.valid, p.stride)
		}
		least = p.stride[i] * p.valid[i]
	}
	if p.bytes == -1 {
		p.bytes = least
	}
	if p.bytes > math.MaxInt32 {
		return fault.New(fault.Device, "its memory has %d bytes", p.bytes)
	}
	return nil
}
