package device

import "context"

// Cache is where a device may keep what it makes of a program for the next time that it compiles or loads it, beside
// what Program.Save writes.
type Cache struct {
	Dir   string   // of the program's, where others of its files may be
	Token [32]byte // tells the program's caches in the directory apart
}

type cacheKey struct{}

// WithCache gives devices a cache by the context of Compile and Load. It is no option, as options are saved with a
// program and are a part of its identity, and the directory may be another one when a program is loaded.
func WithCache(ctx context.Context, c Cache) context.Context {
	return context.WithValue(ctx, cacheKey{}, c)
}

// CacheOf returns the cache for programs that are compiled or loaded with ctx; ok is false if there is none.
func CacheOf(ctx context.Context) (c Cache, ok bool) {
	c, ok = ctx.Value(cacheKey{}).(Cache)
	return c, ok
}
