package rules

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// structs are the sizes that queries want, by command.
var structs = []int{8, 376, 376, 16, 8, 512, 64, 1024, 376, 376, 376, 376, 40, 33040, 376, 376, 376, 376}

// answered calls a query with room of a size, filled with a pattern but for the index, and returns the room.
func (t *T) answered(want int, ctx uintptr, cmd, size int) []byte {
	room := bytes.Repeat([]byte{0xaa}, 40000)
	clear(room[:4])
	t.Is(want, "query", ctx, cmd, room, size)
	return room
}

func untouched(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0xaa }) }

var tableLines = []string{
	"Network Layer Information Table", "Total Operator Elapsed Per Frame Time(us): ",
	"Total Memory Read/Write Per Frame Size(KB): ",
	"Operator Time Consuming Ranking Table",
}

// ordered tells whether the words follow one another in a line of a text.
func ordered(text string, words ...string) bool {
	for line := range strings.Lines(text) {
		at := 0
		for _, w := range words {
			i := strings.Index(line[at:], w)
			if i < 0 {
				at = -1
				break
			}
			at += i + len(w)
		}
		if at >= 0 {
			return true
		}
	}
	return false
}

// times runs a model and returns, by the type of the operator, type and shapes of the rows of its table.
func (t *T) times(m *model, set func(ctx uintptr)) map[string]string {
	ctx, d, rows := t.Open(m, flagPerf), perfDetail{}, map[string]string{}
	set(ctx)
	t.Run(ctx)
	t.OK("query", ctx, queryPerfDetail, &d, 16)
	for _, r := range regexp.MustCompile(`(?m)^\d+\s+(\S+)\s+(\S+)\s+CPU\s+(\S+)\s+(\S+)\s`).FindAllStringSubmatch(
		cmem.Text(d.Data), -1) {
		if r[3] == `\` {
			continue
		}
		t.Check(rows[r[1]] == "" || strings.HasSuffix(r[1], "Linear"), "two rows of %s", r[1])
		rows[r[1]] = r[2] + " " + r[3] + " " + r[4]
	}
	return rows
}

var queries = []*Rule{
	rule("3.a_order_of_checks", "the handle is judged first, then the command, the size, and the index").
		OK("all_right", func(t *T) { t.Attr(t.Open(relu(1, 4), 0), queryInput, 0) }).
		No("handle", func(t *T) { t.Is(badContext, "query", 0, 99, nil, 0) }).
		No("command", func(t *T) {
			t.Bad("query", t.Open(relu(1, 4), 0), 99, &tensorAttr{Index: 9}, 4)
			t.Says("cmd is 99")
		}).
		No("size", func(t *T) {
			t.Bad("query", t.Open(relu(1, 4), 0), queryInput, &tensorAttr{Index: 9}, 20)
			t.Says("size is 20")
		}).
		No("index", func(t *T) {
			t.Bad("query", t.Open(relu(1, 4), 0), queryInput, &tensorAttr{Index: 9}, 376)
			t.Says("info->index is 9")
		}).
		No("NULL", func(t *T) {
			ctx := t.Open(relu(1, 4), 0)
			for cmd, size := range structs {
				t.Bad("query", ctx, cmd, nil, size)
			}
		}),
	rule("3.b_commands", "the commands are 0 to 17; the message of another says so").
		OK("all", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for cmd, size := range structs {
				t.answered(success, ctx, cmd, size)
			}
		}).
		No("beyond", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for _, cmd := range []uint32{18, 19, 100, 1 << 31, 1<<32 - 1} {
				t.Bad("query", ctx, cmd, make([]byte, 40000), 40000)
				t.Says("0 to 17")
			}
		}),
	rule("3.c_exact_size", "a struct of the header's size is enough, one byte less is not, and nothing is written then").
		OK("exact", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for cmd, size := range structs {
				room := t.answered(success, ctx, cmd, size)
				t.Check(untouched(room[size:]), "command %d wrote behind its %d bytes", cmd, size)
			}
		}).
		No("less", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for cmd, size := range structs {
				for _, n := range []int{size - 1, size / 2, 4} {
					room := t.answered(badParam, ctx, cmd, n)
					t.Check(untouched(room[4:]), "command %d with %d bytes wrote", cmd, n)
				}
			}
		}),
	rule("3.d_larger_size", "a larger size is accepted and only the struct is written").
		OK("larger", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for cmd, size := range structs {
				room := t.answered(success, ctx, cmd, size+1000)
				t.Check(untouched(room[size:]), "command %d wrote behind its %d bytes", cmd, size)
			}
		}).
		No("zero", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for cmd := range structs {
				t.Bad("query", ctx, cmd, make([]byte, 40000), 0)
			}
		}),
	rule("3.e_older_sizes", "the sizes 372 and 360 of rknn_tensor_attr and 8 of rknn_mem_size get that many bytes; no "+
		"others").
		OK("older", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for _, cmd := range []int{1, 2, 8, 9, 10, 11, 14, 15, 16, 17} {
				full := t.answered(success, ctx, cmd, 376)
				for _, size := range []int{372, 360} {
					room := t.answered(success, ctx, cmd, size)
					t.Check(bytes.Equal(room[:size], full[:size]) && untouched(room[size:]), "command %d with %d bytes", cmd, size)
				}
			}
			full, room := t.answered(success, ctx, queryMemSize, 64), t.answered(success, ctx, queryMemSize, 8)
			t.Check(bytes.Equal(room[:8], full[:8]) && untouched(room[8:]), "rknn_mem_size of 8 bytes")
		}).
		No("between", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for _, size := range []int{359, 361, 368, 371, 373, 375} {
				t.answered(badParam, ctx, queryInput, size)
			}
			t.answered(badParam, ctx, queryMemSize, 7)
			t.answered(badParam, ctx, queryMemSize, 63)
		}),
	rule("3.f_index", "the caller's index selects the tensor; one that is none is PARAM_INVALID").
		OK("each", func(t *T) {
			ctx := t.Open(add(1, 4), 0)
			for i, name := range []string{"a", "b"} {
				a := t.Attr(ctx, queryInput, i)
				t.Check(rknn.TextOf(a.Name[:]) == name && a.Index == uint32(i), "input %d is %q", i, rknn.TextOf(a.Name[:]))
			}
		}).
		No("none", func(t *T) {
			ctx := t.Open(add(1, 4), 0)
			for _, cmd := range []int{1, 2, 8, 9, 10, 11, 14, 15, 16, 17} {
				for _, i := range []uint32{2, 100, 1<<32 - 1} {
					t.Bad("query", ctx, cmd, &tensorAttr{Index: i}, 376)
				}
			}
			t.Bad("query", t.Open(dynamic(), 0), queryRange, &inputRange{Index: 1}, structSizeRange)
		}),
	rule("3.g_in_out_num", "gives the numbers of inputs and outputs").
		OK("counts", func(t *T) {
			n := inOutNum{}
			t.OK("query", t.Open(add(1, 4), 0), queryInOutNum, &n, 8)
			t.Check(n == inOutNum{In: 2, Out: 1}, "%v", n)
		}).
		No("small", func(t *T) { t.answered(badParam, t.Open(add(1, 4), 0), queryInOutNum, 7) }),
	rule("3.h_attr_of_dynamic_models", "INPUT_ATTR and OUTPUT_ATTR give the largest shape of a dynamic model, whatever "+
		"is set").
		OK("largest", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			for range 2 {
				in, out := t.Attr(ctx, queryInput, 0), t.Attr(ctx, queryOutput, 0)
				t.Check(slices.Equal(in.Shape(), []uint32{1, 4, 3, 2}) && slices.Equal(out.Shape(), []uint32{1, 2, 4, 3}),
					"%v and %v", in.Shape(), out.Shape())
				t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			}
		}).
		No("not_listed", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.Is(failed, "set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 8, 3, 2))
			t.Check(t.Attr(ctx, queryInput, 0).Dims[1] == 4, "another shape")
		}),
	rule("3.i_perf_detail_without_times", "PERF_DETAIL gives a string, empty without the flag or a run, and data_len "+
		"its length").
		OK("empty", func(t *T) {
			for _, flags := range []uint32{0, flagPerf} {
				d := perfDetail{Length: 99}
				t.OK("query", t.Open(relu(1, 4), flags), queryPerfDetail, &d, 16)
				t.Check(d.Data != 0 && cmem.Text(d.Data) == "" && d.Length == 0, "want an empty string")
			}
		}).
		No("small", func(t *T) { t.answered(badParam, t.Open(relu(1, 4), flagPerf), queryPerfDetail, 15) }),
	rule("3.j_perf_detail_table", "PERF_DETAIL is a table with the title, columns, rows and sums that parsers look for").
		OK("table", func(t *T) {
			ctx, d := t.Open(quantized(0.5, 0, 1, 4), flagPerf), perfDetail{}
			t.Set(ctx, int8T, undefined, []int8{1, 2, 3, 4})
			t.Run(ctx)
			t.OK("query", ctx, queryPerfDetail, &d, 16)
			s := cmem.Text(d.Data)
			t.Check(len(s) == int(d.Length), "data_len is %d of %d", d.Length, len(s))
			at := 0
			for _, line := range tableLines {
				i := strings.Index(s[at:], line)
				t.Check(i >= 0, "%q is not in it, or earlier:\n%s", line, s)
				at += i
			}
			t.Check(ordered(s, "ID", "OpType", "DataType", "Target", "InputShape", "OutputShape", "Cycles(DDR/NPU/Total)",
				"Time(us)", "MacUsage(%)", "WorkLoad(0/1/2)", "RW(KB)", "FullName"), "columns:\n%s", s)
			t.Check(ordered(s, "OpType", "CallNumber", "CPUTime(us)", "GPUTime(us)", "NPUTime(us)", "TotalTime(us)",
				"TimeRatio(%)"), "columns of the second table:\n%s", s)
			rows := regexp.MustCompile(
				`(?m)^(\d+)\s+(\S+)\s+(\S+)\s+(CPU|NPU|GPU)\s+(\S+)\s+(\S+)\s+\S+\s+(\d+)\s.*\s(\S+:\S*)\s*$`).
				FindAllStringSubmatch(s, -1)
			t.Check(len(rows) >= 3 && rows[0][1] == "1" && rows[0][2] == "InputOperator" && rows[0][5] == `\` &&
				rows[len(rows)-1][2] == "OutputOperator", "rows:\n%s", s)
			t.Check(strings.HasPrefix(rows[1][5], "(1,4)") && strings.HasPrefix(rows[1][8], rows[1][2]+":"),
				"the row of the operator: %q", rows[1])
			t.Check(regexp.MustCompile(`Total Operator Elapsed Per Frame Time\(us\): \d+\n`).MatchString(s), "the sum:\n%s", s)
		}).
		No("without_flag", func(t *T) {
			ctx, d := t.Open(relu(1, 4), 0), perfDetail{}
			t.works(ctx)
			t.OK("query", ctx, queryPerfDetail, &d, 16)
			t.Check(cmem.Text(d.Data) == "", "a table")
			t.Judged(false)
		}),
	rule("3.jb_perf_detail_of_codes", "a row has the operator's own result, and the type of the codes that it computes "+
		"with; an operator has one row").
		OK("between_codes", func(t *T) {
			rows := t.times(codedConv(), func(ctx uintptr) { t.Set(ctx, int8T, nhwc, make([]int8, 48)) })
			t.Check(strings.HasPrefix(rows["Conv"], "INT8 (1,3,4,4),") && strings.HasSuffix(rows["Conv"], " (1,5,2,2)"), "%q",
				rows)
			t.Check(rows["Relu"] == "INT8 (1,5,2,2) (1,5,2,2)" && rows["Softmax"] == "FLOAT32 (1,5,2,2) (1,5,2,2)", "%q", rows)
		}).
		OK("of_codes", func(t *T) {
			rows := t.times(linearConv(), func(ctx uintptr) { t.Set(ctx, int8T, nhwc, make([]int8, 48)) })
			t.Check(strings.HasPrefix(rows["QLinearConv"], "INT8 (1,3,4,4),") && strings.HasSuffix(rows["QLinearConv"],
				" (1,5,2,2)"), "%q", rows)
			t.Check(len(rows) == 1, "%q", rows)
		}).
		OK("of_a_shape_that_is_set", func(t *T) {
			rows := t.times(dynamic(), func(ctx uintptr) {
				t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
				t.Set(ctx, float32T, nhwc, make([]float32, 6))
			})
			t.Check(rows["Relu"] == "FLOAT32 (1,2,1,3) (1,2,1,3)", "%q", rows)
		}).
		No("small", func(t *T) { t.answered(badParam, t.Open(codedConv(), flagPerf), queryPerfDetail, 15) }),
	rule("3.ja_perf_detail_of_two_cores", "on a board of two cores the column is WorkLoad(0/1)").
		OK("two", func(t *T) {
			ctx, d := t.Open(relu(1, 4), flagPerf), perfDetail{}
			t.works(ctx)
			t.OK("query", ctx, queryPerfDetail, &d, 16)
			t.Check(strings.Contains(cmem.Text(d.Data), "WorkLoad(0/1) ") &&
				regexp.MustCompile(`(?m)^2 .* \d+\.\d%/\d+\.\d% `).MatchString(cmem.Text(d.Data)), "%s", cmem.Text(d.Data))
		}).With(rknn.On("rk3576")).
		No("three", func(t *T) {
			ctx, d := t.Open(relu(1, 4), flagPerf), perfDetail{}
			t.works(ctx)
			t.OK("query", ctx, queryPerfDetail, &d, 16)
			t.Check(!strings.Contains(cmem.Text(d.Data), "WorkLoad(0/1) "), "%s", cmem.Text(d.Data))
			t.Bad("query", ctx, queryPerfDetail, &d, 8)
		}),
	rule("3.k_perf_detail_buffer", "the text of PERF_DETAIL may be written to, as strtok does, and is whole again at "+
		"the next query").
		OK("written", func(t *T) {
			ctx, d := t.Open(relu(1, 4), flagPerf), perfDetail{}
			t.works(ctx)
			t.OK("query", ctx, queryPerfDetail, &d, 16)
			before := cmem.Text(d.Data)
			clear(cmem.Span[byte](d.Data, int(d.Length)))
			t.OK("query", ctx, queryPerfDetail, &d, 16)
			t.Check(cmem.Text(d.Data) == before, "the text changed")
		}).
		No("ended", func(t *T) {
			ctx := t.Open(relu(1, 4), flagPerf)
			t.OK("destroy", ctx)
			t.Is(badContext, "query", ctx, queryPerfDetail, new(perfDetail), 16)
		}),
	rule("3.l_sdk_version", "gives the versions of the API, NUMBER.NUMBER.NUMBER (BUILD@TIME), and the driver, "+
		"NUMBER.NUMBER.NUMBER; neither has other dots").
		OK("form", func(t *T) {
			v := &sdkVersion{}
			t.OK("query", t.Open(relu(1, 4), 0), queryVersion, v, structSizeVersion)
			t.Check(regexp.MustCompile(`^\d+\.\d+\.\d+ \(\w+@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)$`).MatchString(
				rknn.TextOf(v.API[:])),
				"api_version %q", rknn.TextOf(v.API[:]))
			t.Check(regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(rknn.TextOf(v.Driver[:])), "drv_version %q",
				rknn.TextOf(v.Driver[:]))
		}).
		OK("newest", func(t *T) { // which clients compare with 2.4.1
			v := &sdkVersion{}
			t.OK("query", t.Open(relu(1, 4), 0), queryVersion, v, structSizeVersion)
			t.Check(strings.HasPrefix(rknn.TextOf(v.API[:]), "2.5.0 ("), "api_version %q", rknn.TextOf(v.API[:]))
		}).
		OK("set", func(t *T) {
			v := &sdkVersion{}
			t.OK("query", t.Open(relu(1, 4), 0), queryVersion, v, structSizeVersion)
			t.Check(rknn.TextOf(v.API[:]) == "1.6.0 (9a7b5d24c@2023-12-13T17:31:11)", "api_version %q", rknn.TextOf(v.API[:]))
		}).With("ANYNPU_RKNN_VERSION=1.6.0 (9a7b5d24c@2023-12-13T17:31:11)").
		No("small", func(t *T) { t.answered(badParam, t.Open(relu(1, 4), 0), queryVersion, 511) }),
	rule("3.m_perf_run", "gives the microseconds of the last run, 0 before the first, right after rknn_run").
		OK("runs", func(t *T) {
			ctx, v := t.Open(relu(1, 256, 512, 4), 0), int64(-1)
			t.OK("query", ctx, queryPerfRun, &v, 8)
			t.Check(v == 0, "%d before a run", v)
			t.Set(ctx, float32T, nhwc, make([]float32, 256*512*4))
			t.Run(ctx)
			t.OK("query", ctx, queryPerfRun, &v, 8)
			t.Check(v > 0 && v < 60_000_000, "%d us", v)
		}).
		No("small", func(t *T) { t.answered(badParam, t.Open(relu(1, 4), 0), queryPerfRun, 7) }),
	rule("3.n_mem_size", "gives sizes above 0 that rknn_create_mem takes, without any flag; no SRAM").
		OK("usable", func(t *T) {
			ctx, m := t.Open(relu(1, 4), 0), memSize{}
			t.OK("query", ctx, queryMemSize, &m, 64)
			t.Check(m.Weight > 0 && m.Internal > 0 && m.Dma >= uint64(m.Weight) && m.Sram == 0 && m.FreeSRAM == 0, "%+v", m)
			t.OK("set_weight_mem", ctx, cmem.Address(t.Mem(ctx, int(m.Weight))))
			t.OK("set_internal_mem", ctx, cmem.Address(t.Mem(ctx, int(m.Internal))))
		}).
		OK("weights", func(t *T) {
			ctx, m := t.Open((&model{}).Constant("w", onnxFloat, rknn.RealBytes(make([]float32, 3000)...), 3000).
				Node("Add", "y", "x", "w").
				Input("x", onnxFloat, 3000).Output("y", onnxFloat, 3000), 0), memSize{}
			t.OK("query", ctx, queryMemSize, &m, 64)
			t.Check(m.Weight >= 12000, "%d bytes for 12000 of constants", m.Weight)
		}).
		No("small", func(t *T) { t.answered(badParam, t.Open(relu(1, 4), 0), queryMemSize, 63) }),
	rule("3.o_custom_string", "gives the model's string, empty when it has none").
		OK("given", func(t *T) {
			for want, m := range map[string]*model{"": relu(1, 4), "board 7": relu(1, 4).Meta("anynpu.custom_string",
				"board 7")} {
				b := make([]byte, 1024)
				b[0] = 'x'
				t.OK("query", t.Open(m, 0), queryString, b, 1024)
				t.Check(rknn.TextOf(b) == want, "%q, want %q", rknn.TextOf(b), want)
			}
		}).
		No("small", func(t *T) { t.answered(badParam, t.Open(relu(1, 4), 0), queryString, 1023) }),
	rule("3.p_device_mem", "gives the size of the model's bytes, and the program's descriptor under "+
		"MODEL_BUFFER_ZERO_COPY").
		OK("size", func(t *T) {
			m := tensorMem{Virt: 9, Phys: 9, FD: 9}
			t.OK("query", t.Open(relu(1, 4), 0), queryDeviceMem, &m, structSizeMem)
			t.Check(m == tensorMem{FD: -1, Size: uint32(len(relu(1, 4).Bytes()))}, "%+v", m)
		}).
		OK("descriptor", func(t *T) {
			data := relu(1, 4).Bytes()
			mem := t.Mem(t.Open(relu(1, 4), 0), 4096)
			copy(mem.Bytes(), data)
			ctx, m := new(uintptr), tensorMem{}
			t.OK("init", ctx, mem.Virt, 4096, flagZeroCopyModel, &initExtend{Size: uint32(len(data)), FD: mem.FD})
			t.OK("query", t.Owned(*ctx), queryDeviceMem, &m, structSizeMem)
			t.Check(m.FD == mem.FD && int(m.Size) == len(data), "%+v, want the descriptor %d", m, mem.FD)
		}).
		No("small", func(t *T) { t.answered(badParam, t.Open(relu(1, 4), 0), queryDeviceMem, 39) }),
	rule("3.q_dynamic_range", "gives the number, format and list of the shapes of an input; a static model is "+
		"MODEL_INVALID").
		OK("list", func(t *T) {
			r := &inputRange{}
			t.OK("query", t.Open(dynamic(), 0), queryRange, r, structSizeRange)
			t.Check(r.Shapes == 3 && r.Format == nhwc && r.Rank == 4 && rknn.TextOf(r.Name[:]) == "x",
				"%d shapes of rank %d in format %d of %q", r.Shapes, r.Rank, r.Format, rknn.TextOf(r.Name[:]))
			t.Check(r.Dims[0] == [16]uint32{1, 2, 3, 2} && r.Dims[1] == [16]uint32{1, 4, 3, 2} &&
				r.Dims[2] == [16]uint32{1, 1, 3, 2}, "%v", r.Dims[:3])
		}).
		No("static", func(t *T) {
			t.Is(badModel, "query", t.Open(relu(1, 4), 0), queryRange, new(inputRange), structSizeRange)
			t.Says("anynpu.input.NAME.shapes")
			t.Silent()
		}),
	rule("3.r_current_attr", "14 to 17 give the attributes for the shape that is set").
		OK("set", func(t *T) {
			ctx := t.Open(dynamic(), 0)
			t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, 1, 3, 2))
			for cmd, want := range map[int][]uint32{14: {1, 1, 3, 2}, 15: {1, 2, 1, 3}, 16: {1, 1, 3, 2}, 17: {1, 1, 1, 3, 8}} {
				got := t.Attr(ctx, cmd, 0)
				t.Check(slices.Equal(got.Shape(), want) && int(got.Elems) == rknn.Count(want),
					"command %d: %v of %d elements, want %v", cmd, got.Shape(), got.Elems, want)
			}
		}).
		No("index", func(t *T) { t.Bad("query", t.Open(dynamic(), 0), queryCurrentNatOut, &tensorAttr{Index: 1}, 376) }),
	rule("3.s_current_attr_of_static_models", "14 to 17 answer for a static model as 1, 2, 8 and 9 do").
		OK("same", func(t *T) {
			ctx := t.Open(relu(1, 3, 2, 5), 0)
			for cmd, as := range map[int]int{14: 1, 15: 2, 16: 8, 17: 9} {
				t.Check(*t.Attr(ctx, cmd, 0) == *t.Attr(ctx, as, 0), "command %d differs from %d", cmd, as)
			}
		}).
		No("range", func(t *T) {
			t.Is(badModel, "query", t.Open(relu(1, 3, 2, 5), 0), queryRange, new(inputRange), structSizeRange)
		}),
	rule("3.t_sizes_of_structs", "the structs have the sizes of the header").
		OK("sizes", func(t *T) {
			for name, got := range map[string][2]uintptr{
				"rknn_tensor_attr": {unsafe.Sizeof(tensorAttr{}), 376}, "rknn_input_range": {unsafe.Sizeof(inputRange{}), 33040},
				"rknn_mem_size":   {unsafe.Sizeof(memSize{}), 64},
				"rknn_tensor_mem": {unsafe.Sizeof(tensorMem{}), 40}, "rknn_input": {unsafe.Sizeof(input{}), 32},
				"rknn_output":      {unsafe.Sizeof(output{}), 24},
				"rknn_init_extend": {unsafe.Sizeof(initExtend{}), 136}, "rknn_run_extend": {unsafe.Sizeof(runExtend{}), 24},
				"rknn_custom_op":        {unsafe.Sizeof(customOp{}), 832},
				"rknn_custom_op_tensor": {unsafe.Sizeof(opTensor{}), 416}, "rknn_custom_op_attr": {unsafe.Sizeof(opAttr{}), 272},
				"rknn_custom_op_context": {unsafe.Sizeof(opContext{}), 48},
			} {
				t.Check(got[0] == got[1], "%s: %d bytes here, want %d", name, got[0], got[1])
			}
			t.Attr(t.Open(relu(1, 4), 0), queryInput, 0)
		}).
		No("too_small", func(t *T) { t.Bad("query", t.Open(relu(1, 4), 0), queryInput, new(tensorAttr), 300) }),
}
