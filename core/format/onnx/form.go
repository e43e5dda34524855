package onnx

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// The types of AttributeProto that operators have.
const (
	attrFloat = 1 + iota
	attrInt
	attrString
	attrTensor
	attrGraph
	attrFloats
	attrInts
	attrStrings
)

// attrTypes are the types of attributes of ai.onnx by name: each name has one in all operators, but for those of
// attrType.
var attrTypes = map[string]int64{}

func init() {
	for kind, names := range map[int64]string{
		attrInt: "align_corners allowzero antialias axis batch_axis batch_dims block_size blocksize ceil_mode " +
			"center_point_box count_include_pad detect_negative detect_positive dtype end exclude_outside exclusive fmod " +
			"group hidden_size ignore_index input_forget interleaved inverse is_causal is_test k keepdims kv_num_heads " +
			"largest layout linear_before_reset max_gram_length max_skip_count min_gram_length new_axis " +
			"noop_with_empty_axes num_groups num_heads num_outputs num_scan_inputs offset_group onesided output_datatype " +
			"output_dtype output_height output_width periodic precision q_num_heads qk_matmul_output_mode reverse " +
			"rotary_embedding_dim sample_size sampling_ratio saturate select_last_index size softmax_precision sorted " +
			"spatial start stash_type storage_order time_axis training_mode transA transB upper value_int",
		attrFloat: "alpha beta bias clip cubic_coeff_a epsilon extrapolation_value gamma high lambd low max mean min " +
			"momentum ratio scale softcap spatial_scale value_float",
		attrString: "approximate auto_pad coordinate_transformation_mode direction equation keep_aspect_ratio_policy mode " +
			"nearest_mode padding_mode reduction value_string",
		attrGraph: "body else_branch then_branch",
		attrInts: "axes dilations directions ends kernel_shape ngram_counts ngram_indexes output_padding output_shape pads " +
			"perm pool_int64s pooled_shape scan_input_axes scan_input_directions scan_output_axes scan_output_directions " +
			"shape split starts strides value_ints",
		attrFloats:  "activation_alpha activation_beta scales value_floats weights",
		attrStrings: "activations pool_strings value_strings",
	} {
		for _, name := range strings.Fields(names) {
			attrTypes[name] = kind
		}
	}
}

// inputCount says how many inputs an operator has in the versions before one, of those whose lowering or operator does
// not say it.
type inputCount struct {
	before      int64 // 0: all that are left
	least, most int
}

var inputCounts = map[string][]inputCount{
	"Cast":                      {{0, 1, 1}},
	"CastLike":                  {{0, 2, 2}},
	"Clip":                      {{11, 1, 1}, {0, 1, 3}},
	"ConstantOfShape":           {{0, 1, 1}},
	"Dropout":                   {{12, 1, 1}, {0, 1, 3}},
	"Gather":                    {{0, 2, 2}},
	"Gemm":                      {{11, 3, 3}, {0, 2, 3}},
	"Hardmax":                   {{0, 1, 1}},
	"LayerNormalization":        {{0, 2, 3}},
	"LogSoftmax":                {{0, 1, 1}},
	"MeanVarianceNormalization": {{0, 1, 1}},
	"Multinomial":               {{0, 1, 1}},
	"Pad":                       {{11, 1, 1}, {18, 2, 3}, {0, 2, 4}},
	"ReduceMax":                 {{18, 1, 1}, {0, 1, 2}},
	"ReduceMin":                 {{18, 1, 1}, {0, 1, 2}},
	"Resize":                    {{11, 2, 2}, {0, 1, 4}},
	"Slice":                     {{10, 1, 1}, {0, 3, 5}},
	"Softmax":                   {{0, 1, 1}},
	"TopK":                      {{10, 1, 1}, {0, 2, 2}},
	"Transpose":                 {{0, 1, 1}},
	"Unsqueeze":                 {{13, 1, 1}, {0, 2, 2}},
	"Upsample":                  {{9, 1, 1}, {0, 2, 2}},
}

// attrType returns the type of an attribute of the node, 0 if it has none of that name.
func (p *nodeProto) attrType(name string, version int64) int64 {
	switch {
	case name == "value" && p.opType == "Pad", name == "seed" && p.opType != "Dropout", name == "p" && version < 2 && strings.HasSuffix(p.opType, "LpPool"):
		return attrFloat
	case name == "value":
		return attrTensor
	case name == "to" && version < 6:
		return attrString
	case name == "seed", name == "p", name == "to":
		return attrInt
	}
	return attrTypes[name]
}

// checkForm checks what a lowering does not see: the types of attributes, of which it would read none, inputs that it
// does not look at, and attributes that must be there.
func (p *nodeProto) checkForm(version int64) error {
	for _, name := range sortedKeys(p.attrs) {
		a := p.attrs[name]
		if want := p.attrType(name, version); want != 0 && a.typ != 0 && a.typ != want {
			return fault.New(fault.File, "attribute %s has the type %d of ONNX, want %d", name, a.typ, want)
		}
	}
	if p.opType == "Concat" && version >= 4 && p.attrs["axis"] == nil {
		return fault.New(fault.File, "attribute axis is missing")
	}
	list := inputCounts[p.opType]
	i := slices.IndexFunc(list, func(c inputCount) bool { return c.before == 0 || version < c.before })
	if i < 0 {
		return nil
	}
	n := len(p.in)
	if c := list[i]; n < c.least || n > c.most {
		return fault.New(fault.File, "want %d to %d inputs, got %d", c.least, c.most, n)
	}
	for k := range list[i].least {
		if p.in[k] == "" {
			return fault.New(fault.File, "input %d is missing", k)
		}
	}
	return nil
}
