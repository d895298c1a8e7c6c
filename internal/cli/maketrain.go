package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sandbox"
)

// trainEvent is the event by which a run hears of CI's end on a train branch.
const trainEvent = "workflow_run"

// trainSettings have the repository's own check test what lands.
const trainSettings = `[repo]
track = ["agent/*"]
[agent]
adapter = "suggestion"
isolation = "none"
[merge]
verify = "ci"
required_checks = ["test"]
batch = 1
`

// trainApp is the account of the App: pushes with the workflow's own token start no CI.
const trainApp = "mergexo-app[bot]"

// Between the two requests, and from the second one to the end of CI, some time goes by.
const (
	trainNext = 4 * time.Minute
	trainTook = 8 * time.Minute
)

var trainAssumed = []string{
	"octo/widgets is invented: octo has admin access, alice has write access, MergeXO has the token of the App " + trainApp,
	"alice has approved pull requests #7 and #8 to main; octo has commented /mergexo merge on #7, and 4 minutes later on #8",
	"#7 is in car 1 on main, and #8 in car 2 on car 1; CI has passed on car 1, 12 minutes after its push",
}

// stage is the sandbox of a replay, with what a run in it needs.
type stage struct {
	p       *program
	c       *cli.Context
	place   place
	sandbox *sandbox.Server
	urls    sandbox.URLs
	at      *time.Time // the time there
}

// trainLands sets a merge train going, and gives the event at which its first car lands.
func trainLands(s stage) (model.Event, []string, error) {
	ctx := s.c.Context
	s.p.secrets = secrets{Token: "sandbox-" + trainApp}
	heads, err := s.trainScene()
	if err != nil {
		return model.Event{}, nil, err
	}
	for i, head := range heads {
		status := map[string]any{"state": "success", "context": "test", "description": "passed"}
		if err := s.octo(ctx, http.MethodPost, "statuses/"+head, status); err != nil {
			return model.Event{}, nil, err
		}
		if err := s.octo(ctx, http.MethodPost, fmt.Sprintf("issues/%d/comments", 7+i), map[string]any{"body": "/mergexo merge"}); err != nil {
			return model.Event{}, nil, err
		}
		if err := s.run(ctx, "issue_comment"); err != nil {
			return model.Event{}, nil, err
		}
		s.later([]time.Duration{trainNext, trainTook}[i])
	}
	if err := s.ciPasses(ctx); err != nil {
		return model.Event{}, nil, err
	}
	ev, err := delivered(ctx, s.urls, trainEvent)
	return ev, trainAssumed, err
}

// trainScene seeds the repository, and returns the heads of its pull requests.
func (s stage) trainScene() (heads []string, err error) {
	const repo = "octo/widgets"
	at := replayTime.Add(-50 * time.Minute)
	err = s.sandbox.Seed(func(d *sandbox.Seeder) error {
		first, err := madeScene(d, trainSettings)
		err = errors.Join(err, d.User(sandbox.SeedUser{Login: trainApp, Type: "Bot"}), d.Permission(repo, trainApp, "write"))
		second, unmade := d.Commit(repo, "agent/moon", "main", map[string]string{"moon.txt": "hello, moon\n"}, "Greet the moon", at)
		heads = []string{first, second}
		return errors.Join(err, unmade, approved(d, 8, "Greet the moon", "agent/moon", at, at))
	})
	return heads, err
}

// later lets time go by.
func (s stage) later(d time.Duration) {
	*s.at = s.at.Add(d)
	s.sandbox.SetClock(*s.at)
}

// octo asks the API of the repository for something.
func (s stage) octo(ctx context.Context, method, path string, body any) error {
	_, err := asked(ctx, "sandbox-octo", method, s.urls.API+"/repos/octo/widgets/"+path, body)
	return err
}

// run handles the newest event of a name, and says nothing about it.
func (s stage) run(ctx context.Context, name string) error {
	ev, err := delivered(ctx, s.urls, name)
	if err != nil {
		return err
	}
	e, done, err := s.p.engine(s.c, s.place, ev.Repo, "")
	if err != nil {
		return err
	}
	e.Log = slog.New(slog.DiscardHandler)
	rep, err := e.Handle(ctx, ev)
	if left := done(); err == nil {
		err = left
	}
	if err == nil && rep.Result == model.ResultFailed {
		err = fmt.Errorf("start the merge train: %s", rep.Reason)
	}
	return err
}

// ciPasses has the workflow pass on the first car.
func (s stage) ciPasses(ctx context.Context) error {
	const branch = "mergexo/train/main/1"
	raw, err := asked(ctx, "sandbox-octo", http.MethodGet, s.urls.API+"/repos/octo/widgets/git/ref/heads/"+branch, nil)
	if err != nil {
		return err
	}
	var ref struct{ Object struct{ SHA string } }
	if err := json.Unmarshal(raw, &ref); err != nil {
		return fmt.Errorf("read the branch of the train: %w", err)
	}
	_, err = asked(ctx, "sandbox-octo", http.MethodPut, s.urls.Server+"/_sandbox/runs/801", map[string]any{
		"name": "ci", "path": ".github/workflows/ci.yml", "event": "push", "status": "completed", "conclusion": "success", "head_sha": ref.Object.SHA, "head_branch": branch,
		"jobs": []map[string]any{{"name": "test", "conclusion": "success"}},
	})
	return err
}
