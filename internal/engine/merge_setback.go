package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// setback is why a merge does not come about.
type setback struct {
	merge.Failure
	// waits says that what is missing can come without another request.
	waits    bool
	conflict *git.ErrConflict
}

func (s *setback) Error() string { return fmt.Sprintf("%s: %s", s.Code, s.Detail) }

// setbackOf finds the code of what git or GitHub said; any other error stays as it is. strategy is the one that was used.
func setbackOf(err error, strategy string) error {
	var (
		conflict    *git.ErrConflict
		unrelated   *git.ErrUnrelated
		empty       *git.ErrEmpty
		rewound     *git.ErrRewound
		frontmatter *git.ErrFrontmatter
		tooMany     *git.ErrTooMany
		changed     *git.ErrChanged
		rewind      *git.ErrRewind
		rejected    *git.ErrRejected
		gone        *git.ErrNoRef
		locked      *git.ErrLocked
		dirty       *git.ErrDirty
		unclear     *git.ErrUnclear
		unreadable  *git.ErrLockUnreadable
	)
	s := &setback{}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &conflict):
		s.Code, s.conflict = model.CodeConflict, conflict
		if strategy == model.StrategySquash {
			s.Code = model.CodeSquash
		}
	case errors.As(err, &unrelated):
		s.Code = model.CodeUnrelated
	case errors.As(err, &empty):
		s.Code = model.CodeEmpty
		s.Proof = empty.Proof
	case errors.As(err, &rewound), errors.As(err, &rewind):
		s.Code = model.CodeRewound
	case errors.As(err, &frontmatter):
		s.Code = model.CodeFrontmatter
	case errors.As(err, &tooMany):
		s.Code = model.CodeTooMany
	case errors.As(err, &changed):
		s.Code = model.CodeDiff
	case errors.As(err, &locked):
		s.Code = model.CodeLock
	case errors.As(err, &dirty):
		s.Code = model.CodeDirtyBase
	case errors.As(err, &gone):
		s.Code = model.CodeBranchMissing
	case errors.As(err, &unreadable):
		s.Code, s.Ref = model.CodeLockBroken, unreadable.Ref
	case errors.As(err, &unclear):
		s.Code = model.CodeRejected
	case errors.As(err, &rejected):
		s.Code = map[git.Reason]model.MergeCode{git.Protected: model.CodeProtected, git.Workflow: model.CodeForbidden}[rejected.Reason]
		if s.Code == "" {
			s.Code = model.CodeRejected
		}
	default:
		return err
	}
	if s.Detail == "" {
		s.Detail = err.Error()
	}
	return s
}

// refusedMerge is setbackOf for GitHub's merge endpoint.
func refusedMerge(err error) error {
	e := (*github.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	code, known := map[github.Kind]model.MergeCode{
		github.HeadMoved: model.CodeHeadMoved, github.BaseMoved: model.CodeBaseMoved, github.NotMergeable: model.CodeProtected, github.Forbidden: model.CodeForbidden,
		github.Invalid: model.CodeProtected,
	}[e.Kind]
	if !known {
		return err
	}
	return &setback{Failure: merge.Failure{Code: code, Detail: e.Message}}
}

func isNoRef(err error) bool {
	none := (*git.ErrNoRef)(nil)
	return errors.As(err, &none)
}

// explain adds to a conflict what people need to resolve it: the files, and what on the base is in the way. What cannot be
// found out is left out.
func (g *merger) explain(ctx context.Context, s *setback) {
	if s.conflict == nil || s.Conflicts != nil {
		return
	}
	m := g.members[0]
	for _, other := range g.members {
		if other.is.BaseSHA != "" && other.made.Tip == "" {
			m = other
			break
		}
	}
	s.Conflicts = m.conflicts(ctx, s.conflict)
}

// conflicts is a conflict with its culprits.
func (m *member) conflicts(ctx context.Context, e *git.ErrConflict) *merge.Conflicts {
	c := conflictsOf(e)
	culprits, err := m.checkout.Culprits(ctx, m.is.BaseSHA, m.head, e.Paths)
	if err != nil || len(culprits) == 0 {
		m.Log.Debug("culprits_unknown", "error", err)
		return c
	}
	shas := make([]string, len(culprits))
	for i, k := range culprits {
		shas[i] = k.SHA
	}
	pulls, err := m.GitHub.PullsOf(ctx, m.event.Repo, shas)
	if err != nil {
		m.Log.Debug("pulls_of_culprits_unknown", "error", err)
	}
	for _, k := range culprits {
		one := merge.Culprit{Commit: k}
		if of := pulls[k.SHA]; len(of) > 0 {
			one.Pull = of[0].Number
		}
		c.Culprits = append(c.Culprits, one)
	}
	return c
}

// conflictsOf is a conflict as the texts tell it.
func conflictsOf(e *git.ErrConflict) *merge.Conflicts {
	c := &merge.Conflicts{Commit: model.Commit{SHA: e.Commit}}
	for _, f := range e.Files {
		c.Files = append(c.Files, merge.Conflict{Path: f.Path, Kind: f.Kind, Hunks: strings.Join(f.Hunks, "\n")})
	}
	if len(c.Files) == 0 {
		for _, path := range e.Paths {
			c.Files = append(c.Files, merge.Conflict{Path: path})
		}
	}
	c.More = max(0, len(e.Paths)-len(c.Files))
	return c
}
