package model

// A Logger writes a line of the log with pairs of a name and a value.
type Logger func(message string, pairs ...any)

// Warn writes what was understood otherwise, and what the metadata and the map say in vain; caution is for doubts about
// results.
func (m *Model) Warn(warn, caution Logger) {
	if m.MapError != nil {
		caution("the model map is not used [model-map-not-used]", "error", m.MapError)
	}
	for _, text := range m.Warnings {
		warn("model [model-read-otherwise]", "text", text)
	}
	if m.Unbatched != "" {
		caution("model [model-not-batched]", "text", m.Unbatched)
	}
	for _, text := range m.Meta.Warnings {
		caution("model: its metadata have no effect [model-metadata-no-effect]", "text", text)
	}
}
