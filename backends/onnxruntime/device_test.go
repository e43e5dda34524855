package onnxruntime

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/devicetest"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/devicecheck"
)

// operators compares every operator that a device takes, or those named, with the reference: at least least cases pass,
// and none is wrong.
func operators(t *testing.T, d *Device, least int, ops ...string) {
	checks, err := devicecheck.Checks(ops...)
	require.NoError(t, err)
	compare(t, d, least, checks)
}

// slowest bounds a run: emulations take seconds for a small one.
const slowest = 2 * time.Minute

func compare(t *testing.T, d *Device, least int, checks []devicecheck.Check) {
	pass, refused, byProvider, wrong := 0, 0, 0, 0
	for some := range slices.Chunk(checks, 100) { // what is wrong is shown soon
		results, err := devicecheck.Run(context.Background(), d, some, devicecheck.Options{Limit: slowest})
		require.NoError(t, err)
		for _, r := range results {
			switch r.Outcome {
			case devicecheck.Pass:
				pass++
			case devicecheck.Refused:
				if strings.Contains(r.Why, "provider") || strings.Contains(r.Why, "ONNX Runtime") {
					byProvider++
				} else {
					refused++
				}
			default:
				wrong++
				assert.Failf(t, "wrong", "%s %s %s: %s: %s", r.Op, r.Types, r.Form, r.Outcome, r.Why)
			}
		}
		t.Logf("%s: of %d: passed %d, refused %d (export), %d (provider), wrong %d", d.Info().Name,
			pass+refused+byProvider+wrong, pass, refused, byProvider, wrong)
	}
	assert.GreaterOrEqual(t, pass, least)
}

func TestDevice_operators(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	operators(t, openCPU(t), 2600)
}

func TestDevice_operatorsOldest(t *testing.T) {
	long(t)
	operators(t, open(t, openVINO(t), Provider{Name: CPUProvider}), 2500)
}

func TestDevice_operatorsOpenVINO(t *testing.T) {
	long(t)
	operators(t, open(t, openVINO(t), Provider{Name: "OpenVINO", Options: map[string]string{"device_type": "CPU"}}), 100)
}

func TestDevice_operatorsQNN(t *testing.T) {
	long(t)
	operators(t, openQNN(t), 10, "relu", "add", "mul", "conv", "mat_mul", "max_pool", "softmax")
}

// TestDevice_sampleQNN: of every operator, some forms. All of them take the emulation hours;
// ANYNPU_ONNXRUNTIME_SAMPLE=1 runs them, and 12+K, with K from 0 to 11, a twelfth of them.
func TestDevice_sampleQNN(t *testing.T) {
	long(t)
	every, from := sampled(t, 12)
	all, err := devicecheck.Checks()
	require.NoError(t, err)
	var some []devicecheck.Check
	for i := from; i < len(all); i += every {
		some = append(some, all[i])
	}
	compare(t, openQNN(t), len(some)/20, some)
}

// sampled says which of many cases run: each of so many from one on, or as ANYNPU_ONNXRUNTIME_SAMPLE=N+K says.
func sampled(t *testing.T, otherwise int) (every, from int) {
	every = otherwise
	if s := os.Getenv("ANYNPU_ONNXRUNTIME_SAMPLE"); s != "" {
		n, k, shared := strings.Cut(s, "+")
		var err error
		every, err = strconv.Atoi(n)
		require.NoError(t, err)
		require.Positive(t, every)
		if shared {
			from, err = strconv.Atoi(k)
			require.NoError(t, err)
			require.GreaterOrEqual(t, from, 0)
		}
	}
	return every, from
}

func TestDevice_keepsTheContract(t *testing.T) {
	devicetest.Run(t, devicetest.Subject{Device: openCPU(t), Live: mem.LiveCounters})
}
