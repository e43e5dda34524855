// Package model turns what a program hands over as a model, a file or bytes, into a graph with what the model says of
// itself. Every API and the tool load models with it.
//
//   - [Recognize] and [Foreign] tell files by their first bytes.
//   - [Load] imports an ONNX model with its metadata and the file of metadata beside it. A model can stand for another
//     one: the map file of ANYNPU_MODEL_MAP ([Map]) names an ONNX file for a path or a SHA-256, and NAME.onnx beside
//     NAME.rknn is loaded for the vendor's compiled model, which runs on no other chip.
//   - [Pack] reads a list of models.
//   - [Model.Ports] are inputs and outputs as programs see them; [ExposeQuantized] lets integers cross the border of a
//     graph. [ShapesOf] are the sizes that a model is meant for.
package model
