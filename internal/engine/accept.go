package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/checkpoint"
	"github.com/mergexo/mergexo/internal/git/commits"
	"github.com/mergexo/mergexo/internal/git/fetch"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/lineage"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// accept holds one answer of the agent against the rules and gives the head that it leads to.
func (p *pass) accept(ctx context.Context, out model.Outcome) (string, error) {
	if out.BlockedReason != "" {
		return "", p.blocked(model.ReasonAgent, out.BlockedReason)
	}
	if p.issue != nil {
		return p.acceptIssue(ctx, out)
	}
	head, err := p.guardLocal(ctx)
	if err != nil {
		return "", err
	}
	dirty, err := commits.Dirty(ctx, p.Checkout)
	if err != nil {
		return "", err
	}
	if err := turn.Validate(out, p.feedback, dirty || head != p.base()); err != nil {
		return "", p.blocked(model.ReasonOutcome, err.Error())
	}
	if dirty && out.CommitMessage != "" {
		head, _, err = commits.Commit(ctx, p.Checkout, out.CommitMessage)
		if unmerged := (*git.ErrUnmerged)(nil); errors.As(err, &unmerged) {
			return "", failing(err)
		}
		if err != nil {
			return "", err
		}
	}
	if head, err = p.ownHere(ctx, p.base(), head); err != nil {
		return "", err
	}
	found, err := p.inspect(ctx, p.base(), head)
	if err == nil && found.reason != "" {
		err = p.blocked(found.reason, found.detail)
	}
	return head, err
}

// settle leaves in the checkout what is committed and nothing else, so that what is tested is what is pushed.
func (p *pass) settle(ctx context.Context, head string) error {
	dirty, err := commits.Dirty(ctx, p.Checkout)
	if err != nil {
		return err
	}
	if dirty {
		where := ""
		if k := p.setAside(ctx); k.Branch != "" {
			where = ", but kept on " + k.Named()
		}
		p.note("the agent left changes in its checkout without a commit message; they were not pushed" + where)
	}
	// Where tests run, an index that is not dirty says nothing: it can be told to overlook a file.
	if dirty || len(p.Settings.Repo.RequiredTests) > 0 {
		return checkpoint.Reset(ctx, p.Checkout, head)
	}
	return nil
}

// list gives the commits between two heads as plain values.
func (p *pass) list(ctx context.Context, from, to string) ([]model.Commit, error) {
	commits, err := history.Commits(ctx, p.Checkout, from, to)
	if err != nil {
		return nil, err
	}
	list := make([]model.Commit, len(commits))
	for i, c := range commits {
		list[i] = model.Commit{SHA: c.SHA, Subject: c.Subject, Author: c.Author.Name}
	}
	return list, nil
}

// guardLocal holds the history in the checkout against the head that the agent was given.
func (p *pass) guardLocal(ctx context.Context) (string, error) {
	head, err := p.Checkout.Head(ctx)
	if err != nil {
		return "", failing(err)
	}
	relation, err := p.LocalRelation(ctx, p.base(), head)
	if err != nil {
		return "", err
	}
	switch lineage.Decide(relation) {
	case lineage.Block:
		return "", &ending{block: thread.Rewritten(p.base(), head, model.GuardLocal)}
	case lineage.Resolve:
		return "", failing(fmt.Errorf("the history between %s and %s could not be read", markdown.Short(p.base()), markdown.Short(head)))
	}
	return head, p.nothingLeftBehind(ctx, head)
}

// nothingLeftBehind refuses a checkout whose HEAD lacks commits that the agent made on the branch it was given.
func (p *pass) nothingLeftBehind(ctx context.Context, head string) error {
	tip, err := checkpoint.Tip(ctx, p.Checkout)
	if err != nil || tip == "" || tip == head {
		return err
	}
	relation, err := history.Relation(ctx, p.Checkout, tip, head)
	if err != nil || lineage.Decide(relation) == lineage.Pass {
		return err
	}
	return failing(fmt.Errorf("the agent left HEAD at %s, without its own commits up to %s on the branch", markdown.Short(head), markdown.Short(tip)))
}

// requiredTests gives the end of the output of tests that fail, or "". slow says that they were stopped because of their time.
func (p *pass) requiredTests(ctx context.Context, base, head string) (output string, slow bool, err error) {
	untouched := head == base
	if p.issue != nil { // what earlier attempts left on the branch may not have passed
		untouched = head == fetch.BaseTip(p.Checkout)
	}
	if len(p.Settings.Repo.RequiredTests) == 0 || untouched {
		return "", false, nil
	}
	err = p.RunTests(ctx, p.Checkout.Dir(), p.Settings.Repo.RequiredTests, p.Settings, p.Settings.Agent.TestTimeout, p.Memory.Temp, p.Checkout.AgentEnv())
	if alive := p.outlived(ctx, err); alive != nil {
		return "", false, alive
	}
	if err := checkpoint.Reset(context.WithoutCancel(ctx), p.Checkout, head); err != nil { // what tests leave is nobody's work
		return "", false, err
	}
	var failed *agent.Error
	switch {
	case err == nil:
		return "", false, nil
	case ctx.Err() != nil:
		return "", false, errors.Join(context.Canceled, err)
	case !errors.As(err, &failed):
		return "", false, err
	}
	output = strings.TrimSpace(failed.Stderr + "\n" + failed.Detail)
	if slow = failed.Kind == agent.Timeout; slow {
		output += fmt.Sprintf(" ([agent] test_timeout = %q)", thread.Span(p.Settings.Agent.TestTimeout))
	}
	return output, slow, nil
}
