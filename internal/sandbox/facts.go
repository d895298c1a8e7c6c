package sandbox

import "sync"

// mostFacts bounds what Facts and a server remember, each for itself.
const mostFacts = 4096

// Facts are what git said about commits, which never change. Several sandboxes of one process may share them: stories that begin
// in the same place ask the same questions, and each answer is a process of git's. The zero value is ready, and it is safe for
// concurrent use. It holds no answer that names an object which git had to write.
type Facts struct {
	mu    sync.Mutex
	known map[string]any
}

// fact is memo for what depends on nothing but the commits in key.
func fact[T any](s *core, key string, ask func() (T, error)) (T, error) {
	f := s.facts
	f.mu.Lock()
	v, ok := f.known[key]
	f.mu.Unlock()
	if ok {
		return v.(T), nil
	}
	found, err := ask()
	if err != nil {
		return found, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) > mostFacts || f.known == nil {
		f.known = map[string]any{}
	}
	f.known[key] = found
	return found, nil
}
