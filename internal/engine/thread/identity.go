package thread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// ErrIdentity reports that another account worked as MergeXO on the same number before.
var ErrIdentity = errors.New("MergeXO used another account here before")

// CheckIdentity returns an error if another account wrote the first marker. Two accounts that ignore each other's markers would
// do everything twice. A stranger's copy of a marker stops nobody. It does nothing before the settings say which accounts are
// ours. A caller that only reads sees what all accounts did.
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
			return OtherIdentity(f, t.Snap.Viewer.Login)
		}
	}
	if len(t.Beside) > seen {
		Fold(t)
	}
	return nil
}

// OtherIdentity returns the error about a marker of another account that may be MergeXO's. It does not propose to trust that
// account, since anybody who may comment can have written the marker.
func OtherIdentity(f model.Foreign, viewer string) error {
	return fmt.Errorf("%w: %s wrote as MergeXO at %s, but this token belongs to %s: nothing is done here (mergexo help ci: %q)",
		ErrIdentity, f.Author.Login, f.URL, viewer, "After a change of the token")
}

// TellIdentity comments once that another account has worked on the number, and returns wrong. For a person's account it posts
// nothing, since the other account would read that as feedback.
func TellIdentity(ctx context.Context, t *Thread, wrong error) error {
	token := journal.Token("identity", strconv.Itoa(t.Event.Number))
	if !errors.Is(wrong, ErrIdentity) || !t.Snap.Viewer.Bot || t.State.Tokens[token] != 0 {
		return wrong
	}
	f := t.State.Foreign[0]
	_, err := t.Comment(ctx, token, journal.Body{Text: turn.IdentityText(f, t.Snap.Viewer.Login)}, nil)
	return errors.Join(wrong, err)
}

// ForeignPeople lists the people, in lower case, who wrote a marker that is not ours. Their rights decide whether that matters.
func ForeignPeople(st model.State) []string {
	var out []string
	for _, f := range st.Foreign {
		if login := strings.ToLower(f.Author.Login); !f.Author.Bot && login != "" && !slices.Contains(out, login) {
			out = append(out, login)
		}
	}
	return out
}
