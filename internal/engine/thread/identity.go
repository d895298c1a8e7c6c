package thread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// ErrIdentity is a run with another token than the one that MergeXO has worked with on the same number.
var ErrIdentity = errors.New("MergeXO used another account here before")

// CheckIdentity stops before anything is written where a comment speaks as MergeXO and its account is not one of ours: two
// that do not obey each other's markers would do everything twice. A stranger's copy stops nobody. It waits until the
// settings tell which accounts are ours. Who only looks sees what all of them have done.
func CheckIdentity(ctx context.Context, t *Thread) error {
	configured := t.Policy.IsCommand != nil
	if !configured || len(t.State.Foreign) == 0 {
		return nil
	}
	var ask []string
	for _, login := range ForeignPeople(t.State) {
		if _, known := t.Memory.Rights[login]; !known {
			ask = append(ask, login)
		}
	}
	if len(ask) > 0 {
		ask = append(ask, strangers(t)...)
	}
	if err := t.Ask(ctx, ask); err != nil {
		return err
	}
	seen := len(t.Beside)
	for _, f := range t.State.Foreign {
		switch {
		case !f.Author.Bot && t.Memory.Rights[strings.ToLower(f.Author.Login)] < model.PermissionWrite:
		case t.Onlooks:
			t.Beside = append(t.Beside, f.Author.Login)
		default:
			return OtherIdentity(f, t.Snap.Viewer.Login, SettingsBranch(t))
		}
	}
	if len(t.Beside) > seen {
		t.Fold()
	}
	return nil
}

// OtherIdentity is the one error about a marker by another account that may be MergeXO's.
func OtherIdentity(f model.Foreign, viewer, branch string) error {
	return fmt.Errorf("%w: %s wrote as MergeXO at %s, but this token belongs to %s: nothing is written. "+
		"If both accounts are yours, set bots = [%q, %q] under [repo] in %s:%s; if the token is wrong, run with a token of %s",
		ErrIdentity, f.Author.Login, f.URL, viewer, f.Author.Login, viewer, branch, SettingsPath, f.Author.Login)
}

// Misidentified is the work at numbers where MergeXO has worked with another account. Where there is any, a sweep does nothing
// else: what it said elsewhere would be said by the wrong account, and stop the right one there.
func Misidentified(work []model.Work) []model.Work {
	return slices.DeleteFunc(slices.Clone(work), func(w model.Work) bool { return !slices.Contains(w.Why, model.DueIdentity) })
}

// ForeignPeople are the people, in lower case, who wrote a marker that is not ours; their rights tell whether that matters.
func ForeignPeople(st model.State) []string {
	var out []string
	for _, f := range st.Foreign {
		if login := strings.ToLower(f.Author.Login); !f.Author.Bot && login != "" && !slices.Contains(out, login) {
			out = append(out, login)
		}
	}
	return out
}
