package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// The kinds of JSON markers.
const (
	KindPR        = "pr"
	KindTurn      = "turn"
	KindBlock     = "block"
	KindUnblock   = "unblock"
	KindCommand   = "command"
	KindIssue     = "issue"
	KindMerge     = "merge"
	KindExternal  = "external"
	KindConflicts = "conflicts"
	KindAnswer    = "answer"
	KindSettings  = "settings"
	KindReview    = "review"
	KindRoadmap   = "roadmap"
	KindItem      = "item"  // at the end of an issue, not of a comment
	KindTrain     = "train" // the record of a merge train, in a private ref
)

// kinds has a row for each kind of marker in a comment. A new kind is a type in package model, a file here and this row.
var kinds = []kind{
	pullMarkers, turnMarkers, blockMarkers, unblockMarkers, commandMarkers, issueMarkers, mergeMarkers, externalMarkers,
	conflictMarkers, answerMarkers, settingsMarkers, reviewMarkers, roadmapMarkers,
}

// markers tells all that there is to know about the markers of one kind, whose type is M. A function that is nil does nothing.
type markers[M any] struct {
	kind string
	// place gives the repository and the number that a marker names.
	place func(*M) (repo *string, number *int)
	// check refuses a marker that contradicts itself, and completes one that does not.
	check func(*M) error
	// answers gives the command that the comment replies to, and the verdict.
	answers func(*M) (key string, v model.Verdict)
	// once reports whether only the first of the comments with the same tokens counts: two runs can race.
	once func(*M) bool
	// recall keeps of a marker what an earlier version may say: it signed the JSON without the tokens, so that anybody who may
	// comment as the bot can repeat it. A kind without recall is not obeyed then.
	recall func(*M)
	// sticky says that MergeXO can write the comment again, so that an edit by somebody else stops nothing.
	sticky bool
	// take folds a marker into the state.
	take func(*fold, model.Comment, *M)
	// spent gives the day's account in a marker.
	spent func(*M) *model.Spent
	// describe fills in an entry of the log.
	describe func(*model.LogEntry, M)
}

// kind is markers[M] for whichever M. A marker is a *M.
type kind interface {
	name() string
	isSticky() bool
	empty() any
	// placed copies a marker, an M or a *M, and has it name a place; nil for a marker of another kind.
	placed(marker any, repo string, number int) any
	// names is the repository and the number that a marker, a *M, names.
	names(marker any) (repo *string, number *int)
	checked(marker any) error
	// recalled reports whether a marker that an earlier version signed counts, and takes from it what it may not say.
	recalled(marker any) bool
	reply(marker any) (key string, v model.Verdict, once bool)
	fold(f *fold, cm model.Comment, marker any)
	account(marker any) *model.Spent
	log(e *model.LogEntry, marker any)
}

func (k markers[M]) name() string   { return k.kind }
func (k markers[M]) isSticky() bool { return k.sticky }
func (k markers[M]) empty() any     { return new(M) }

func (k markers[M]) placed(marker any, repo string, number int) any {
	m, ok := marker.(M)
	if p, pointer := marker.(*M); pointer {
		m, ok = *p, true
	}
	if !ok {
		return nil
	}
	r, n := k.place(&m)
	*r, *n = repo, number
	return m
}

func (k markers[M]) names(marker any) (*string, *int) { return k.place(marker.(*M)) }

func (k markers[M]) checked(marker any) error {
	if k.check == nil {
		return nil
	}
	return k.check(marker.(*M))
}

func (k markers[M]) recalled(marker any) bool {
	if k.recall != nil {
		k.recall(marker.(*M))
	}
	return k.recall != nil
}

func (k markers[M]) reply(marker any) (key string, v model.Verdict, once bool) {
	if k.answers != nil {
		key, v = k.answers(marker.(*M))
	}
	return key, v, k.once != nil && k.once(marker.(*M))
}

func (k markers[M]) fold(f *fold, cm model.Comment, marker any) {
	if k.take != nil {
		k.take(f, cm, marker.(*M))
	}
}

func (k markers[M]) account(marker any) *model.Spent {
	if k.spent == nil {
		return nil
	}
	return k.spent(marker.(*M))
}

func (k markers[M]) log(e *model.LogEntry, marker any) {
	e.Kind = k.kind
	k.describe(e, *marker.(*M))
}

// always is for markers of which only the first with the same tokens counts.
func always[M any](*M) bool { return true }

// whole keeps all that a marker says: it grants nothing.
func whole[M any](*M) {}

// byKind gives the row of a kind; nil for an unknown one.
func byKind(name string) kind {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.name() == name })
	if at < 0 {
		return nil
	}
	return kinds[at]
}

// Place makes a marker name the conversation that it stands in, and gives its kind.
func Place(marker any, repo model.Repo, number int) (placed any, kind string) {
	for _, k := range kinds {
		if placed = k.placed(marker, repo.String(), number); placed != nil {
			return placed, k.name()
		}
	}
	return marker, ""
}

// open decodes and validates the marker of a comment, including its repository and number.
func (c Codec) open(t trailer, scope Scope) (b believed, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("mergexo-%s marker: %w", t.kind, err)
		}
	}()
	if b.kind = byKind(t.kind); b.kind == nil {
		return b, errors.New("unknown kind")
	}
	b.marker = b.kind.empty()
	earlier, err := c.decodeMarker(t, b.marker)
	if err != nil {
		return b, err
	}
	if err := b.kind.checked(b.marker); err != nil {
		return b, err
	}
	repo, number := b.kind.names(b.marker)
	if !scope.about(*repo) || *number != scope.Number {
		return b, &elsewhere{*repo, *number}
	}
	if earlier && !b.kind.recalled(b.marker) {
		return b, errors.New("an earlier version signed it without its tokens, so that it may be a copy; give the command again")
	}
	*repo = scope.Repo.String()
	b.tokens = c.openTokens(t)
	return b, nil
}

// elsewhere is what a marker is about that is not about its own conversation.
type elsewhere struct {
	repo   string
	number int
}

func (e *elsewhere) Error() string {
	return fmt.Sprintf("it is about %s#%d", e.repo, e.number)
}

// isSHA reports whether s is a full object ID, SHA-1 or SHA-256.
func isSHA(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
