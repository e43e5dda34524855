package ohnn

import "github.com/anynpu/anynpu/capi/boundary"

// Objects of this API exist before a device is chosen, so that calls go to a driver all or none: its descriptions and
// tensors cannot be mixed with ours.
func init() { boundary.Choose("ohnn", func(string) bool { return true }, nil) }
