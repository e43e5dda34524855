package rknn

import (
	"strconv"

	"github.com/anynpu/anynpu/capi/boundary"
)

func init() {
	if level, ok := logLevel(boundary.Getenv("RKNN_LOG_LEVEL")); ok {
		boundary.SetDefaultLevel("rknn", level)
	}
}

// logLevel maps the vendor's RKNN_LOG_LEVEL, 0 to 5, to a level of the log: 0 and 1 show errors, which the vendor's
// library prints at any level, then each shows more (section 2). ok is false when value is empty or no such number.
func logLevel(value string) (level boundary.Level, ok bool) {
	if value == "" {
		return 0, false
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > 5 {
		warn("value ignored [rknn-value-ignored]", "RKNN_LOG_LEVEL", value, "want", "0 to 5")
		return 0, false
	}
	return max(boundary.Level(n), boundary.LevelError), true
}
