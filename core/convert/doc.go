// Package convert holds what stands between a program's memory and a model's tensors: numbers in other element types
// and codes, images in other layouts, normalization. Every API and every device converts with it.
//
// Elements are converted in lines of up to [Line] of them, by loops in Go, or by those of [Kernels] where a package has
// given faster ones for the processor. Results are the same to the bit either way, NaN's payload aside, and agree with
// the reference kernels of the operators Cast, Quantize, Dequantize and Convert.
package convert
