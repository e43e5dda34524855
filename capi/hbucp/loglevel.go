package hbucp

import (
	"strconv"

	"github.com/anynpu/anynpu/capi/boundary"
)

func init() {
	for _, variable := range []string{"HB_UCP_LOG_LEVEL", "HB_NN_LOG_LEVEL"} {
		if level, ok := logLevel(variable, boundary.Getenv(variable)); ok {
			boundary.SetDefaultLevel("hbucp", level)
			return
		}
	}
}

// logLevels are the levels by the vendor's numbers: trace, debug, information, warnings, errors, critical errors, which
// this library has none of, and nothing (section 5.7).
var logLevels = [...]boundary.Level{boundary.LevelTrace, boundary.LevelDebug, boundary.LevelInfo, boundary.LevelWarn,
	boundary.LevelError, boundary.LevelOff, boundary.LevelOff}

// logLevel maps the vendor's number to a level of the log; ok is false when value is empty or no such number.
func logLevel(variable, value string) (level boundary.Level, ok bool) {
	if value == "" {
		return 0, false
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n >= len(logLevels) {
		api.Warn("value ignored [hbucp-value-ignored]", variable, value, "want", "0 to 6")
		return 0, false
	}
	return logLevels[n], true
}
