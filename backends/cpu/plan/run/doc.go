// Package run holds what runs of a plan need beside kernels: a Plan is steps and buffers, a State the memory of one
// run at a time, a Store the packed constants of all plans of a graph. It knows neither how a plan comes about nor what
// its steps compute.
//
// Runs with the same State allocate memory for steps by reference alone.
package run
