package rknn

import "fmt"

// counted is a number of things: "1 input", "2 inputs".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// indexed is counted with the indices of the things.
func indexed(n int, what string) string {
	if n == 1 {
		return counted(n, what) + ", whose index is 0"
	}
	return fmt.Sprintf("%s, whose indices are 0 to %d", counted(n, what), n-1)
}

// some is counted for a call that takes any of them.
func some(n int, what, verb string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s to be %s", what, verb)
	}
	return fmt.Sprintf("%d %ss, of which 1 to %d can be %s at once", n, what, n, verb)
}
