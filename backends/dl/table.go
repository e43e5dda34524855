package dl

import (
	"fmt"
	"slices"
)

// A Table is how drivers of an API may give their functions instead of exporting them: a struct that begins with a
// number of 64 bits, the level, and has the addresses of functions behind it. A driver with nothing else takes no calls
// of the API, which has functions that the table lacks; it is a device.
type Table struct {
	Function string   // an export without arguments: the address of the struct
	Symbols  []string // the functions by their names, in the order of the struct
	Levels   []Level  // in ascending order
	Required []string // those of Symbols without which nothing works
}

// Level is a version of a table. It ends where the next one begins.
type Level struct {
	From  int64
	Count int // how many of Symbols the struct has; 0: there is no such level
}

// Count returns how many of Symbols the struct of a level has, 0 when there is no such level.
func (t *Table) Count(level int64) (n int) {
	for _, l := range t.Levels {
		if level >= l.From {
			n = l.Count
		}
	}
	return n
}

// Judge says what is wrong with a table of a level, "" for nothing; has tells whether address i of Symbols is there.
func (t *Table) Judge(level int64, has func(i int) bool) (why string) {
	if t.Count(level) == 0 {
		return fmt.Sprintf("the table of %s has the level %d, which is none of the API", t.Function, level)
	}
	for _, s := range t.Required {
		if !has(slices.Index(t.Symbols, s)) {
			return fmt.Sprintf("the table of %s lacks %s", t.Function, s)
		}
	}
	return ""
}

// NoTable is the verdict of Judge on NULL.
func (t *Table) NoTable() (why string) { return t.Function + " gives no table" }
