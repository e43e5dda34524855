package convert

// UsePortable has the portable kernels used until the returned function is called.
func UsePortable() (restore func()) {
	before := kernels
	kernels = portable{}
	return func() { kernels = before }
}
