//go:build (!amd64 && !arm64) || noasm

package kernel

// architectureSets are none: everything is computed in Go.
func architectureSets() []instructionSet { return nil }
