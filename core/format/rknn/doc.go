// Package rknn reads what a Rockchip .rknn file says about the model in it: names, sizes, element types, preprocessing,
// quantization of tensors. Weights and commands of the NPU are never decoded.
//
// There is no public definition of the file, and versions differ. So every part is optional: what is missing stays
// empty, and what cannot be read is skipped and listed in File.Unread. Nothing in a file makes Read fail but a
// beginning that is not an .rknn file's.
//
// All access is checked against the bytes that are there. The FlatBuffer is read by a reader of this package, because
// Go's FlatBuffers runtime trusts offsets and has no verifier.
package rknn
