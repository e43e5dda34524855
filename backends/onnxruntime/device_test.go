package onnxruntime

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/devicetest"
	"github.com/anynpu/anynpu/internal/devicecheck"
)

// TestDevice_operators compares every operator that the provider takes with the reference.
func TestDevice_operators(t *testing.T) {
	checks, err := devicecheck.Checks()
	require.NoError(t, err)
	for name, d := range map[string]*Device{"newest": openCPU(t),
		"oldest": open(t, openVINO(t), Provider{Name: CPUProvider})} {
		results, err := devicecheck.Run(context.Background(), d, checks, devicecheck.Options{})
		require.NoError(t, err)
		count := map[devicecheck.Outcome]int{}
		for _, r := range results {
			count[r.Outcome]++
			if r.Outcome != devicecheck.Pass && r.Outcome != devicecheck.Refused {
				assert.Failf(t, "wrong", "%s %s %s: %s: %s", r.Op, r.Types, r.Form, r.Outcome, r.Why)
			}
		}
		t.Logf("%s: %v", name, count)
		assert.Greater(t, count[devicecheck.Pass], 500)
	}
}

func TestDevice_keepsTheContract(t *testing.T) {
	devicetest.Run(t, devicetest.Subject{Device: openCPU(t)})
}
