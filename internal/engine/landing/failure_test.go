package landing

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/git/merging"
	"github.com/mergexo/mergexo/internal/git/transport"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/model"
)

func TestWhatGitSaysHasItsCode(t *testing.T) {
	for _, c := range []struct {
		err      error
		strategy string
		code     model.MergeCode
	}{
		{&merging.ErrConflict{}, model.StrategyNoFF, model.CodeConflict},
		{&merging.ErrConflict{}, model.StrategySquash, model.CodeSquash},
		{&history.ErrUnrelated{}, "", model.CodeUnrelated},
		{&merging.ErrEmpty{}, "", model.CodeEmpty},
		{&merging.ErrRewound{}, "", model.CodeRewound},
		{&git.ErrRewind{}, "", model.CodeRewound},
		{&merging.ErrChanged{}, "", model.CodeDiff},
		{&transport.ErrLocked{}, "", model.CodeLock},
		{&git.ErrNoRef{}, "", model.CodeBranchMissing},
		{&git.ErrRejected{Reason: git.Protected}, "", model.CodeProtected},
		{&git.ErrRejected{Reason: git.Workflow}, "", model.CodeForbidden},
		{&git.ErrRejected{}, "", model.CodeRejected},
		{&git.ErrUnclear{}, "", model.CodeRejected},
	} {
		s := (*Failure)(nil)
		require.ErrorAs(t, failureOf(fmt.Errorf("push: %w", c.err), c.strategy), &s, "%T", c.err)
		assert.Equal(t, c.code, s.Code, "%T %+v", c.err, c.err)
		assert.Equal(t, c.code == model.CodeConflict || c.code == model.CodeSquash, s.conflict != nil, "%T", c.err)
	}
	other := errors.New("no space left on device")
	assert.Equal(t, other, failureOf(other, ""), "what is no merge's stays as it is")
}

func TestWhatGitHubRefusesHasItsCode(t *testing.T) {
	for kind, code := range map[github.Kind]model.MergeCode{
		github.HeadMoved: model.CodeHeadMoved, github.BaseMoved: model.CodeBaseMoved, github.NotMergeable: model.CodeProtected,
		github.Forbidden: model.CodeForbidden, github.Invalid: model.CodeProtected,
	} {
		s := (*Failure)(nil)
		require.ErrorAs(t, refusedByGitHub(&github.Error{Kind: kind, Message: "no"}), &s)
		assert.Equal(t, code, s.Code)
		assert.Equal(t, "no", s.Detail)
	}
	later := &github.Error{Kind: github.RateLimited}
	assert.Equal(t, error(later), refusedByGitHub(later))
}
