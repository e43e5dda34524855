// Package ohnn is the OpenHarmony Neural Network Runtime C API: 75 public functions in the styles of API level 9 and
// API level 11, and the functions of the inner header. It turns programs' models into core graphs and programs' runs
// into core executions; it computes nothing.
//
// One file per API object. A function here has the name of the C function without its prefix (OH_NNModel_AddTensor is
// modelAddTensor) and is called by generated glue that has checked pointers and handles; "section n" in a comment is a
// section of docs/abi/ohnn.md, where those of the operator notes begin with operators (order of checks, return codes,
// lifetimes). Where the API manual and the reference implementation differ, docs/ohnn-differences.md says which is
// followed; ANYNPU_OHNN_COMPAT=reference chooses the reference everywhere.
package ohnn
