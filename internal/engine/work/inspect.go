package work

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/clock"
	"github.com/mergexo/mergexo/internal/engine/redact"
	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/history"
	"github.com/mergexo/mergexo/internal/leak"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/turn"
)

// finding is what keeps commits from being pushed, anywhere. The zero value is nothing.
type finding struct {
	Reason, Detail string
	nowhere        bool     // not to a private ref either
	pointers       []string // files of which the head has only pointers, to contents that the server lacks
}

// maxFindings is how many secrets are named at most; the first would do.
const maxFindings = 10

// Inspect looks at all that a push of head would publish: at every commit, since what one adds and the next removes is
// published too, and not at what the server has on its branches already. It gives what it has listed, nil for nothing. It believes
// no object that the agent may have written.
func Inspect(ctx context.Context, w *Work, base, head string) (found finding, listed *history.Published, err error) {
	if head == base {
		return finding{}, nil, nil
	}
	found, listed, err = inspect(ctx, w, w.Checkout, base, head, history.FetchedTips(w.Checkout))
	return refused(found, listed, err)
}

// inspect is Inspect in a view of the checkout, where the server has the known commits.
func inspect(ctx context.Context, w *Work, c *git.Checkout, base, head string, known []string) (found finding, listed *history.Published, err error) {
	var steps []history.Step
	err = history.Verified(ctx, c, base, head, known, func(own *git.Checkout, all *history.Published) (err error) {
		listed = all
		found, steps, err = evaluate(ctx, w, own, all)
		return err
	})
	if err != nil || found.nowhere {
		return found, listed, err
	}
	missing, err := lacking(ctx, c, base, steps, listed.Pointers)
	if found.pointers = missing.pointers; found.Reason == "" {
		found = missing
	}
	return found, listed, err
}

// InspectBeyond is Inspect for what is not part of some known commits, and for a checkout that only we have written to.
func InspectBeyond(ctx context.Context, w *Work, base, head string, known []string) (finding, error) {
	if head == base {
		return finding{}, nil
	}
	listed, err := history.Publishes(ctx, w.Checkout, base, head, known)
	var found finding
	if err == nil {
		found, _, err = evaluate(ctx, w, w.Checkout, listed)
	}
	found, _, err = refused(found, listed, err)
	return found, err
}

// refused makes a finding of an error that the commits are at fault for.
func refused(found finding, listed *history.Published, err error) (finding, *history.Published, error) {
	sprawl, unverified := (*git.ErrTreeLimits)(nil), (*history.ErrUnverified)(nil)
	if errors.As(err, &sprawl) || errors.As(err, &unverified) {
		return finding{Reason: model.ReasonForbidden, Detail: err.Error(), nowhere: true}, nil, nil
	}
	if err != nil {
		return finding{}, nil, err
	}
	return found, listed, nil
}

// evaluate holds what would be published against the rules, as a repository that has it shows it, and gives every change.
func evaluate(ctx context.Context, w *Work, c *git.Checkout, listed *history.Published) (finding, []history.Step, error) {
	steps, err := listed.EveryChange(ctx, c)
	if err != nil {
		return finding{}, nil, err
	}
	changes := make([]model.Change, len(steps))
	for i, c := range steps {
		changes[i] = model.Change{Path: c.Path, Status: c.Status, OldMode: c.OldMode, Mode: c.NewMode, Size: c.Size, Target: c.Target}
	}
	found, err := findSecrets(ctx, w, c, listed)
	if file, rule := turn.Forbidden(changes, w.Settings.Feedback.ForbidPaths, int64(w.Settings.Feedback.MaxFileMB)<<20); file != "" {
		found = finding{Reason: model.ReasonForbidden, Detail: file + ": " + rule, nowhere: found.Reason != ""}
	}
	return found, steps, err
}

// findSecrets looks for secrets in the text that would be published. Nothing of what it finds is in what it says.
func findSecrets(ctx context.Context, w *Work, c *git.Checkout, listed *history.Published) (finding, error) {
	looking, done := clock.WithTimeout(ctx, w.Clock, leak.Limit)
	defer done()
	scanner, err := redact.Scanner(w.Thread)
	if err != nil {
		return finding{}, err
	}
	var found []string
	hints := map[string]bool{}
	values := redact.Values(w.Thread)
	text := 0
	unseen, err := listed.Patches(looking, c, history.Scope{}, func(a history.Addition) error {
		for _, v := range values {
			if line, is := v.In(a.Text, a.Fresh); is {
				found = append(found, known(a, v, line))
				hints[v.Rule] = true
			}
		}
		if a.Line > 0 && a.Path != "" && turn.Matched(a.Path, w.Settings.Feedback.AllowSecrets) != "" {
			return nil
		}
		if !a.Binary {
			text += len(a.Text)
		}
		if text > leak.Most {
			return leak.ErrTooMuch
		}
		secrets, err := scanner.Scan(looking, leak.Piece(a))
		for _, s := range secrets {
			found = append(found, s.String())
			hints["scanner"] = true
		}
		return err
	})
	if err != nil {
		return unchecked(ctx, looking, err)
	}
	if n := len(found); n > maxFindings {
		found = append(found[:maxFindings], fmt.Sprintf("and %d more", n-maxFindings))
	}
	if hints["scanner"] {
		found = append(found, "if a match is not a secret, for example in a test fixture, add its file to [feedback] allow_secrets")
	}
	if hints[redact.PassEnv] {
		found = append(found, "a commit must not contain the value of a variable in [agent] pass_env that is named like a secret; if it is not a secret, rename the variable")
	}
	if len(found) > 0 {
		return finding{Reason: model.ReasonSecret, Detail: redact.Known(w.Thread, strings.Join(found, "\n")), nowhere: true}, nil // a path may hold one too
	}
	for _, u := range unseen {
		if !u.Binary && turn.Matched(u.Path, w.Settings.Feedback.AllowSecrets) == "" {
			return finding{Reason: model.ReasonSecret, Detail: fmt.Sprintf("%s: not checked for secrets: %s (%d bytes); allow_secrets exempts files", u.Path, u.Why, u.Size), nowhere: true}, nil
		}
	}
	return finding{}, nil
}

// unchecked refuses commits that are over a limit of the search for secrets, in time or in bytes.
func unchecked(ctx, looking context.Context, err error) (finding, error) {
	detail := "the commits could not be checked for secrets within " + leak.Limit.String()
	switch {
	case errors.Is(err, leak.ErrTooMuch):
		detail = "the commits could not be checked for secrets: " + leak.ErrTooMuch.Error() + "; allow_secrets exempts files"
	case looking.Err() == nil || ctx.Err() != nil:
		return finding{}, err
	}
	return finding{Reason: model.ReasonSecret, Detail: detail, nowhere: true}, nil
}

// known is one line for people about a value that must not be pushed, on a line of an addition.
func known(a history.Addition, v redact.Value, line int) string {
	f := leak.Finding{Commit: a.Commit, Path: a.Path, Line: a.Line, Rule: v.Rule, Excerpt: v.What}
	if f.Line > 0 {
		f.Line += line
	}
	return f.String()
}
