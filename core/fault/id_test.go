package fault

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestArea(t *testing.T) {
	for function, want := range map[string]string{
		module + "core/op.(*Conv).Infer.func1":         "op",
		module + "core/format/onnx/lower.conv":         "onnx-lower",
		module + "backends/cpu/plan/ops.F[...]":        "cpu",
		module + "backends/remote/link.(*Client).Dial": "remote",
		module + "core/parallel.Each":                  "core",
		module + "capi/rknn.query":                     "core",
		"example.com/core/op.Conv":                     "core",
		"main.main":                                    "core",
		module + "core/format/onnx.Import":             "onnx",
		module + "core/fault_test.TestArea":            "core",
	} {
		assert.Equal(t, want, Area(packageOf(function)), function)
	}
}

func TestCut(t *testing.T) {
	for in, want := range map[string][2]string{
		"size: 3: want 4 [rknn-size]": {"size: 3: want 4", "rknn-size"},
		"a [b-c] [d-e2]":              {"a [b-c]", "d-e2"},
		"shape [1 2]":                 {"shape [1 2]", ""},
		"shape [-1]":                  {"shape [-1]", ""},
		"type [int]":                  {"type [int]", ""},
		"x [A-b]":                     {"x [A-b]", ""},
		"x [a-]":                      {"x [a-]", ""},
		"x[a-b]":                      {"x[a-b]", ""},
		"":                            {"", ""},
	} {
		text, id := Cut(in)
		assert.Equal(t, want, [2]string{text, id}, in)
	}
}

func TestIDOf_isTheInnermostOwnOne(t *testing.T) {
	inner := New(Shape, "rank %d [x-rank]", 3)
	assert.Equal(t, "rank 3", inner.Error())
	assert.Equal(t, "x-rank", IDOf(As(File, Wrap(inner, "conv"), "file [x-file]")))
	assert.Equal(t, "x-rank", IDOf(fmt.Errorf("all: %w", errors.Join(io.EOF, inner))))
	assert.Equal(t, "x-file", IDOf(As(File, io.EOF, "file [x-file]")))
	assert.Equal(t, "core-type", IDOf(Wrap(New(Type, "float9"), "conv")), "no area has the package of this test")
	assert.Equal(t, "core-type", IDOf(As(File, New(Type, "float9"), "a.onnx")), "the cause is the innermost")
	assert.Equal(t, "core-shape", IDOf(Wrap(&Error{Kind: Shape}, "conv")))
	assert.Equal(t, "core-internal", IDOf(io.EOF))
	assert.Equal(t, "", IDOf(nil))
}

func TestMessage_takesNoIDFromWhatIsFormatted(t *testing.T) {
	text, id := Message("name %s", "n [x-forged]")
	assert.Equal(t, [2]string{"name n [x-forged]", ""}, [2]string{text, id})
}
