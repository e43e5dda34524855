package hbdnn

import "unsafe"

// Layers that a C++ program computes by itself are for models that a board's converter left them in. The operators of
// an ONNX model are the library's.

func z25hbDNNRegisterLayerCreatorPKcPFPN5hobot3dnn5LayerEvE(unsafe.Pointer, uintptr) error {
	return misused("layerType: layers of the program are not run: this library computes the operators of an ONNX model " +
		"by " +
		"itself [hbdnn-layer-type-layers]")
}

func z27hbDNNUnregisterLayerCreatorPKc(unsafe.Pointer) error {
	return misused("layerType: no layer is registered: this library computes the operators of an ONNX model by " +
		"itself [hbdnn-layer-type-no]")
}
