package nnapi

import (
	"sync"

	"github.com/anynpu/anynpu/capi/nnapi/lowering"
)

// lowered is a model's core graph, made once.
type lowered struct {
	once   sync.Once
	result *lowering.Result
	err    error
}
