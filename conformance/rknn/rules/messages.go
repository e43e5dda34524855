package rules

import (
	"strings"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// message is a rule that a refused call writes one full sentence with these parts; run makes the call, right does the
// nearest right one.
func message(id, text string, right, wrong func(*T), parts ...string) *Rule {
	return rule(id, text).OK("right", right).No("sentence", func(t *T) {
		wrong(t)
		if !t.HasMessages() {
			return
		}
		t.Says(parts...)
		got := t.LastError()
		t.Check(strings.HasPrefix(got, rknn.API.Prefix) && !strings.Contains(got, "\n"),
			"%q is no line that begins with a function's name", got)
	})
}

func openRelu(t *T) { t.works(t.Open(relu(1, 4), 0)) }

var messages = []*Rule{
	message("10.a_fail_before_run", "-1 for results before a run says what comes first", openRelu, func(t *T) {
		t.Is(failed, "outputs_get", t.Open(relu(1, 4), 0), 1, []output{{}}, nil)
	}, "rknn_outputs_get", "rknn_run"),
	message("10.b_fail_core_mask", "-1 for a core mask names it and those of the board", openRelu, func(t *T) {
		t.Is(failed, "set_core_mask", t.Open(relu(1, 4), 0), 6)
	}, "core_mask is 0x6", "rk3588", "0xffff"),
	message("10.c_param_size_of_query", "-5 for a struct of another header names its size and the right one", openRelu,
		func(t *T) {
			t.Bad("query", t.Open(relu(1, 4), 0), queryInput, new(tensorAttr), 368)
		}, "size is 368", "rknn_tensor_attr has 376 bytes", "372", "360"),
	message("10.d_param_size_of_input", "-5 for a short input names the field, its value, what decides the size and the "+
		"type that would fit", openRelu, func(t *T) {
		t.Bad("inputs_set", t.Open(relu(1, 612), 0), 1, []input{t.Given(0, float32T, undefined, make([]uint16, 612))})
	}, "inputs[0].size is 1224", "612 elements", "2448 bytes", "RKNN_TENSOR_FLOAT16"),
	message("10.e_param_set_io_mem", "-5 for attributes that do not fit names the field and what the tensor takes",
		openRelu, func(t *T) {
			ctx := t.Open(relu(1, 3, 4, 5), 0)
			a := *t.Attr(ctx, queryOutput, 0)
			a.Kind = int8T
			t.Bad("set_io_mem", ctx, cmem.Address(t.Mem(ctx, 4096)), &a)
		}, "attr->type is RKNN_TENSOR_INT8", "RKNN_TENSOR_FLOAT16", "RKNN_TENSOR_FLOAT32"),
	message("10.f_model", "-6 says how the file begins and what is wanted", openRelu, func(t *T) {
		t.refusedModel([]byte("\x89PNG\r\n\x1a\n"))
	}, "rknn_init", "PNG", "ONNX"),
	message("10.g_context", "-7 names the handle", openRelu, func(t *T) { t.Is(badContext, "run", uintptr(0x1234), nil) },
		"rknn_run", "context", "0x1234"),
	message("10.h_input", "-8 names the index and how many inputs there are", openRelu, func(t *T) {
		t.Is(badInput, "inputs_set", t.Open(relu(1, 4), 0), 1, []input{{Index: 3}})
	}, "inputs[0].index is 3", "1 input"),
	message("10.i_output", "-9 names the index and how many outputs there are", openRelu, func(t *T) {
		t.Is(badOutput, "outputs_get", t.ran(), 1, []output{{Index: 3, IsPrealloc: 1}}, nil)
	}, "outputs[0].index is 3", "1 output"),
	message("10.j_static_model", "-6 for the shapes of a static model says how a dynamic one lists them", openRelu,
		func(t *T) {
			t.Is(badModel, "query", t.Open(relu(1, 4), 0), queryRange, new(inputRange), structSizeRange)
		}, "RKNN_QUERY_INPUT_DYNAMIC_RANGE", "anynpu.input.NAME.shapes"),
	message("10.k_memory", "-5 for memory that was destroyed says so", openRelu, func(t *T) {
		ctx := t.Open(relu(1, 4), 0)
		m := t.Mem(ctx, 64)
		t.OK("destroy_mem", ctx, cmem.Address(m))
		t.Bad("set_io_mem", ctx, cmem.Address(m), t.Attr(ctx, queryInput, 0))
	}, "mem is", "rknn_create_mem", "destroyed"),
	message("10.l_missing_file", "-6 for a file that is not there names it", openRelu, func(t *T) {
		t.Is(badModel, "init", new(uintptr), "./model/yolov5s.rknn", 0, 0, nil)
	}, "yolov5s.rknn", "no such file"),
	rule("10.m_warnings_of_lost_buffers", "buffers that were not released are told when the context ends").
		Ours("sentences of the log").
		OK("told", func(t *T) {
			ctx := t.ran()
			t.OK("outputs_get", ctx, 1, []output{{}}, nil)
			t.Logs()
			t.OK("destroy", ctx)
			t.Logs("rknn_outputs_release")
		}).
		No("after_the_end", func(t *T) {
			ctx := t.ran()
			t.OK("destroy", ctx)
			t.Is(badContext, "outputs_get", ctx, 1, []output{{}}, nil)
		}),
}
