package metadata

import "strings"

// plainKeys are the keys without a name in them.
var plainKeys = []string{"schema", "name", "custom_string", "target", "quantization", "inputs", "outputs", "compiled"}

// Near returns the key that an unknown one is most likely meant to be, "" when none is near. Both may lack "anynpu.".
func Near(key string) string {
	rest, prefixed := strings.CutPrefix(key, "anynpu.")
	kind, name, dotted := strings.Cut(rest, ".")
	best, fewest := "", 3 // so many letters are not wrong
	try := func(candidate string, wrong int) {
		if wrong < fewest {
			best, fewest = candidate, wrong
		}
	}
	for _, k := range plainKeys {
		if !dotted {
			try(k, mistakes(kind, k))
		}
	}
	try("outputs.codes", mistakes(rest, "outputs.codes"))
	if dotted && name != "" {
		try("dim."+name, mistakes(kind, "dim"))
	} else if !dotted && kind == "dim" {
		try("dim.NAME", 0)
	}
	for k, fields := range map[string][]string{"input": inputFields, "output": outputFields, "value": valueFields} {
		dot := strings.LastIndexByte(name, '.')
		for _, f := range fields {
			switch {
			case dot > 0:
				try(k+"."+name[:dot+1]+f, mistakes(kind, k)+mistakes(name[dot+1:], f))
			case dotted:
				try(k+".NAME."+f, mistakes(kind, k)+mistakes(name, f))
			}
		}
	}
	if best != "" && prefixed {
		return "anynpu." + best
	}
	return best
}

// mistakes is how many letters are to be put in, left out, replaced or exchanged with their neighbours to make b of a;
// many when a word is long, or most of it would be another.
func mistakes(a, b string) int {
	const many = 100
	if len(a) > 2*len(b)+2 {
		return many
	}
	row := func() []int { return make([]int, len(b)+1) }
	older, old, now := row(), row(), row()
	for j := range old {
		old[j] = j
	}
	for i := range len(a) {
		now[0] = i + 1
		for j := range len(b) {
			n := old[j]
			if a[i] != b[j] {
				n = min(n, old[j+1], now[j]) + 1
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				n = min(n, older[j-1]+1)
			}
			now[j+1] = n
		}
		older, old, now = old, now, older
	}
	if n := old[len(b)]; 2*n <= len(b) {
		return n
	}
	return many
}
