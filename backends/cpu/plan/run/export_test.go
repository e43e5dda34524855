package run

// LeastSegment is the size of the first memory that a store takes.
const LeastSegment = leastSegment

// Held returns how many forms a store has, and the bytes of its memory.
func (s *Store) Held() (forms int, bytes int64) { return len(s.forms), s.size }
