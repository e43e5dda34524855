package hbdnn

import (
	"strconv"

	"github.com/anynpu/anynpu/capi/boundary"
)

func init() {
	if level, ok := logLevel(boundary.Getenv("HB_DNN_LOG_LEVEL")); ok {
		boundary.SetDefaultLevel("hbdnn", level)
	}
}

// logLevels follow the vendor's HB_DNN_LOG_LEVEL: 0 is silent, each other shows itself and graver ones. The last, fatal
// errors, this library has none of (section 9).
var logLevels = [...]boundary.Level{boundary.LevelOff, boundary.LevelDebug, boundary.LevelInfo, boundary.LevelWarn,
	boundary.LevelError, boundary.LevelOff}

// logLevel maps the vendor's number to a level of the log; ok is false when value is empty or no such number.
func logLevel(value string) (level boundary.Level, ok bool) {
	if value == "" {
		return 0, false
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n >= len(logLevels) {
		warn("value ignored [hbdnn-value-ignored]", "HB_DNN_LOG_LEVEL", value, "want", "0 to 5")
		return 0, false
	}
	return logLevels[n], true
}
