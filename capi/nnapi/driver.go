package nnapi

import "github.com/anynpu/anynpu/capi/boundary"

// Models exist before a device is chosen, so that calls go to a driver all or none.
func init() { boundary.Choose("nnapi", func(string) bool { return true }, nil) }
