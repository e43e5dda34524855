//go:build !amd64 || noasm

package kernel

func detected() ISA { return Generic }
