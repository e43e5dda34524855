// Package ohnn is the OpenHarmony Neural Network Runtime API (OH_NN*, NN_*), API levels 9 to 12. One file per API object; the
// semantics follow the OH_NN reference notes, whose sections the comments name. Functions are named after their C symbols:
// tensorDescSetName is OH_NNTensorDesc_SetName.
package ohnn

// DataType is OH_NN_DataType.
type DataType uint32

// dataTypeSizes gives the bytes of one element by data type; OH_NN_UNKNOWN has none.
var dataTypeSizes = [...]uint64{0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8}

// Format is OH_NN_Format.
type Format uint32

const formatMax Format = 3 // OH_NN_FORMAT_ND
