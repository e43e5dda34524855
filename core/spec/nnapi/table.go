package nnapi

import "strings"

// The table of all operations, in the notation of arguments and typesOf. Source: NeuralNetworksTypes.h, the comments of
// OperationCode, and what the reference accepts where they leave it open.

func init() {
	defineElementwise()
	defineSpatial()
	defineMovement()
	defineReductions()
	defineDetection()
	defineRecurrent()
	// The arguments of control flow depend on the models that it refers to, see checkControl.
	define(If, "", "condition:B8/1 then:model else:model", "output")
	define(While, "", "condition:model body:model state", "output")
}

func defineElementwise() {
	for _, c := range []OperationCode{ReLU, ReLU1, ReLU6} {
		define(c, std, "input:T/1-4", "output:T", Same(0, 0))
	}
	define(Logistic, std, "input:T/1-4", "output:T", Fixed(TensorQuant8Asymm, 1./256, 0),
		Fixed(TensorQuant8AsymmSigned, 1./256, -128))
	define(Tanh, "F32 F16 Q8@3 Q8S", "input:T/1-4", "output:T", Fixed(TensorQuant8Asymm, 1./128, 128),
		Fixed(TensorQuant8AsymmSigned, 1./128, 0))
	define(HardSwish, std, "input:T", "output:T")
	define(ELU, "F32 F16", "input:T alpha:fx", "output:T")
	define(Floor, "F32 F16", "input:T/1-4", "output:T")
	for _, c := range []OperationCode{Exp, Log, Sin, Sqrt} {
		define(c, "F32 F16", "input:T", "output:T")
	}
	define(Abs, "F32 F16 I32@4", "input:T", "output:T")
	define(Neg, "F32 F16 I32", "input:T", "output:T")
	define(Rsqrt, "F32 F16 Q8@7 Q8S@7", "input:T", "output:T")
	define(LogicalNot, "B8", "input:T", "output:T")
	define(Dequantize, "Q8,F32 Q8,F16 Q8S,F32@3 Q8S,F16@3 Q8Y,F32@3 Q8Y,F16@3 Q8C,F32@3 Q8C,F16@3", "input:T/1-4",
		"output:U")
	define(Quantize, "F32,Q8 F16,Q8 F32,Q8S F16,Q8S", "input:T", "output:U")
	define(Cast, "F32,F32 F32,F16 F32,I32 F32,Q8 F16,F32 F16,F16 F16,I32 F16,Q8 I32,F32 I32,F16 I32,I32 I32,Q8 "+
		"Q8,F32 Q8,F16 Q8,I32 Q8,Q8 B8,B8@4 Q16A,Q16A@4 Q16Y,Q16Y@4 Q8S,Q8S@4 Q8Y,Q8Y@4", "input:T", "output:U")
	define(Rank, "F32 F16 I32 Q8 Q8S Q8Y Q8C Q16A Q16Y B8", "input:T", "rank")

	define(Add, std+" I32@4", "input0:T/1-4 input1:T/1-4 activation", "output:T")
	define(Sub, "F32 F16 Q8@3 Q8S I32@4", "input0:T/1-4 input1:T/1-4 activation", "output:T")
	define(Mul, std+" I32@4", "input0:T/1-4 input1:T/1-4 activation", "output:T", Above(0, 1, 0))
	define(Div, "F32 F16 I32@4", "input0:T/1-4 input1:T/1-4 activation", "output:T")
	for _, c := range []OperationCode{Maximum, Minimum} {
		define(c, std+" I32", "input0:T input1:T", "output:T")
	}
	define(Pow, "F32 F16", "base:T exponent:T", "output:T")
	define(PReLU, std, "input:T alpha:T", "output:T")
	for _, c := range []OperationCode{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual} {
		define(c, "B8 "+std+" I32", "input0:T input1:T", "output:B8")
	}
	for _, c := range []OperationCode{LogicalAnd, LogicalOr} {
		define(c, "B8", "input0:T input1:T", "output:T")
	}
	define(Select, std+" I32", "condition:B8 input1:T input2:T", "output:T")
}

func defineSpatial() {
	const (
		weights  = "F32,F32,F32 F16,F16,F16 Q8,Q8,I32 Q8S,Q8S,I32"
		channels = weights + " Q8,Q8C,I32@3 Q8S,Q8C,I32"
		head     = "input:T/4 filter:U/4 bias:V/1 "
		pads     = "padding_left padding_right padding_top padding_bottom "
		stride   = "stride_width stride_height "
		tail     = "activation | layout:bool@3 | dilation_width@3 dilation_height@3"
		out      = "output:T/4"
	)
	padded := func(c OperationCode, types, explicit, implicit string, rules ...Rule) {
		define(c, types, explicit, out, rules...)
		s := signatures[c]
		s.Forms[0].Name = "explicit padding"
		s.form("implicit padding", implicit, out)
	}
	padded(Conv2D, channels, head+pads+stride+tail, head+"padding_scheme "+stride+tail, Channel(1, 0), Bias(0, 1, 2),
		Above(0, 1, Level3))
	padded(DepthwiseConv2D, channels, head+pads+stride+"multiplier "+tail,
		head+"padding_scheme "+stride+"multiplier "+tail, Channel(1, 3), Bias(0, 1, 2), Above(0, 1, Level3))
	padded(GroupedConv2D, channels, head+pads+stride+"groups activation layout:bool",
		head+"padding_scheme "+stride+"groups activation layout:bool", Channel(1, 0), Bias(0, 1, 2))
	padded(TransposeConv2D, channels, head+pads+stride+"activation layout:bool",
		head+"output_shape:I32/1 padding_scheme "+stride+"activation layout:bool", Channel(1, 0), Bias(0, 1, 2))

	const window = stride + "filter_width filter_height activation | layout:bool@3"
	for c, types := range map[OperationCode]string{AveragePool2D: std, MaxPool2D: std, L2Pool2D: "F32 F16"} {
		padded(c, types, "input:T/4 "+pads+window, "input:T/4 padding_scheme "+window, Same(0, 0))
	}
	define(FullyConnected, weights, "input:T/2-4 weights:U/2 bias:V/1 activation", "output:T/2", Bias(0, 1, 2),
		Above(0, 1, Level3))
	define(BatchMatMul, "F32 F16 I32 Q8S", "input0:T/2-4 input1:T/2-4 transpose_input0:bool transpose_input1:bool",
		"output:T/2-4")

	const flags = " | layout:bool@3 | align_corners:bool@4 | half_pixel_centers:bool@4"
	define(ResizeBilinear, "F32 F16 Q8@3 Q8S", "input:T/4 output_width output_height"+flags, out, Same(0, 0))
	bilinear := signatures[ResizeBilinear]
	bilinear.Forms[0].Name = "by size"
	bilinear.form("by scale", "input:T/4 width_scale:fx@3 height_scale:fx@3"+flags, out)
	const tail4 = " layout:bool | align_corners:bool | half_pixel_centers:bool"
	define(ResizeNearestNeighbor, std, "input:T/4 output_width output_height"+tail4, out, Same(0, 0))
	nearest := signatures[ResizeNearestNeighbor]
	nearest.Forms[0].Name = "by size"
	nearest.form("by scale", "input:T/4 width_scale:fx height_scale:fx"+tail4, out)

	define(DepthToSpace, std, "input:T/4 block_size | layout:bool@3", out, Same(0, 0))
	define(SpaceToDepth, std, "input:T/4 block_size | layout:bool@3", out, Same(0, 0))
	define(BatchToSpaceND, std, "input:T/4 block_sizes:I32/1 | layout:bool@3", out, Same(0, 0))
	define(SpaceToBatchND, std, "input:T/4 block_sizes:I32/1 paddings:I32/2 | layout:bool@3", out, Same(0, 0),
		RanksLater())
}

func defineMovement() {
	define(Reshape, std+" I32@6", "input:T/1-4 shape:I32/1", "output:T/1-4", Same(0, 0))
	define(Squeeze, std, "input:T/1-4 axes:I32/1?", "output:T", Same(0, 0))
	define(ExpandDims, std+" I32", "input:T axis", "output:T", Same(0, 0))
	define(Transpose, std, "input:T/1-4 permutation:I32/1?", "output:T", Same(0, 0))
	define(Concatenation, std, "input:T/1-4* axis", "output:T/1-4", AllSameBefore(Level3))
	define(Split, std+" I32", "input:T axis count", "output:T*", Same(0, 0))
	define(Pack, std+" I32", "axis input:T*", "output:T", Alike(1, 1))
	define(Slice, std+" I32", "input:T begin:I32/1 size:I32/1", "output:T", Same(0, 0))
	define(StridedSlice, std, "input:T/1-4 begin:I32/1 end:I32/1 strides:I32/1 begin_mask end_mask shrink_mask",
		"output:T", Same(0, 0))
	define(Tile, std+" I32", "input:T multiples:I32/1", "output:T", Same(0, 0))
	define(Gather, std+" I32", "input:T axis indices:I32", "output:T", Same(0, 0))
	define(EmbeddingLookup, "F32 I32@3 Q8@3 F16@4 Q8S", "lookups:I32/1 values:T", "output:T", Same(1, 0))
	define(HashtableLookup, "F32 I32 Q8", "lookups:I32/1 keys:I32/1 values:T", "output:T hits:Q8/1", Same(2, 0),
		Rule{Kind: RuleFixed, Output: 1, Type: TensorQuant8Asymm, Scale: 1})
	define(Pad, std, "input:T/1-4 paddings:I32/2", "output:T/1-4", Same(0, 0))
	define(PadV2, "F32,f32 F16,f16 Q8,i32 Q8S,i32", "input:T/1-4 paddings:I32/2 value:U", "output:T/1-4", Same(0, 0),
		RanksLater())
	define(MirrorPad, std+" I32", "input:T paddings:I32/2 mode", "output:T", Same(0, 0))
	define(Reverse, std+" I32", "input:T axis:I32/1", "output:T", Alike(0, 0))
	define(ChannelShuffle, std, "input:T/1-4 groups axis", "output:T/1-4", Same(0, 0))
	define(Fill, "F32,f32 F16,f16 I32,i32", "dimensions:I32/1 value:U", "output:T")
}

func defineReductions() {
	define(Mean, std, "input:T/1-4 axes:I32/1 keep_dims", "output:T", Same(0, 0))
	for c, types := range map[OperationCode]string{ReduceAll: "B8", ReduceAny: "B8", ReduceMax: std, ReduceMin: std,
		ReduceProd: "F32 F16", ReduceSum: "F32 F16"} {
		define(c, types, "input:T/1-4 axes:I32/1 keep_dims:bool", "output:T", Same(0, 0))
	}
	for _, c := range []OperationCode{ArgMax, ArgMin} {
		define(c, std+" I32", "input:T axis", "output:I32")
	}
	define(TopKV2, std+" I32", "input:T k", "values:T indices:I32", Same(0, 0))
	define(Softmax, std, "input:T/1-4 beta:fx | axis@3", "output:T/1-4", Fixed(TensorQuant8Asymm, 1./256, 0),
		Fixed(TensorQuant8AsymmSigned, 1./256, -128), RanksBefore(Level3, 2, 4))
	define(LogSoftmax, "F32 F16", "input:T beta:fx axis", "output:T")
	define(L2Normalization, "F32 F16 Q8@3 Q8S", "input:T/1-4 | axis@3", "output:T/1-4",
		Fixed(TensorQuant8Asymm, 1./128, 128), Fixed(TensorQuant8AsymmSigned, 1./128, 0), RanksBefore(Level3, 4))
	define(LocalResponseNormalization, "F32 F16", "input:T/1-4 radius bias:fx alpha:fx beta:fx | axis@3", "output:T/1-4",
		RanksBefore(Level3, 4))
	define(InstanceNormalization, "F32 F16", "input:T/4 gamma:fx beta:fx epsilon:fx layout:bool", "output:T/4")
	define(RandomMultinomial, "F32 F16", "logits:T/2 samples seeds:I32/1", "output:I32/2")
	define(LSHProjection, "F32,F32 F32,F16 F32,I32 F32,Q8 F16,F32 F16,F16 F16,I32 F16,Q8",
		"hash:T/2 input:U weight:T/1? type", "output:I32/1")
}

func defineDetection() {
	const roi = " height_ratio:fx width_ratio:fx "
	define(AxisAlignedBBoxTransform, "F32,F32 F16,F16 Q16A,Q8 Q16A,Q8S",
		"regions:T/2 deltas:U/2 batches:I32/1 image_info:T/2", "output:T/2", Coordinates(0), Coordinates(3),
		CoordinatesOut(0))
	define(BoxWithNMSLimit, "F32,F32 F16,F16 Q8,Q16A Q8S,Q16A", "scores:T/2 regions:U/2 batches:I32/1 "+
		"score_threshold:fx max_boxes kernel iou_threshold:fx sigma:fx nms_score_threshold:fx",
		"scores:T/1 regions:U/2 classes:I32/1 batches:I32/1", Coordinates(1), Same(0, 0), CoordinatesOut(1))
	define(GenerateProposals, "F32,F32,F32 F16,F16,F16 Q8,Q16Y,Q16A Q8S,Q16Y,Q16A",
		"scores:T/4 deltas:T/4 anchors:U/2 image_info:V/2 height_stride:fx width_stride:fx pre_nms_top_n post_nms_top_n "+
			"iou_threshold:fx min_size:fx layout:bool", "scores:T/1 regions:V/2 batches:I32/1", Coordinates(2),
		Coordinates(3), Same(0, 0), CoordinatesOut(1))
	define(DetectionPostprocessing, "F32 F16", "scores:T/3 deltas:T/3 anchors:T/2 scale_y:fx scale_x:fx scale_height:fx "+
		"scale_width:fx regular_nms:bool max_detections max_classes_per_detection max_per_class score_threshold:fx "+
		"iou_threshold:fx include_background:bool", "scores:T/2 boxes:T/3 classes:I32/2 counts:I32/1")
	define(HeatmapMaxKeypoint, "F32,F32 F16,F16 Q8,Q16A@4 Q8S,Q16A", "heatmap:T/4 boxes:U/2 layout:bool",
		"scores:T/2 keypoints:U/3", Coordinates(1), CoordinatesOut(1))
	define(ROIAlign, "F32,F32 F16,F16 Q8,Q16A Q8S,Q16A", "input:T/4 regions:U/2 batches:I32/1 output_height output_width"+
		roi+"height_samples width_samples layout:bool", "output:T/4", Coordinates(1))
	define(ROIPooling, "F32,F32 F16,F16 Q8,Q16A Q8S,Q16A", "input:T/4 regions:U/2 batches:I32/1 output_height "+
		"output_width"+roi+"layout:bool", "output:T/4", Coordinates(1), Same(0, 0))
}

func defineRecurrent() {
	const (
		w = "input_to_input_weights:T/2? input_to_forget_weights:T/2 input_to_cell_weights:T/2 " +
			"input_to_output_weights:T/2 recurrent_to_input_weights:T/2? recurrent_to_forget_weights:T/2 " +
			"recurrent_to_cell_weights:T/2 recurrent_to_output_weights:T/2 cell_to_input_weights:T/1? " +
			"cell_to_forget_weights:T/1? cell_to_output_weights:T/1? input_gate_bias:T/1? forget_gate_bias:T/1 cell_bias:T/1 " +
			"output_gate_bias:T/1 projection_weights:T/2? projection_bias:T/1? "
		state  = "output_state:T/2 cell_state:T/2 "
		clips  = "activation cell_clip:fx projection_clip:fx "
		norm   = "input_layer_norm:T/1? forget_layer_norm:T/1? cell_layer_norm:T/1? output_layer_norm:T/1? "
		norm3  = "input_layer_norm:T/1@3? forget_layer_norm:T/1@3? cell_layer_norm:T/1@3? output_layer_norm:T/1@3? "
		floats = "F32 F16"
		auxW   = "auxiliary_to_input_weights:T/2? auxiliary_to_forget_weights:T/2? auxiliary_to_cell_weights:T/2? " +
			"auxiliary_to_output_weights:T/2? "
		rnn     = "weights:T/2 recurrent_weights:T/2 bias:T/1 hidden_state:T/2 "
		bStates = " | forward_output_state:T/2@4 forward_cell_state:T/2@4 backward_output_state:T/2@4 " +
			"backward_cell_state:T/2@4"
		rStates = " | forward_hidden_state:T/2@4 backward_hidden_state:T/2@4"
	)
	define(LSTM, floats, "input:T/2 "+w+state+clips+"| "+norm3,
		"scratch:T/2 output_state:T/2 cell_state:T/2 output:T/2")
	define(UnidirectionalSequenceLSTM, floats, "input:T/3 "+w+state+clips+"time_major:bool "+norm,
		"output:T/3 | output_state:T/2@4 cell_state:T/2@4")
	bidirectional := "input:T/3 " + named("forward", w) + named("backward", w) + named("forward", state) +
		named("backward", state) + "auxiliary_input:T/3? " + named("forward", auxW) + named("backward", auxW) + clips +
		"merge_outputs:bool time_major:bool " + named("forward", norm) + named("backward", norm)
	define(BidirectionalSequenceLSTM, floats, bidirectional, "forward_output:T/3 backward_output:T/3"+bStates,
		RanksLater())
	two := signatures[BidirectionalSequenceLSTM]
	two.Forms[0].Name = "separate outputs"
	two.form("merged outputs", bidirectional, "output:T/3"+bStates)

	define(RNN, floats, "input:T/2 "+rnn+"activation", "hidden_state:T/2 output:T/2")
	define(UnidirectionalSequenceRNN, floats, "input:T/3 "+rnn+"activation time_major",
		"output:T/3 | hidden_state:T/2@4", RanksLater())
	both := "input:T/3 " + named("forward", rnn) + named("backward", rnn) + "auxiliary_input:T/3? " +
		"forward_auxiliary_weights:T/2? backward_auxiliary_weights:T/2? activation time_major:bool merge_outputs:bool"
	define(BidirectionalSequenceRNN, floats, both, "forward_output:T/3 backward_output:T/3"+rStates, RanksLater())
	two = signatures[BidirectionalSequenceRNN]
	two.Forms[0].Name = "separate outputs"
	two.form("merged outputs", both, "output:T/3"+rStates)

	define(SVDF, floats, "input:T/2 feature_weights:T/2 time_weights:T/2 bias:T/1? state:T/2 rank activation",
		"state:T/2 output:T/2")
	define(Quantized16BitLSTM, "Q8", "input:T/2 input_to_input_weights:T/2 input_to_forget_weights:T/2 "+
		"input_to_cell_weights:T/2 input_to_output_weights:T/2 recurrent_to_input_weights:T/2 "+
		"recurrent_to_forget_weights:T/2 recurrent_to_cell_weights:T/2 recurrent_to_output_weights:T/2 "+
		"input_gate_bias:I32/1 forget_gate_bias:I32/1 cell_bias:I32/1 output_gate_bias:I32/1 cell_state:Q16Y/2 "+
		"output_state:T/2", "cell_state:Q16Y/2 output:T/2",
		Rule{Kind: RuleFixedInput, Input: 0, Type: TensorQuant8Asymm, Scale: 1. / 128, Zero: 128},
		Rule{Kind: RuleFixedInput, Input: 13, Type: TensorQuant16Symm, Scale: 16. / 32768},
		Rule{Kind: RuleFixedInput, Input: 14, Type: TensorQuant8Asymm, Scale: 1. / 128, Zero: 128},
		Rule{Kind: RuleFixed, Output: 0, Type: TensorQuant16Symm, Scale: 16. / 32768},
		Rule{Kind: RuleFixed, Output: 1, Type: TensorQuant8Asymm, Scale: 1. / 128, Zero: 128})
	define(QuantizedLSTM, "Q8S", "input:T/2 input_to_input_weights:Q8Y/2? input_to_forget_weights:Q8Y/2 "+
		"input_to_cell_weights:Q8Y/2 input_to_output_weights:Q8Y/2 recurrent_to_input_weights:Q8Y/2? "+
		"recurrent_to_forget_weights:Q8Y/2 recurrent_to_cell_weights:Q8Y/2 recurrent_to_output_weights:Q8Y/2 "+
		"cell_to_input_weights:Q16Y/1? cell_to_forget_weights:Q16Y/1? cell_to_output_weights:Q16Y/1? "+
		"input_gate_bias:I32/1? forget_gate_bias:I32/1 cell_bias:I32/1 output_gate_bias:I32/1 projection_weights:Q8Y/2? "+
		"projection_bias:I32/1? output_state:T/2 cell_state:Q16Y/2 input_layer_norm:Q16Y/1? forget_layer_norm:Q16Y/1? "+
		"cell_layer_norm:Q16Y/1? output_layer_norm:Q16Y/1? cell_clip:f32 projection_clip:f32 "+
		"input_intermediate_scale:f32 forget_intermediate_scale:f32 cell_intermediate_scale:f32 "+
		"output_intermediate_scale:f32 hidden_zero_point hidden_scale:f32", "output_state:T/2 cell_state:Q16Y/2 output:T/2",
		RanksLater())
}

// named puts a word before the name of each argument.
func named(word, list string) string {
	out := ""
	for _, f := range strings.Fields(list) {
		out += word + "_" + f + " "
	}
	return out
}
