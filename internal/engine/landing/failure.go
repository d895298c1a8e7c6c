package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// Failure tells why a merge does not happen.
type Failure struct {
	merge.Failure
	// Number is the pull request whose head the rules keep from being moved; 0: that is not why.
	Number int
	// waits says that what is missing can come without another request.
	waits bool
	// again says that other settings apply by now, so that the request has to be evaluated again.
	again    bool
	conflict *merging.ErrConflict
	empty    *merging.ErrEmpty
}

// Paths returns the files that conflict, or nil if no conflict is the reason.
func (s *Failure) Paths() []string {
	if s.conflict == nil {
		return nil
	}
	return s.conflict.Paths
}

// verdict is what a request waits for that cannot go on for this reason.
func (s *Failure) verdict() merge.Verdict {
	if s.Pull != nil {
		s.Detail = fmt.Sprintf("%s#%d: %s", s.Repo, s.Pull.Number, s.Detail)
	}
	gate := model.Gate{Name: model.GateName(strings.ToLower(string(s.Code))), Evidence: s.Detail}
	return merge.Verdict{Wait: true, Code: s.Code, Reason: s.Detail, Gates: []model.Gate{gate}}
}

func (s *Failure) Error() string { return fmt.Sprintf("%s: %s", s.Code, s.Detail) }

// failed is a Failure for a reason that is no error's.
func failed(code model.MergeCode, detail string) error {
	return &Failure{Failure: merge.Failure{Code: code, Detail: detail}}
}

// movedTo tells of a branch that is elsewhere.
func movedTo(branch, from, at string) string {
	return fmt.Sprintf("%s moved from %s to %s", branch, markdown.Short(from), markdown.Short(at))
}

// is says that an error is of a type, or holds one.
func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// coded is a type of error with its code.
type coded struct {
	is   func(error) bool
	code model.MergeCode
}

// failureCodes are the codes of what git says, where its type tells all.
var failureCodes = []coded{
	{is[*merging.ErrConflict], model.CodeConflict}, {is[*history.ErrUnrelated], model.CodeUnrelated}, {is[*merging.ErrEmpty], model.CodeEmpty},
	{is[*merging.ErrRewound], model.CodeRewound}, {is[*git.ErrRewind], model.CodeRewound}, {is[*merging.ErrFrontmatter], model.CodeFrontmatter},
	{is[*merging.ErrTooMany], model.CodeTooMany}, {is[*merging.ErrChanged], model.CodeDiff}, {is[*transport.ErrLocked], model.CodeLock},
	{is[*checkout.ErrDirty], model.CodeDirtyBase}, {is[*git.ErrNoRef], model.CodeBranchMissing}, {is[*transport.ErrLockUnreadable], model.CodeLockBroken},
	{is[*git.ErrUnclear], model.CodeRejected}, {is[*git.ErrRejected], model.CodeRejected},
}

// failureOf finds the code of what git said; any other error stays as it is. strategy is the one that was used.
func failureOf(err error, strategy string) error {
	at := slices.IndexFunc(failureCodes, func(c coded) bool { return c.is(err) })
	if at < 0 {
		return err
	}
	s := &Failure{Failure: merge.Failure{Code: failureCodes[at].code, Detail: err.Error()}}
	var unreadable *transport.ErrLockUnreadable
	var rejected *git.ErrRejected
	switch {
	case errors.As(err, &s.conflict):
		known, _ := model.StrategyNamed(strategy)
		s.Code = cmp.Or(known.Conflict, s.Code)
	case errors.As(err, &s.empty):
		s.Proof = s.empty.Proof
	case errors.As(err, &unreadable):
		s.Ref = unreadable.Ref
	case is[*git.ErrUnclear](err): // whatever else it was
	case errors.As(err, &rejected) && (rejected.Reason == git.Protected || strings.Contains(rejected.Message, "hook declined") || strings.Contains(rejected.Message, "checked out")): // a rule of the server's
		s.Code = model.CodeProtected
	case errors.As(err, &rejected) && rejected.Reason == git.Workflow:
		s.Code = model.CodeForbidden
	}
	return s
}

// refusedByGitHub is failureOf for GitHub's merge endpoint.
func refusedByGitHub(err error) error {
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
	return &Failure{Failure: merge.Failure{Code: code, Detail: e.Message}}
}

// explain adds to a conflict what people need to resolve it: the files, and what on the base is in the way. What cannot be
// found out is left out.
func explain(ctx context.Context, g *merger, s *Failure) {
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
func (m *member) conflicts(ctx context.Context, e *merging.ErrConflict) *merge.Conflicts {
	c := conflictsOf(e)
	culprits, err := merging.Culprits(ctx, m.Checkout, m.is.BaseSHA, m.head, e.Paths)
	if err != nil || len(culprits) == 0 {
		m.Log.Debug("culprits_unknown", "error", err)
		return c
	}
	var pulls map[string][]model.PullRef
	if m.GitHub != nil {
		shas := make([]string, len(culprits))
		for i, k := range culprits {
			shas[i] = k.SHA
		}
		if pulls, err = m.GitHub.Pulls.OfCommits(ctx, m.Event.Repo, shas); err != nil {
			m.Log.Debug("pulls_of_culprits_unknown", "error", err)
		}
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
func conflictsOf(e *merging.ErrConflict) *merge.Conflicts {
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
