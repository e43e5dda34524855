// Package matmul computes products of core/matrix: [Run] on the threads of the device with its kernels, [Reference] in
// plain loops.
package matmul
