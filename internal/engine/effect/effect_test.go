package effect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

// fakeThread is a thread in memory.
type fakeThread struct {
	told    []model.Effect
	expired error
	there   bool // what is looked for
	late    int  // so many readings do not show it yet
	reads   int
	waited  time.Duration
}

func (f *fakeThread) Subject() (model.Repo, int) {
	return model.Repo{Owner: "octo", Name: "widgets"}, 1
}
func (f *fakeThread) GitHub() *github.Client       { return nil }
func (f *fakeThread) Checkout() *git.Checkout      { return nil }
func (f *fakeThread) Alive() error                 { return f.expired }
func (f *fakeThread) Reread(context.Context) error { f.reads++; return nil }
func (f *fakeThread) Viewer() model.Actor          { return model.Actor{Login: "mergexo[bot]", Bot: true} }
func (f *fakeThread) ServerNow() time.Time         { return time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC) }
func (f *fakeThread) Record(e model.Effect)        { f.told = append(f.told, e) }
func (f *fakeThread) Logger() *slog.Logger         { return slog.New(slog.DiscardHandler) }
func (f *fakeThread) Said(model.Kind, string) Result {
	return Result{ID: 7, Present: f.there && f.reads > f.late}
}
func (f *fakeThread) Pull() Result { return Result{} }
func (f *fakeThread) Issue(context.Context, string, string) (Result, error) {
	return Result{}, nil
}
func (f *fakeThread) Item(context.Context, string, time.Time) (Result, error) {
	return Result{}, nil
}
func (f *fakeThread) Reran(context.Context, model.Rerun) (Result, error) { return Result{}, nil }
func (f *fakeThread) Pause(_ context.Context, d time.Duration) error     { f.waited += d; return nil }

// answering is an effect whose sendings are answered in turn.
func answering(e Effect, answers *[]error) Effect {
	e.As = model.Effect{Kind: "comment", Target: "1", Token: "t"}
	e.send = func(context.Context, server) (Result, error) {
		err := (*answers)[0]
		*answers = (*answers)[1:]
		return Result{ID: 3}, err
	}
	return e
}

var unclear, refused = &github.Error{Kind: github.Unclear}, &github.Error{Kind: github.Forbidden}

func TestWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	never, always, unseen := Effect{}, Effect{idempotent: true}, Effect{Find: said(model.KindIssue, "t")}
	for name, c := range map[string]struct {
		as      Effect
		there   bool
		late    int
		answers []error
		status  string // of the effect in the report; "" for none
		reads   int
		err     error
	}{
		"at once":                                 {unseen, false, 0, []error{nil}, Applied, 0, nil},
		"an unclear answer, and it is there":      {unseen, true, 0, []error{unclear}, Present, 1, nil},
		"an unclear answer, and it is there late": {unseen, true, 2, []error{unclear}, Present, 3, nil},
		"an unclear answer, and it is not there":  {unseen, false, 0, []error{unclear, nil}, Applied, 3, nil},
		"unclear for ever":                        {unseen, false, 0, []error{unclear, unclear, unclear}, "", 6, unclear},
		"the same twice is the same as once":      {always, false, 0, []error{unclear, unclear, nil}, Applied, 0, nil},
		"what its caller has to look for":         {never, false, 0, []error{unclear}, "", 0, unclear},
		"refused, and that is no unclear answer":  {unseen, false, 0, []error{refused}, "", 0, refused},
		"refused what could be sent again safely": {always, false, 0, []error{refused}, "", 0, refused},
	} {
		f := &fakeThread{there: c.there, late: c.late}
		_, err := Live{}.Apply(t.Context(), f, answering(c.as, &c.answers))
		assert.Empty(t, c.answers, name)
		assert.Equal(t, c.reads, f.reads, name)
		assert.Equal(t, time.Duration(c.reads/3)*7*time.Second, f.waited, name)
		if c.err != nil {
			require.ErrorIs(t, err, c.err, name)
			assert.Empty(t, f.told, name)
			continue
		}
		require.NoError(t, err, name)
		require.Len(t, f.told, 1, name)
		assert.Equal(t, c.status, f.told[0].Status, name)
	}
}

func TestNothingIsSentByARunWhoseClaimExpired(t *testing.T) {
	t.Parallel()
	f := &fakeThread{expired: errors.New("expired")}
	require.ErrorIs(t, must.Err(Live{}.Apply(t.Context(), f, answering(Effect{Find: said(model.KindIssue, "t")}, &[]error{}))), f.expired)
	assert.Empty(t, f.told)
}

// What a dry run has told is there for it, and for nobody else.
func TestADryRunReadsWhatItWouldHaveSaid(t *testing.T) {
	t.Parallel()
	d, f := NewDry(), &fakeThread{}
	repo, number := f.Subject()
	theirs := model.Comment{Kind: model.KindIssue, ID: 5, Body: "/mergexo pause"}
	was := model.Snapshot{Of: model.PullNumber(7), Comments: []model.Comment{theirs, {Kind: model.KindIssue, ID: 6, Body: "old", Ours: true}},
		Pull: model.Pull{State: model.PullOpen, Labels: []string{"MergeXO", "other"}}}
	apply := func(e Effect) Result {
		t.Helper()
		return must.Get(d.Apply(t.Context(), f, e))(t)
	}
	made := apply(Comment(1, "a", "first", nil))
	apply(Edit(made.ID, "a", "second"))
	apply(Edit(6, "b", "new"))
	apply(React(theirs, github.ReactionEyes))
	apply(Unlabel(1, "mergexo", "c"))
	apply(Close(1, "d"))
	gone := apply(Comment(1, "e", "third", nil))
	apply(Delete(gone.ID, "e"))

	now := d.Overlay(was, repo, number)
	require.Len(t, now.Comments, 3)
	assert.True(t, now.Comments[0].Seen)
	assert.False(t, now.Comments[0].Closed)
	assert.Equal(t, "new", now.Comments[1].Body)
	assert.Equal(t, "second", now.Comments[2].Body)
	assert.True(t, now.Comments[2].Ours)
	assert.Equal(t, []string{"other"}, now.Pull.Labels)
	assert.Equal(t, model.PullClosed, now.Pull.State)
	assert.Equal(t, was, d.Overlay(was, repo, number+1), "another number is as it was")
	assert.Equal(t, "old", was.Comments[1].Body, "what was read stays what it was")
	for _, e := range f.told {
		assert.Equal(t, Planned, e.Status)
	}
	assert.Equal(t, model.Effect{Kind: "edit", Token: "a", Status: Planned}, f.told[1], "a comment that is only planned has no id")
}

// The first effect whose answer nobody can know ends a dry run, and nothing that follows is told.
func TestADryRunEndsWhereSomebodyElseAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		e    Effect
		told int
		says string
	}{
		"an agent": {Foreign("a turn would start"), 0, "dry run: a turn would start"},
		"a push":   {Push(Move{As: model.Effect{Kind: "push", Target: "main"}}), 1, "dry run: push main comes next; what follows depends on the answer"},
		"a stage":  {Stage("", ""), 0, "dry run: a push comes next; what follows depends on the answer"},
		"a merge":  {MergePull(1, github.MergeInput{}, "main", ""), 1, "dry run: merge main comes next; what follows depends on the answer"},
	} {
		d, f := NewDry(), &fakeThread{}
		require.NoError(t, d.Ended(), name)
		require.EqualError(t, must.Err(d.Apply(t.Context(), f, c.e)), c.says, name)
		assert.Len(t, f.told, c.told, name)
		require.EqualError(t, must.Err(d.Apply(t.Context(), f, Comment(1, "x", "", nil))), c.says, name)
		assert.Len(t, f.told, c.told, name)
		require.EqualError(t, d.Ended(), c.says, name)
		require.NoError(t, d.Ended(), name)
		require.NoError(t, must.Err(d.Apply(t.Context(), f, Comment(1, "x", "", nil))), name)
		assert.Len(t, f.told, c.told+1, name)
	}
	require.NoError(t, Live{}.Ended())
}

func TestWhatIsDeletedIsToldRefByRef(t *testing.T) {
	t.Parallel()
	f := &fakeThread{}
	refs := []git.Ref{{Name: "refs/mergexo/a", SHA: "1"}, {Name: "refs/mergexo/b", SHA: "2"}}
	gone := model.Effect{Kind: "delete", Target: "refs/mergexo/b", Token: journal.Token("delete", "refs/mergexo/b", "2"), Status: Applied}
	note(f, CleanUp(refs), deleted(refs, refs[:1]), Applied)
	assert.Equal(t, []model.Effect{gone}, f.told)
	must.Get(NewDry().Apply(t.Context(), f, CleanUp(refs)))(t)
	require.Len(t, f.told, 3)
	gone.Status = Planned
	assert.Equal(t, gone, f.told[2])
}

func TestADryRunDoesNotLogItsEndAsAFailure(t *testing.T) {
	var out bytes.Buffer
	log := Quiet(slog.New(slog.NewTextHandler(&out, nil))).With("number", 1).WithGroup("g")
	log.Warn("not_pushed", "branch", "x", "error", fmt.Errorf("push: %w", &Ended{Next: "a push comes next"}))
	assert.Empty(t, out.String())
	log.Warn("not_read", "error", errors.New("no answer"))
	assert.Contains(t, out.String(), `msg=not_read number=1 g.error="no answer"`)
}
