package ohnn

// rule is what AddOperation knows of an operator: how many inputs and outputs, which parameters. Sources: operator
// notes sections 1, 2 and 6.
type rule struct {
	op     OperationType
	name   string // without OH_NN_OPS_
	in     count
	out    count
	params []param
	check  func(o *operation, m *Model) error // what the columns cannot say; nil: nothing
}

// count is how many tensors an operator takes: from lo to hi.
type count struct{ lo, hi int }

func exactly(n int) count { return count{n, n} }
func atLeast(n int) count { return count{n, maxIndices} }

func (c count) ok(n int) bool { return n >= c.lo && n <= c.hi }

// param is one parameter of an operator.
type param struct {
	number   TensorType
	alias    TensorType // another operator's enumerator that is accepted in its place; 0: none
	name     string     // without OH_NN_ and the operator's name
	dtype    DataType
	also     DataType // a second data type the header promises; not taken in reference mode; 0: none
	elements elementRule
	lo, hi   int64 // allowed values when hi >= lo and hi > 0; see bounded
	required bool  // Finish fails without it
	pad      bool  // one element is a pad mode, four are a pad list, whichever enumerator is used
}

// elementRule says how many elements a parameter tensor may have.
type elementRule uint8

const (
	one      elementRule = iota // exactly one element, whatever the rank
	scalar                      // rank 0
	any1                        // not checked, the first one counts
	many                        // not checked, all count
	rank1of2                    // two elements in rank 1
	rank2of4                    // four elements in rank 2
	four                        // four elements, any rank
)

func (p param) bounded() bool { return p.hi > 0 }

// Parameters by data type; all optional, exactly one element, any value.
func i64(n TensorType, name string) param  { return param{number: n, name: name, dtype: Int64} }
func f32(n TensorType, name string) param  { return param{number: n, name: name, dtype: Float32} }
func flag(n TensorType, name string) param { return param{number: n, name: name, dtype: Bool} }

// i64s is a list whose length only the device judges.
func i64s(n TensorType, name string) param {
	return param{number: n, name: name, dtype: Int64, elements: many}
}

// fuse is a fused activation: OH_NN_FuseType.
func fuse(n TensorType, name string) param {
	return param{number: n, name: name, dtype: Int8, hi: 2}
}

// choice is an enumerated value of 0 to hi.
func choice(n TensorType, name string, dtype DataType, hi int64) param {
	return param{number: n, name: name, dtype: dtype, hi: hi}
}

// padMode and padList share one meaning by their element count.
func padMode(n TensorType) param { return param{number: n, name: "PAD_MODE", pad: true} }
func padList(n TensorType) param { return param{number: n, name: "PAD", pad: true} }

// first lets any element count pass; the first element is the value.
func (p param) first() param { p.elements = any1; return p }

// of sets the rule for the element count.
func (p param) of(e elementRule) param { p.elements = e; return p }

// must makes the parameter required.
func (p param) must() param { p.required = true; return p }

// or accepts another operator's enumerator with the same meaning.
func (p param) or(n TensorType) param { p.alias = n; return p }

// unaryRule is the rule of an operator with one input, one output and no parameter.
func unaryRule(op OperationType, name string) rule {
	return rule{op, name, exactly(1), exactly(1), nil, nil}
}

// binaryRule is the rule of an operator with two inputs, one output and no parameter.
func binaryRule(op OperationType, name string) rule {
	return rule{op, name, exactly(2), exactly(1), nil, nil}
}

// reduction is the rule of the REDUCE family, whose axes are the second input.
func reduction(op OperationType, name string, keepDims, toEnd, coeff TensorType) rule {
	return rule{op, name, exactly(2), exactly(1), []param{flag(keepDims, "KEEP_DIMS"), flag(toEnd, "REDUCE_TO_END"),
		f32(coeff, "COEFF")}, nil}
}

var rules = []rule{
	{1, "ADD", exactly(2), exactly(1), []param{fuse(1, "ACTIVATIONTYPE").first()}, nil},
	{2, "AVG_POOL", exactly(1), exactly(1), []param{i64s(2, "KERNEL_SIZE").or(36), i64s(3, "STRIDE").or(37),
		padMode(4).or(38), padList(5).or(39),
		fuse(6, "ACTIVATION_TYPE").or(40), choice(109, "ROUND_MODE", Int32, 1).or(114), flag(110, "GLOBAL").or(115)}, nil},
	{3, "BATCH_NORM", exactly(5), exactly(1), []param{f32(7, "EPSILON")}, nil},
	{4, "BATCH_TO_SPACE_ND", exactly(1), exactly(1), []param{i64s(8, "BLOCKSIZE"), i64s(9, "CROPS").of(four)}, nil},
	{5, "BIAS_ADD", exactly(2), exactly(1), nil, nil},
	{6, "CAST", exactly(2), exactly(1), nil, checkCast},
	{7, "CONCAT", atLeast(2), exactly(1), []param{i64(10, "AXIS")}, nil},
	{8, "CONV2D", exactly(3), exactly(1), []param{i64s(11, "STRIDES"), padList(12), i64s(13, "DILATION"), padMode(14),
		fuse(15, "ACTIVATION_TYPE"), i64(16, "GROUP")}, checkConv},
	{9, "CONV2D_TRANSPOSE", exactly(3), exactly(1), []param{i64s(17, "STRIDES"), padList(18), i64s(19, "DILATION"),
		i64s(20, "OUTPUT_PADDINGS"),
		padMode(21), fuse(22, "ACTIVATION_TYPE"), i64(23, "GROUP")}, checkConv},
	{10, "DEPTHWISE_CONV2D_NATIVE", exactly(3), exactly(1), []param{i64s(24, "STRIDES"), padList(25), i64s(26, "DILATION"),
		padMode(27),
		fuse(28, "ACTIVATION_TYPE")}, checkDepthwise},
	{11, "DIV", exactly(2), exactly(1), []param{fuse(29, "ACTIVATIONTYPE")}, nil},
	{12, "ELTWISE", exactly(2), exactly(1), []param{choice(30, "MODE", Int8, 3)}, nil},
	binaryRule(13, "EXPAND_DIMS"),
	binaryRule(14, "FILL"),
	{15, "FULL_CONNECTION", atLeast(1), exactly(1), []param{i64(31, "AXIS"), fuse(32, "ACTIVATIONTYPE"),
		flag(111, "HAS_BIAS"), flag(112, "USE_AXIS")},
		checkFullConnection},
	{16, "GATHER", exactly(3), exactly(1), nil, nil},
	unaryRule(17, "HSWISH"),
	binaryRule(18, "LESS_EQUAL"),
	{19, "MATMUL", exactly(2), exactly(1), []param{flag(33, "TRANSPOSE_A"), flag(34, "TRANSPOSE_B"),
		fuse(35, "ACTIVATION_TYPE")}, nil},
	binaryRule(20, "MAXIMUM"),
	{21, "MAX_POOL", exactly(1), exactly(1), []param{i64s(36, "KERNEL_SIZE").or(2), i64s(37, "STRIDE").or(3),
		padMode(38).or(4), padList(39).or(5),
		fuse(40, "ACTIVATION_TYPE").or(6), choice(114, "ROUND_MODE", Int32, 1).or(109), flag(115, "GLOBAL").or(110)}, nil},
	{22, "MUL", exactly(2), exactly(1), []param{fuse(41, "ACTIVATION_TYPE")}, nil},
	{23, "ONE_HOT", exactly(4), exactly(1), []param{i64(42, "AXIS").first()}, nil},
	{24, "PAD", exactly(2), exactly(1), []param{f32(43, "CONSTANT_VALUE"), choice(116, "PADDING_MODE", Int32, 3)}, nil},
	{25, "POW", exactly(2), exactly(1), []param{f32(107, "SCALE"), f32(108, "SHIFT")}, nil},
	{26, "SCALE", exactly(3), exactly(1), []param{fuse(44, "ACTIVATIONTYPE"), i64(45, "AXIS").must()}, nil},
	unaryRule(27, "SHAPE"),
	unaryRule(28, "SIGMOID"),
	{29, "SLICE", exactly(3), exactly(1), []param{i64s(127, "AXES")}, nil},
	{30, "SOFTMAX", exactly(1), exactly(1), []param{i64(46, "AXIS")}, nil},
	{31, "SPACE_TO_BATCH_ND", exactly(1), exactly(1), []param{i64s(47, "BLOCK_SHAPE").of(rank1of2),
		i64s(48, "PADDINGS").of(rank2of4)}, nil},
	{32, "SPLIT", exactly(1), atLeast(1), []param{i64(49, "AXIS"), i64(50, "OUTPUT_NUM"), i64s(51, "SIZE_SPLITS")}, nil},
	unaryRule(33, "SQRT"),
	binaryRule(34, "SQUARED_DIFFERENCE"),
	{35, "SQUEEZE", exactly(1), exactly(1), []param{i64s(52, "AXIS")}, nil},
	{36, "STACK", atLeast(2), exactly(1), []param{i64(53, "AXIS")}, nil},
	{37, "STRIDED_SLICE", exactly(4), exactly(1), []param{i64(54, "BEGIN_MASK").first(), i64(55, "END_MASK").first(),
		i64(56, "ELLIPSIS_MASK").first(),
		i64(57, "NEW_AXIS_MASK").first(), i64(58, "SHRINK_AXIS_MASK").first()}, nil},
	{38, "SUB", exactly(2), exactly(1), []param{fuse(59, "ACTIVATIONTYPE")}, nil},
	unaryRule(39, "TANH"),
	{40, "TILE", exactly(2), exactly(1), []param{i64s(128, "DIMS")}, nil},
	binaryRule(41, "TRANSPOSE"),
	reduction(42, "REDUCE_MEAN", 60, 117, 118),
	{43, "RESIZE_BILINEAR", exactly(1), exactly(1), []param{i64(61, "NEW_HEIGHT"), i64(62, "NEW_WIDTH"),
		flag(63, "PRESERVE_ASPECT_RATIO"),
		{number: 64, name: "COORDINATE_TRANSFORM_MODE", dtype: Int8, also: Int32}, i64(65, "EXCLUDE_OUTSIDE")}, nil},
	unaryRule(44, "RSQRT"),
	binaryRule(45, "RESHAPE"),
	binaryRule(46, "PRELU"),
	unaryRule(47, "RELU"),
	unaryRule(48, "RELU6"),
	{49, "LAYER_NORM", exactly(3), exactly(1), []param{i64(66, "BEGIN_NORM_AXIS").of(scalar),
		f32(67, "EPSILON").of(scalar),
		i64(68, "BEGIN_PARAM_AXIS").of(scalar)}, checkLayerNorm},
	reduction(50, "REDUCE_PROD", 70, 119, 120),
	reduction(51, "REDUCE_ALL", 71, 121, 122),
	{52, "QUANT_DTYPE_CAST", exactly(1), exactly(1), []param{i64(72, "SRC_T").first().must(),
		i64(73, "DST_T").first().must(), i64(126, "AXIS").first()}, nil},
	{53, "TOP_K", exactly(2), exactly(2), []param{flag(74, "SORTED").first(), i64(123, "AXIS")}, nil},
	{54, "ARG_MAX", exactly(1), exactly(1), []param{i64(75, "AXIS").first(), flag(76, "KEEPDIMS").first(),
		i64(124, "TOP_K").first(),
		flag(125, "OUT_MAX_VALUE").first()}, nil},
	{55, "UNSQUEEZE", exactly(1), exactly(1), []param{i64(77, "AXIS")}, nil},
	{56, "GELU", exactly(1), exactly(1), []param{flag(113, "APPROXIMATE")}, nil},
	{57, "UNSTACK", exactly(1), atLeast(1), []param{i64(78, "AXIS")}, nil},
	unaryRule(58, "ABS"),
	unaryRule(59, "ERF"),
	{60, "EXP", exactly(1), exactly(1), []param{f32(89, "BASE"), f32(90, "SCALE"), f32(91, "SHIFT")}, nil},
	binaryRule(61, "LESS"),
	{62, "SELECT", exactly(3), exactly(1), nil, nil},
	unaryRule(63, "SQUARE"),
	{64, "FLATTEN", exactly(1), exactly(1), []param{i64(79, "AXIS")}, nil},
	{65, "DEPTH_TO_SPACE", exactly(1), exactly(1), []param{i64(80, "BLOCK_SIZE"), choice(81, "MODE", Int32, 1).first()},
		nil},
	{66, "RANGE", exactly(1), exactly(1), []param{i64(82, "START"), i64(83, "LIMIT"), i64(84, "DELTA")}, nil},
	{67, "INSTANCE_NORM", exactly(3), exactly(1), []param{f32(88, "EPSILON")}, nil},
	{68, "CONSTANT_OF_SHAPE", exactly(1), exactly(1),
		[]param{i64(85, "DATA_TYPE"), {number: 86, name: "VALUE", dtype: Float32, elements: many}}, nil},
	{69, "BROADCAST_TO", exactly(1), exactly(1), []param{i64s(87, "SHAPE")}, nil},
	binaryRule(70, "EQUAL"),
	binaryRule(71, "GREATER"),
	binaryRule(72, "NOT_EQUAL"),
	binaryRule(73, "GREATER_EQUAL"),
	{74, "LEAKY_RELU", exactly(1), exactly(1), []param{f32(92, "NEGATIVE_SLOPE")}, nil},
	{75, "LSTM", exactly(6), exactly(3), []param{flag(93, "BIDIRECTIONAL"), flag(94, "HAS_BIAS"), i64(95, "INPUT_SIZE"),
		i64(96, "HIDDEN_SIZE"),
		i64(97, "NUM_LAYERS"), i64(98, "NUM_DIRECTIONS"), f32(99, "DROPOUT"), f32(100, "ZONEOUT_CELL"),
		f32(101, "ZONEOUT_HIDDEN"), i64(102, "PROJ_SIZE")}, nil},
	{76, "CLIP", exactly(1), exactly(1), []param{f32(103, "MAX"), f32(104, "MIN")}, nil},
	{77, "ALL", exactly(2), exactly(1), []param{i64(105, "KEEP_DIMS")}, nil},
	{78, "ASSERT", exactly(2), exactly(1), []param{i64(106, "SUMMARIZE")}, nil},
	unaryRule(79, "COS"),
	unaryRule(80, "LOG"),
	binaryRule(81, "LOGICAL_AND"),
	unaryRule(82, "LOGICAL_NOT"),
	binaryRule(83, "MOD"),
	unaryRule(84, "NEG"),
	unaryRule(85, "RECIPROCAL"),
	unaryRule(86, "SIN"),
	{87, "WHERE", exactly(3), exactly(1), nil, nil},
	{88, "SPARSE_TO_DENSE", exactly(3), exactly(1), nil, nil},
	binaryRule(89, "LOGICAL_OR"),
	unaryRule(90, "CEIL"),
	{91, "CROP", exactly(2), exactly(1), []param{i64(129, "AXIS"), i64s(130, "OFFSET")}, nil},
	{92, "DETECTION_POST_PROCESS", exactly(3), exactly(4), []param{i64(131, "INPUT_SIZE"),
		{number: 132, name: "SCALE", dtype: Float32, elements: many},
		f32(133, "NMS_IOU_THRESHOLD"), f32(134, "NMS_SCORE_THRESHOLD"), i64(135, "MAX_DETECTIONS"),
		i64(136, "DETECTIONS_PER_CLASS"),
		i64(137, "MAX_CLASSES_PER_DETECTION"), i64(138, "NUM_CLASSES"), flag(139, "USE_REGULAR_NMS"),
		flag(140, "OUT_QUANTIZED")}, nil},
	unaryRule(93, "FLOOR"),
	{94, "L2_NORMALIZE", exactly(1), exactly(1), []param{i64s(141, "AXIS"), f32(142, "EPSILON"),
		fuse(143, "ACTIVATION_TYPE")}, nil},
	{95, "LOG_SOFTMAX", exactly(1), exactly(1), []param{i64(144, "AXIS")}, nil},
	{96, "LRN", exactly(1), exactly(1), []param{i64(145, "DEPTH_RADIUS"), f32(146, "BIAS"), f32(147, "ALPHA"),
		f32(148, "BETA"),
		{number: 149, name: "NORM_REGION", dtype: Int32}}, checkLRN},
	binaryRule(97, "MINIMUM"),
	unaryRule(98, "RANK"),
	reduction(99, "REDUCE_MAX", 151, 152, 153),
	reduction(100, "REDUCE_MIN", 154, 155, 156),
	reduction(101, "REDUCE_SUM", 157, 158, 159),
	unaryRule(102, "ROUND"),
	{103, "SCATTER_ND", exactly(3), exactly(1), nil, nil},
	{104, "SPACE_TO_DEPTH", exactly(1), exactly(1), []param{i64(150, "BLOCK_SIZE")}, nil},
	unaryRule(105, "SWISH"),
	reduction(106, "REDUCE_L2", 160, 161, 162),
	unaryRule(107, "HARD_SIGMOID"),
	binaryRule(108, "GATHER_ND"),
}

var ruleByNumber = func() map[OperationType]*rule {
	m := make(map[OperationType]*rule, len(rules))
	for i := range rules {
		m[rules[i].op] = &rules[i]
	}
	return m
}()

// paramNames gives every parameter enumerator its C name.
var paramNames = func() map[TensorType]string {
	m := map[TensorType]string{dataTensor: "OH_NN_TENSOR", 69: "OH_NN_LAYER_NORM_ELEMENTWISE_AFFINE"}
	for _, r := range rules {
		for _, p := range r.params {
			m[p.number] = "OH_NN_" + r.name + "_" + p.name
		}
	}
	return m
}()
