// Package nnapi is Android's Neural Networks API, feature levels 1 to 8: 75 functions. It turns programs' models into
// core graphs and programs' executions into core executions; it computes nothing.
//
// One file per API object. A function here has the name of the C function without its prefix
// (ANeuralNetworksModel_addOperand is modelAddOperand) and is called by generated glue that has checked pointers and
// handles: NULL is UNEXPECTED_NULL and comes first, then the state of the objects, then values. "Section n" in a
// comment is one of docs/abi/nnapi.md. docs/nnapi.md says where this library differs from the reference implementation.
package nnapi
