package shadow

import "github.com/correx/correx/internal/change"

// Bases returns what the shadow last saw of the files that want chooses. A base that nobody can tell any more is left out.
func (s *Shadow) Bases(want func(change.Path) bool) map[change.Path]change.Pin {
	bases := map[change.Path]change.Pin{}
	m := s.manifest()
	for i := range m.entries {
		e := &m.entries[i]
		if e.kind != entryFile && e.kind != entrySymlink || !want(e.path) {
			continue
		}
		if pin, err := s.base(e); err == nil {
			bases[e.path] = pin
		}
	}
	return bases
}
