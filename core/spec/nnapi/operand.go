package nnapi

import (
	"math"
	"strconv"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Operand types, by the numbers of OperandCode in NeuralNetworksTypes.h.
const (
	Float32                    OperandCode = 0
	Int32                      OperandCode = 1
	Uint32                     OperandCode = 2
	TensorFloat32              OperandCode = 3
	TensorInt32                OperandCode = 4
	TensorQuant8Asymm          OperandCode = 5
	Bool                       OperandCode = 6
	TensorQuant16Symm          OperandCode = 7
	TensorFloat16              OperandCode = 8
	TensorBool8                OperandCode = 9
	Float16                    OperandCode = 10
	TensorQuant8SymmPerChannel OperandCode = 11
	TensorQuant16Asymm         OperandCode = 12
	TensorQuant8Symm           OperandCode = 13
	TensorQuant8AsymmSigned    OperandCode = 14
	ModelOperand               OperandCode = 15
	OEMScalar                  OperandCode = 10000
	TensorOEMByte              OperandCode = 10001
	operandCodes                           = 16 // codes 0 to 15 are the API's own
	maxBytes                               = math.MaxUint32
	firstExtensionOperand                  = 1 << 16
)

// Parameters is the rule for scale and zero point of an operand's type.
type Parameters uint8

// Rules for scale and zero point.
const (
	NoParameters  Parameters = iota // both 0
	AnyParameters                   // not judged when the operand is added: TENSOR_INT32 may be a bias with a scale
	ScaleAndZero                    // scale > 0, zero point from Min to Max
	ScaleOnly                       // scale > 0, zero point 0
	ChannelScales                   // both 0; the scales come by setOperandSymmPerChannelQuantParams
)

// OperandFacts has the API's rules for a type of operands.
type OperandFacts struct {
	Name       string // without the API's prefix: "TENSOR_FLOAT32"
	Level      FeatureLevel
	Bytes      uint32 // of one element; 0: no value of its own
	Scalar     bool
	Parameters Parameters
	Min, Max   int32 // of the zero point with ScaleAndZero
}

var dtypes = map[OperandCode]tensor.DType{Float32: tensor.Float32, Int32: tensor.Int32, Uint32: tensor.Uint32,
	TensorFloat32: tensor.Float32, TensorInt32: tensor.Int32, TensorQuant8Asymm: tensor.Uint8, Bool: tensor.Bool,
	TensorQuant16Symm: tensor.Int16, TensorFloat16: tensor.Float16, TensorBool8: tensor.Bool, Float16: tensor.Float16,
	TensorQuant8SymmPerChannel: tensor.Int8, TensorQuant16Asymm: tensor.Uint16, TensorQuant8Symm: tensor.Int8,
	TensorQuant8AsymmSigned: tensor.Int8}

// DType returns core's element type, Invalid for types that core has none for.
func (c OperandCode) DType() tensor.DType { return dtypes[c] }

var operandFacts = [operandCodes]OperandFacts{
	Float32:           {Name: "FLOAT32", Level: Level1, Bytes: 4, Scalar: true},
	Int32:             {Name: "INT32", Level: Level1, Bytes: 4, Scalar: true},
	Uint32:            {Name: "UINT32", Level: Level1, Bytes: 4, Scalar: true},
	TensorFloat32:     {Name: "TENSOR_FLOAT32", Level: Level1, Bytes: 4},
	TensorInt32:       {Name: "TENSOR_INT32", Level: Level1, Bytes: 4, Parameters: AnyParameters},
	TensorQuant8Asymm: {"TENSOR_QUANT8_ASYMM", Level1, 1, false, ScaleAndZero, 0, 255},
	Bool:              {Name: "BOOL", Level: Level3, Bytes: 1, Scalar: true},
	TensorQuant16Symm: {Name: "TENSOR_QUANT16_SYMM", Level: Level3, Bytes: 2, Parameters: ScaleOnly},
	TensorFloat16:     {Name: "TENSOR_FLOAT16", Level: Level3, Bytes: 2},
	TensorBool8:       {Name: "TENSOR_BOOL8", Level: Level3, Bytes: 1},
	Float16:           {Name: "FLOAT16", Level: Level3, Bytes: 2, Scalar: true},
	TensorQuant8SymmPerChannel: {Name: "TENSOR_QUANT8_SYMM_PER_CHANNEL", Level: Level3, Bytes: 1,
		Parameters: ChannelScales},
	TensorQuant16Asymm:      {"TENSOR_QUANT16_ASYMM", Level3, 2, false, ScaleAndZero, 0, 65535},
	TensorQuant8Symm:        {Name: "TENSOR_QUANT8_SYMM", Level: Level3, Bytes: 1, Parameters: ScaleOnly},
	TensorQuant8AsymmSigned: {"TENSOR_QUANT8_ASYMM_SIGNED", Level4, 1, false, ScaleAndZero, -128, 127},
	ModelOperand:            {Name: "MODEL", Level: Level4, Scalar: true},
}

// Facts returns what the API says about c; ok is false for OEM and extension types and for numbers without a meaning.
func (c OperandCode) Facts() (f OperandFacts, ok bool) {
	if c < 0 || c >= operandCodes {
		return OperandFacts{}, false
	}
	return operandFacts[c], true
}

// IsExtension reports whether the upper 16 bits name an extension.
func (c OperandCode) IsExtension() bool { return uint32(c) >= firstExtensionOperand }

// IsScalar reports whether operands of type c have no dimensions; an extension's types are tensors here.
func (c OperandCode) IsScalar() bool {
	f, ok := c.Facts()
	return ok && f.Scalar || c == OEMScalar
}

// String returns the type's name in the API without its prefix, "TENSOR_FLOAT32".
func (c OperandCode) String() string {
	f, ok := c.Facts()
	switch {
	case ok:
		return f.Name
	case c == OEMScalar:
		return "OEM_SCALAR"
	case c == TensorOEMByte:
		return "TENSOR_OEM_BYTE"
	case c.IsExtension():
		return "extension type " + prefixAndCode(int32(c))
	}
	return "operand code " + strconv.Itoa(int(c))
}

// Size returns the bytes of the operand's value: element size times all dimensions. It is 0 when the value has no size
// of its own (MODEL, OEM and extension types) or the size is not known: unspecified rank, or a dimension of 0. An
// error, of kind fault.Argument, says that the known dimensions alone exceed 2^32-1 bytes.
func (o *Operand) Size() (uint64, error) {
	f, ok := o.Type.Facts()
	element := uint64(f.Bytes)
	if o.Type == TensorOEMByte {
		element = 1
	} else if !ok || element == 0 {
		return 0, nil
	}
	if f.Scalar {
		return element, nil
	}
	size, known := element, len(o.Dims) > 0
	for _, d := range o.Dims {
		if d == 0 {
			known = false
			continue
		}
		size *= uint64(d) // below 2^64: both factors are below 2^32
		if size > maxBytes {
			return 0, fault.New(fault.Argument, "dimensions %v of %v take more than 4294967295 bytes", o.Dims, o.Type)
		}
	}
	if !known {
		return 0, nil
	}
	return size, nil
}

// Specified reports whether rank and all dimensions are given; a scalar has none to give.
func (o *Operand) Specified() bool {
	if o.Type.IsScalar() {
		return true
	}
	for _, d := range o.Dims {
		if d == 0 {
			return false
		}
	}
	return len(o.Dims) > 0
}

// CheckOperand judges o by the rules of ANeuralNetworksModel_addOperand at a feature level. The registration of an
// extension's type is the caller's to judge. Errors are of kind fault.Argument, or fault.Unsupported when only a newer
// level has the type.
func CheckOperand(o *Operand, level FeatureLevel) error {
	f, ok := o.Type.Facts()
	switch {
	case !ok && o.Type != OEMScalar && o.Type != TensorOEMByte && !o.Type.IsExtension():
		return fault.New(fault.Argument, "operand code %d is not one of the API", int32(o.Type))
	case ok && f.Level > level:
		return fault.New(fault.Unsupported, "type %v needs %v, this is %v", o.Type, f.Level, level)
	case o.Type.IsExtension() && level < Level3:
		return fault.New(fault.Unsupported, "an extension's type needs %v, this is %v", Level3, level)
	case o.Type.IsScalar() && len(o.Dims) > 0:
		return fault.New(fault.Argument, "%v is a scalar: want no dimensions, got %d", o.Type, len(o.Dims))
	}
	if o.Type.IsExtension() {
		f.Parameters = NoParameters
	} else if !ok {
		f.Parameters = AnyParameters
	}
	if err := checkParameters(o, f); err != nil {
		return err
	}
	if level < Level3 && !o.Specified() {
		return fault.New(fault.Unsupported, "%v with dimensions %v: unspecified dimensions need %v, this is %v", o.Type,
			o.Dims, Level3, level)
	}
	_, err := o.Size()
	return err
}

func checkParameters(o *Operand, f OperandFacts) error {
	scaled := o.Scale > 0 && !math.IsInf(float64(o.Scale), 0)
	switch f.Parameters {
	case NoParameters, ChannelScales:
		if o.Scale != 0 || o.ZeroPoint != 0 {
			return fault.New(fault.Argument, "%v: want scale 0 and zero point 0, got %v and %d", o.Type, o.Scale,
				o.ZeroPoint)
		}
	case ScaleOnly:
		if !scaled || o.ZeroPoint != 0 {
			return fault.New(fault.Argument, "%v: want a finite scale above 0 and zero point 0, got %v and %d", o.Type,
				o.Scale, o.ZeroPoint)
		}
	case ScaleAndZero:
		if !scaled || o.ZeroPoint < f.Min || o.ZeroPoint > f.Max {
			return fault.New(fault.Argument, "%v: want a finite scale above 0 and a zero point from %d to %d, got %v and %d",
				o.Type, f.Min, f.Max, o.Scale, o.ZeroPoint)
		}
	}
	return nil
}
