package loader

import "debug/elf"

// Exports returns the names that a library gives to those who look them up.
func Exports(path string) ([]string, error) {
	e, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	all, err := e.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range all {
		if bind := elf.ST_BIND(s.Info); s.Section != elf.SHN_UNDEF && (bind == elf.STB_GLOBAL || bind == elf.STB_WEAK) {
			names = append(names, s.Name)
		}
	}
	return names, nil
}
