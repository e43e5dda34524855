package operators

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

// checkMessage sees whether the message of the refusal is one that helps who wrote the model: it names what the case
// says it must, in whatever case, and keeps to what the program knows.
func (c *Case) checkMessage(message string) error {
	for _, m := range c.Mentions {
		if !strings.Contains(strings.ToLower(message), strings.ToLower(m)) {
			return fmt.Errorf("the message does not name %q: %s", m, message)
		}
	}
	if wrong := c.misleads(message); wrong != "" {
		return fmt.Errorf("the message %s: %s", wrong, message)
	}
	return nil
}

var (
	operatorName = regexp.MustCompile(`OH_NN_OPS_\w+`)
	operandName  = regexp.MustCompile(`\b(input|output) (\d+)\b`)
	indexList    = regexp.MustCompile(`\b(input|output|param)Indices\b|\b(inputs|outputs): `)
	innerName    = regexp.MustCompile(`: ([a-z][a-z0-9_]*): |\b([a-z][a-z0-9]*_[a-z0-9_]+)\b`)
)

// segments are the single words of ours that stand between two colons.
var segments = []string{"quantization", "batches", "outputs", "inputs"}

// misleads says what is wrong with the message of a refusal, "" if nothing: it does not name the operator, or another
// one, or an operator of the library's own; it names an input or output that the operation does not have, or neither
// one of those nor a parameter.
func (c *Case) misleads(message string) string {
	name := "OH_NN_OPS_" + c.Op
	for _, other := range operatorName.FindAllString(message, -1) {
		if other != name {
			return "names the operator " + other
		}
	}
	_, about, found := strings.Cut(message, name)
	if !found {
		return "does not name the operator"
	}
	for _, m := range innerName.FindAllStringSubmatch(about, -1) {
		if word := m[1] + m[2]; !slices.Contains(segments, word) {
			return fmt.Sprintf("calls something %q", word)
		}
	}
	names := indexList.MatchString(message)
	for _, m := range operandName.FindAllStringSubmatch(about, -1) {
		i, err := strconv.Atoi(m[2])
		if count := map[string]int{"input": len(c.In), "output": len(c.Out)}[m[1]]; err != nil || i >= count {
			return fmt.Sprintf("names %s of %d", m[0], count)
		}
		names = true
	}
	for full := range ohnn.TensorTypes {
		if p, ok := strings.CutPrefix(full, c.Op+"_"); ok &&
			regexp.MustCompile(`\b(OH_NN_`+c.Op+`_)?`+p+`\b`).MatchString(about) {
			names = true
		}
	}
	if !names {
		return "names no input, output or parameter"
	}
	return ""
}
