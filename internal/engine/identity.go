package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// ErrIdentity is a run with another token than the one that MergeXO has worked with on the same number.
var ErrIdentity = errors.New("MergeXO has worked here with another account")

// checkIdentity stops before anything is written where a comment speaks as MergeXO and its account is not one of ours: two
// that do not obey each other's markers would do everything twice. A stranger's copy stops nobody. It waits until the
// settings tell which accounts are ours.
func (p *pass) checkIdentity(ctx context.Context) error {
	configured := p.policy.IsCommand != nil
	if !configured || len(p.state.Foreign) == 0 {
		return nil
	}
	var ask []string
	for _, login := range foreignPeople(p.state) {
		if _, known := p.rights[login]; !known {
			ask = append(ask, login)
		}
	}
	if err := p.ask(ctx, ask); err != nil {
		return err
	}
	for _, f := range p.state.Foreign {
		if f.Author.Bot || p.rights[strings.ToLower(f.Author.Login)] >= model.PermissionWrite {
			return otherIdentity(f, p.snap.Viewer.Login, p.settingsBranch())
		}
	}
	return nil
}

// otherIdentity is the one error about a marker by another account that may be MergeXO's.
func otherIdentity(f model.Foreign, viewer, branch string) error {
	return fmt.Errorf("%w: %s speaks as MergeXO at %s, and this token is that of %s: nothing is written. "+
		"If both are yours, set bots = [%q, %q] under [repo] in %s:%s; if the token is the wrong one, run with that of %s",
		ErrIdentity, f.Author.Login, f.URL, viewer, f.Author.Login, viewer, branch, SettingsPath, f.Author.Login)
}

// misidentified is the work at numbers where MergeXO has worked with another account. Where there is any, a sweep does nothing
// else: what it said elsewhere would be said by the wrong account, and stop the right one there.
func misidentified(work []model.Work) []model.Work {
	return slices.DeleteFunc(slices.Clone(work), func(w model.Work) bool { return !slices.Contains(w.Why, model.DueIdentity) })
}

// foreignPeople are the people, in lower case, who wrote a marker that is not ours and who may have the right to write here.
func foreignPeople(st model.State) []string {
	var out []string
	for _, f := range st.Foreign {
		if !f.Author.Bot && turn.Insider(model.Comment{Association: f.Association}) {
			out = append(out, strings.ToLower(f.Author.Login))
		}
	}
	return out
}
