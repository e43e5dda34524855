package rknn

// Pointers that are stored through are numbers, because what C memory held before must never look like a Go pointer.

// InOutNum is rknn_input_output_num.
type InOutNum struct{ Inputs, Outputs uint32 }

// TensorAttr is rknn_tensor_attr.
type TensorAttr struct {
	Index, Rank    uint32
	Dims           [MaxDims]uint32
	Name           [MaxNameLen]byte
	Elems, Size    uint32
	Format         Format
	Kind           Type
	Qnt            QntType
	Fl             int8
	Zp             int32
	Scale          float32
	WStride        uint32
	SizeWithStride uint32
	PassThrough    uint8
	HStride        uint32
}

// TensorMem is rknn_tensor_mem.
type TensorMem struct {
	Virt   uintptr
	Phys   uint64
	FD     int32
	Offset int32
	Size   uint32
	Flags  uint32
	Priv   uintptr
}

// MatmulInfo is rknn_matmul_info. Programs of the headers before 2.0 pass the first 24 bytes only, with layouts of 32
// bits: what lies behind AC_quant_type is looked at for group quantization only, and the device address space never.
type MatmulInfo struct {
	M, K, N  int32
	Kind     MatmulType
	BLayout  int16
	BQuant   int16
	ACLayout int16
	ACQuant  int16
	_        int32 // iommu_domain_id
	Group    int16
	_        [34]int8
}

// MatmulTensorAttr is rknn_matmul_tensor_attr.
type MatmulTensorAttr struct {
	Name [MaxNameLen]byte
	Rank uint32
	Dims [MaxDims]uint32
	Size uint32
	Kind Type
}

// MatmulIOAttr is rknn_matmul_io_attr.
type MatmulIOAttr struct{ A, B, C MatmulTensorAttr }
