package driver

import "slices"

// Operation is an operation of a model of an API, whose operands are X.
type Operation[X comparable] interface {
	comparable
	Reads() []X
	Makes() []X
}

// Used are the operations whose results are read, by others or as outputs of the model. Operations stand behind those
// whose results they read.
func Used[X comparable, O Operation[X]](operations []O, outputs []X) []O {
	read := map[X]bool{}
	for _, y := range outputs {
		read[y] = true
	}
	var used []O
	for _, o := range slices.Backward(operations) {
		if !slices.ContainsFunc(o.Makes(), func(y X) bool { return read[y] }) {
			continue
		}
		for _, x := range o.Reads() {
			read[x] = true
		}
		used = append(used, o)
	}
	slices.Reverse(used)
	return used
}

// Outside are the operands that operations read and none of them has made before, each once.
func Outside[X comparable, O Operation[X]](operations []O) []X {
	var out []X
	inside := map[X]bool{}
	for _, o := range operations {
		for _, x := range o.Reads() {
			if !inside[x] {
				inside[x] = true
				out = append(out, x)
			}
		}
		for _, y := range o.Makes() {
			inside[y] = true
		}
	}
	return out
}

// Fuse offers each operation that alone reads its first operand to the one that makes that operand. fuse reports
// whether maker makes the results of o from now on.
func Fuse[X comparable, O Operation[X]](operations []O, outputs []X, fuse func(maker, o O) bool) {
	readers, makers := map[X]int{}, map[X]O{}
	for _, o := range operations {
		for _, x := range o.Reads() {
			readers[x]++
		}
		for _, y := range o.Makes() {
			makers[y] = o
		}
	}
	for _, y := range outputs {
		readers[y]++
	}
	for _, o := range operations {
		reads, makes := o.Reads(), o.Makes()
		if len(reads) == 0 || readers[reads[0]] != 1 {
			continue
		}
		if maker, made := makers[reads[0]]; made && fuse(maker, o) {
			for _, y := range makes {
				makers[y] = maker
			}
		}
	}
}
