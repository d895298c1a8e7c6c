package landing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/mergexo/mergexo/internal/config"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/roadmap"
)

// steering tells people what a commit that would land on base changes of the files that decide over the repository: notes,
// none for none. It is a *Failure where MergeXO could not read the settings or a roadmap that would land.
func steering(ctx context.Context, c *git.Checkout, s config.Settings, base, tip string) ([]string, error) {
	paths, err := history.ChangedPaths(ctx, c, base, tip)
	if err != nil {
		return nil, err
	}
	if err := roadmaps(ctx, c, s.Roadmap.Dir, tip, paths); err != nil {
		return nil, err
	}
	told := merge.SteeringNotes(paths)
	if !slices.Contains(paths, thread.SettingsPath) {
		return told, nil
	}
	text, err := history.Blob(ctx, c, tip, thread.SettingsPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return append(told, fmt.Sprintf("It removes %s: without that file, MergeXO stops working there", thread.SettingsPath)), nil
	case err != nil:
		return nil, err
	}
	before, err := history.Blob(ctx, c, base, thread.SettingsPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	parse := config.Parse
	if _, err := parse(string(before), thread.SettingsPath); err != nil { // where no agent works, theirs may be missing
		parse = config.ParseWithoutAgent
	}
	if _, err := parse(string(text), thread.SettingsPath); err != nil {
		return nil, &Failure{Failure: merge.Failure{Code: model.CodeSettings, Detail: err.Error()}}
	}
	return told, nil
}

// roadmaps refuses a roadmap that would land and does not hold.
func roadmaps(ctx context.Context, c *git.Checkout, dir, tip string, paths []string) error {
	for _, name := range paths {
		if roadmap.FileOf(dir, name) == 0 {
			continue
		}
		text, err := history.Blob(ctx, c, tip, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if wrong := roadmap.Check(name, text); len(wrong) > 0 {
			return &Failure{Failure: merge.Failure{Code: model.CodeRoadmap, Detail: name + ":\n" + wrong.Error()}}
		}
	}
	return nil
}
