package forks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/engine/work"
	"github.com/mergexo/mergexo/internal/git/checkout"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/scratch"
)

// run runs a command of the settings in the tree of the tip, without any secret, with what there is to know as JSON on its
// standard input. Arguments that name a file of the base branch mean that file: no pull request decides how it is evaluated.
func (g *admission) run(ctx context.Context, kind string, argv []string, dir string) ([]byte, error) {
	if err := thread.Outside(ctx, g.Thread, fmt.Sprintf("the %s command of [external] comes next", kind)); err != nil {
		return nil, err
	}
	m := g.marker
	base, removeBase, err := checkout.TestTree(ctx, g.Checkout, g.Snap.Pull.BaseSHA)
	if err != nil {
		return nil, err
	}
	defer work.Dispose(g.Work, removeBase)
	if dir == "" {
		var removeTree func() error
		if dir, removeTree, err = checkout.TestTree(ctx, g.Checkout, m.Tip); err != nil {
			return nil, err
		}
		defer work.Dispose(g.Work, removeTree)
	}
	stdin, err := g.evaluation(ctx, kind, base)
	if err != nil {
		return nil, err
	}
	temp, err := g.Git.Scratch.Make(g.Git.Temp, "external", g.Log)
	if err != nil {
		return nil, fmt.Errorf("make directory for the %s command: %w", kind, err)
	}
	defer work.Dispose(g.Work, func() error { return scratch.RemoveAll(temp) })
	if argv, err = ofBase(argv, base, dir); err != nil {
		return nil, err
	}
	s := g.Settings
	opt, err := thread.TestOptions(ctx, g.World, s, s.Agent.Timeout, temp, g.Checkout.AgentEnv())
	if err != nil {
		return nil, err
	}
	opt.Also, opt.Reads, opt.Redact = []string{base}, []string{g.Checkout.Objects}, redact.Words(ctx, g.Thread)
	var out []byte
	err = work.Foreign(ctx, g.Work, strings.Join(argv, " "), func(ctx context.Context) (err error) {
		out, err = agent.Filter(ctx, dir, argv, stdin, opt)
		return err
	})
	return out, err
}

// ofBase puts the files of the base branch in the place of the arguments that name them. An argument that names anything else
// of the pull request is refused: it would decide how it is evaluated.
func ofBase(argv []string, base, tree string) ([]string, error) {
	argv = slices.Clone(argv)
	for i, arg := range argv {
		if !filepath.IsLocal(arg) {
			continue
		}
		at := filepath.Join(base, filepath.FromSlash(arg))
		if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() {
			argv[i] = at
			continue
		}
		if _, err := os.Lstat(filepath.Join(tree, filepath.FromSlash(arg))); err == nil {
			return nil, &mistake{fmt.Sprintf("[external] argument %d, %q: not a regular file on the base branch. The pull request has one of that name, but it must not decide how it is evaluated. Name a file on the base branch, or an absolute path", i+1, arg)}
		}
	}
	return argv, nil
}

// evaluation is what a command is told.
func (g *admission) evaluation(ctx context.Context, kind, base string) ([]byte, error) {
	m, pull := g.marker, g.Snap.Pull
	own, err := history.List(ctx, g.Checkout, pull.BaseSHA, m.Tip)
	if err != nil {
		return nil, err
	}
	e := model.Evaluation{
		Version: 1, Kind: kind, Repository: g.Event.Repo.String(), Author: pull.Author.Login, BaseTree: base, SHA: m.Tip, BaseSHA: pull.BaseSHA,
		PullRequest:  model.RequestPull{Number: pull.Number, Title: pull.Title, Body: pull.Body, Base: pull.BaseRef, Head: pull.HeadRef, HeadSHA: m.Tip},
		ChangedFiles: []string{}, Commits: append([]model.Commit{}, own...), Reason: m.Reason,
	}
	fork, err := history.ForkPoint(ctx, g.Checkout, pull.BaseSHA, m.Tip)
	if err != nil {
		return nil, err
	}
	paths, err := history.ChangedPaths(ctx, g.Checkout, fork, m.Tip)
	if err != nil {
		return nil, err
	}
	e.ChangedFiles = append(e.ChangedFiles, paths...)
	return json.Marshal(e)
}
