package device

import (
	"context"
	"time"
)

// LoopLimitKey is the key under which the context of a run holds RunRequest.LoopLimit.
type LoopLimitKey struct{}

// LoopLimit returns how long a loop may take in the run that ctx belongs to; 0: no limit.
func LoopLimit(ctx context.Context) time.Duration {
	d, _ := ctx.Value(LoopLimitKey{}).(time.Duration)
	return d
}
