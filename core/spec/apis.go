// Package spec lists the APIs that are served, as far as those need it who run and describe programs of them. The
// packages beside it hold what one API says.
package spec

// An API is one whose functions the library has.
type API struct {
	Name      string   // its package under capi
	Version   string   // of the API that is served; empty: that of the library
	Functions []string // that it declares, in the order of the headers
	Sonames   []string // the vendor's file names; none: it is in the library's own file alone
}

// Vendors returns the APIs whose libraries have vendors' names.
func Vendors() (list []API) {
	for _, a := range APIs {
		if len(a.Sonames) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// Functions returns what the API of that name declares, nil when there is no such API.
func Functions(name string) []string {
	for _, a := range APIs {
		if a.Name == name {
			return a.Functions
		}
	}
	return nil
}
