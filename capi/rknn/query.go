package rknn

import (
	"cmp"
	"math"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/capi/anynpu"
	"github.com/anynpu/anynpu/capi/boundary"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// The versions that programs read. They have the vendor's form, NUMBER.NUMBER.NUMBER (BUILD@TIME) and
// NUMBER.NUMBER.NUMBER: clients split the whole string at its dots and want three parts. The build is this library's,
// the time that of the runtime whose behaviour it follows; headers after 2.3.2 are not public, and need not be.
var apiVersion = "2.5.0 (anynpu_" + strings.ReplaceAll(anynpu.Version, ".", "_") + "@2026-09-29T00:00:00)"

const driverVersion = "0.0.0" // there is no driver

// query answers a question about a context (section 3). Structs larger than needed are accepted.
func query(c *Context, cmd spec.QueryCmd, info []byte) error {
	if !c.inside() {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	m := c.model
	switch cmd {
	case spec.QueryInOutNum:
		return answer(info, "rknn_input_output_num", spec.InOutNum{Inputs: uint32(len(m.in)), Outputs: uint32(len(m.out))})
	case spec.QueryPerfDetail:
		return c.perfDetail(info)
	case spec.QueryPerfRun:
		return answer(info, "rknn_perf_run", PerfRun{c.exec.Stats().LastRun.Microseconds()})
	case spec.QuerySDKVersion:
		var v SDKVersion
		setText(v.api[:], cmp.Or(boundary.Getenv("ANYNPU_RKNN_VERSION"), apiVersion))
		setText(v.driver[:], driverVersion)
		return answer(info, "rknn_sdk_version", v)
	case spec.QueryMemSize:
		return answer(info, "rknn_mem_size", c.memSize(), memSize10)
	case spec.QueryCustomString:
		var v CustomString
		setText(v.text[:], m.meta.CustomString)
		return answer(info, "rknn_custom_string", v)
	case spec.QueryDeviceMemInfo:
		return answer(info, "rknn_tensor_mem", spec.TensorMem{FD: c.fd, Size: uint32(min(m.size, math.MaxUint32))})
	case spec.QueryInputDynamicRange:
		return c.dynamicRange(info)
	}
	if cmd > spec.QueryCurrentNativeOutputAttr {
		return invalid("cmd is %d: the commands are 0 to %d "+
			"[rknn-cmd-commands]", cmd, spec.QueryCurrentNativeOutputAttr)
	}
	return c.queryAttr(cmd, info)
}

// queryAttr answers the commands whose struct names a tensor by its index.
func (c *Context) queryAttr(cmd spec.QueryCmd, info []byte) error {
	const name = "rknn_tensor_attr"
	if n := len(info); n < int(unsafe.Sizeof(spec.TensorAttr{})) && n != attrSize10 && n != attrSize07 {
		return invalid("size is %d: %s has %d bytes%s [rknn-size-bytes]", n, name, unsafe.Sizeof(spec.TensorAttr{}),
			olderSizes([]int{attrSize10, attrSize07}))
	}
	m, set := c.model, c.set
	if cmd < spec.QueryCurrentInputAttr {
		set = m.largest
	}
	input := cmd == spec.QueryInputAttr || cmd == spec.QueryNativeInputAttr || cmd == spec.QueryNativeNHWCInputAttr ||
		cmd == spec.QueryCurrentInputAttr || cmd == spec.QueryCurrentNativeInputAttr
	ports, dims := m.out, m.shapes[set].Out
	if input {
		ports, dims = m.in, m.shapes[set].In
	}
	i := *(*uint32)(unsafe.Pointer(&info[0]))
	if int(i) >= len(ports) {
		what := "output"
		if input {
			what = "input"
		}
		return invalid("info->index is %d: the model has %s [rknn-info-index-model]", i, indexed(len(ports), what))
	}
	p, d := ports[i], dims[i]
	var a spec.TensorAttr
	switch cmd {
	case spec.QueryCurrentOutputAttr:
		a = c.currentAttr(i, p.outputAttr)
	case spec.QueryCurrentNativeOutputAttr:
		a = c.currentAttr(i, p.nativeAttr)
	case spec.QueryOutputAttr:
		a = p.outputAttr(i, d)
	case spec.QueryNativeOutputAttr:
		a = p.nativeAttr(i, d)
	case spec.QueryNativeNHWCOutputAttr:
		a = p.nhwcAttr(i, d)
	case spec.QueryNativeInputAttr, spec.QueryCurrentNativeInputAttr:
		a = p.nativeInputAttr(i, d)
	default:
		a = p.inputAttr(i, d)
	}
	return answer(info, name, a, attrSize10, attrSize07)
}

// dynamicRange lists the shapes of an input of a dynamic model, dimensions in the format of its attributes. Programs
// ask this to learn whether a model is dynamic, so that RKNN_ERR_MODEL_INVALID is an ordinary answer.
func (c *Context) dynamicRange(info []byte) error {
	m := c.model
	if len(info) < int(unsafe.Sizeof(InputRange{})) {
		return invalid("size is %d: rknn_input_range has %d bytes "+
			"[rknn-size-input-range]", len(info), unsafe.Sizeof(InputRange{}))
	}
	r := (*InputRange)(unsafe.Pointer(&info[0]))
	if !m.dynamic {
		return boundary.Note(refuse(spec.ErrModel,
			"cmd is RKNN_QUERY_INPUT_DYNAMIC_RANGE: the shapes of this model are fixed; "+
				"a dynamic one lists them in anynpu.input.NAME.shapes of its metadata [rknn-cmd-query-input]"))
	}
	i := r.index
	if int(i) >= len(m.in) {
		return invalid("info->index is %d: the model has %s [rknn-info-index-model]", i, indexed(len(m.in), "input"))
	}
	p := m.in[i]
	*r = InputRange{index: i, shapes: uint32(len(m.shapes)), format: p.format(true), rank: uint32(len(p.Shape.Dims))}
	setText(r.name[:], p.Name)
	for s := range m.shapes {
		r.dims[s] = p.inputAttr(i, m.shapes[s].In[i]).Dims
	}
	return nil
}

// memSize says how much memory constants and intermediate results take, at least a page each, as programs allocate what
// it says.
func (c *Context) memSize() MemSize {
	const page = 4096
	up := func(n int64) uint32 { return uint32(min((max(n, 1)+page-1)/page*page, math.MaxUint32/page*page)) }
	m := MemSize{weight: up(c.model.weights), internal: up(c.model.inner)}
	m.dma = uint64(m.weight) + uint64(m.internal)
	return m
}
