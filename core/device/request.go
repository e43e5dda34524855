package device

import (
	"context"
	"time"
)

// RequestKey is the key under which the context of a run holds its *RunRequest.
type RequestKey struct{}

// requested holds the options of the run that ctx belongs to; nil: there is no run.
func requested(ctx context.Context) *RunRequest {
	r, _ := ctx.Value(RequestKey{}).(*RunRequest)
	return r
}

// LoopLimit returns how long a loop may take in the run that ctx belongs to; 0: no limit.
func LoopLimit(ctx context.Context) time.Duration {
	if r := requested(ctx); r != nil {
		return r.LoopLimit
	}
	return 0
}

// Fences returns those of the run that ctx belongs to.
func Fences(ctx context.Context) []Fence {
	if r := requested(ctx); r != nil {
		return r.Fences
	}
	return nil
}
