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

// places are the effects that keep the place that the reading got to: else the last pull requests would never have their turn where
// the limit of an hour is too low for all. Earlier places go, and once everything was read, no place is needed.
func (f *scan) places() []effect.Effect {
	var all []effect.Effect
	if f.cut != nil {
		if f.cursor == "" || f.cursor == f.resume() || f.tip == "" {
			return nil
		}
		all = append(all, effect.PlaceRef(resumeRefs+base64.RawURLEncoding.EncodeToString([]byte(f.cursor)), f.tip, true))
	}
	for _, ref := range f.refs {
		if strings.HasPrefix(ref.Name, resumeRefs) {
			all = append(all, effect.RemoveRef(ref.Name))
		}
	}
	return all
}

// keepPlace carries places out. A failure does not end the sweep: the next one begins at the place that is there, and reads
// around.
func (s *sweeper) keepPlace(ctx context.Context, places []effect.Effect) {
	for _, e := range places {
		_, err := anyThread(s).Apply(ctx, e)
		if err == nil {
			continue
		}
		if s.Log.Warn("place_not_kept", "error", err); e.As.Kind != "" { // the new place: earlier ones stay
			return
		}
	}
}
