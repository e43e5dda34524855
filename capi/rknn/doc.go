// Package rknn is the RKNN runtime API (rknn_api.h): contexts that run a portable model, its attributes, conversion of
// programs' inputs and outputs, and memory that programs and contexts share. Sections named in comments are those of
// docs/abi/rknn.md, where those of the matmul notes begin with matmul; docs/rknn.md says what is covered.
package rknn
