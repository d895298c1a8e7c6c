package sweeping

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/mergexo/mergexo/internal/engine/effect"
)

// resume is the cursor that the last sweep has left; "" for none.
func (f *scan) resume() string {
	for _, ref := range f.refs {
		if name, is := strings.CutPrefix(ref.Name, resumeRefs); is {
			if cursor, err := base64.RawURLEncoding.DecodeString(name); err == nil {
				return string(cursor)
			}
		}
	}
	return ""
}

// remember leaves the place that the reading got to, for the next sweep to go on from: else the last pull requests would
// never have their turn where the limit of an hour is too low for all.
func (s *sweeper) remember(ctx context.Context) {
	f := s.found
	if f.cursor == "" || s.onlooks || f.cursor == f.resume() {
		return
	}
	name, sha := resumeRefs+base64.RawURLEncoding.EncodeToString([]byte(f.cursor)), f.tip
	if sha == "" {
		return
	}
	if _, err := s.anyThread().Apply(ctx, effect.PlaceRef{Name: name, SHA: sha, Told: true}); err != nil {
		s.Log.Warn("place_not_kept", "error", err)
		return
	}
	s.dropPlaces(ctx)
}

// dropPlaces takes the places away that earlier sweeps got to.
func (s *sweeper) dropPlaces(ctx context.Context) {
	if s.onlooks {
		return
	}
	for _, ref := range s.found.refs {
		if strings.HasPrefix(ref.Name, resumeRefs) {
			if _, err := s.anyThread().Apply(ctx, effect.RemoveRef{Name: ref.Name}); err != nil {
				s.Log.Warn("place_not_dropped", "ref", ref.Name, "error", err) // the next sweep begins there, and reads around
			}
		}
	}
}
