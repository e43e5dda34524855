package nnapi

// The structs of the API on 64-bit hosts, as the NNAPI types notes lay them out.

// OperandType is ANeuralNetworksOperandType.
type OperandType struct {
	Type       int32
	Rank       uint32
	Dimensions uintptr
	Scale      float32
	ZeroPoint  int32
}

// ChannelScales is ANeuralNetworksSymmPerChannelQuantParams.
type ChannelScales struct {
	Dim, Count uint32
	Scales     uintptr
}
