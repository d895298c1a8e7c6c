package reviewing

import (
	"context"
	"strconv"

	"github.com/mergexo/mergexo/internal/engine/effect"
	"github.com/mergexo/mergexo/internal/engine/thread"
	"github.com/mergexo/mergexo/internal/github"
	"github.com/mergexo/mergexo/internal/journal"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/review"
)

// Token names the one review of a head.
func Token(number int, head string) string {
	return journal.Token("review", strconv.Itoa(number), head)
}

// TokenOf names a review. That of one turn's commits leaves a review of the whole pull request at the same head to be done.
func TokenOf(about review.About) string {
	if about.Turn {
		return journal.Token("review_turn", strconv.Itoa(about.Pull.Number), about.Head)
	}
	return Token(about.Pull.Number, about.Head)
}

// FindingToken names a finding on a pull request, whichever review says it.
func FindingToken(number int, f model.Finding) string {
	return journal.Token(append([]string{"finding", strconv.Itoa(number)}, review.Name(f)...)...)
}

// Fresh are the findings of an answer that are not on the pull request yet.
func Fresh(t *thread.Thread, findings []model.Finding, posted thread.Posted) []model.Finding {
	return review.Fresh(findings, Raised(t, posted), func(f model.Finding) bool {
		return posted.Tokens[FindingToken(t.Event.Number, f)] != 0
	})
}

// Raised are the findings that stand on the pull request.
func Raised(t *thread.Thread, posted thread.Posted) []model.Raised {
	return review.Raised(posted.Comments, journal.Text, thread.Settler(t))
}

// Post posts findings as one review, and gives its address. GitHub refuses a whole review for one comment that it has no place
// for, and one of a commit that is no longer a part of the pull request: then all of them stand in the text. Where the commit was
// pushed a moment ago, GitHub may not show it yet: shown waits for that, and is nil elsewhere.
func Post(ctx context.Context, t *thread.Thread, about review.About, findings []model.Finding, diff review.Diff, shown func(context.Context) error) (string, error) {
	whole := review.Compose(about, findings, diff)
	made, err := post(ctx, t, about, whole, about.Head)
	if github.KindOf(err) == github.Invalid && shown != nil {
		if err := shown(ctx); err != nil {
			return "", err
		}
		made, err = post(ctx, t, about, whole, about.Head)
	}
	for _, head := range []string{about.Head, ""} {
		if github.KindOf(err) == github.Invalid {
			t.Log.Warn("review_refused", t.NumberKey(), t.Event.Number, "error", err)
			made, err = post(ctx, t, about, review.Compose(about, findings, nil), head)
		}
	}
	return made.URL, err
}

// Refused says that GitHub takes no review there, however often it is asked.
func Refused(err error) bool {
	k := github.KindOf(err)
	return k == github.Forbidden || k == github.Invalid || k == github.NotFound || k == github.Gone
}

func post(ctx context.Context, t *thread.Thread, about review.About, r review.Review, head string) (effect.Result, error) {
	number := about.Pull.Number
	body := journal.Body{Text: r.Text, Tokens: []string{TokenOf(about)}}
	for _, f := range r.Listed {
		body.Tokens = append(body.Tokens, FindingToken(number, f))
	}
	in := github.ReviewInput{Head: head}
	var err error
	if in.Body, err = t.Codec.Encode(body); err != nil {
		return effect.Result{}, err
	}
	said := r.Text
	for _, c := range r.Comments {
		text, err := t.Codec.Encode(journal.Body{Text: c.Text, Tokens: []string{FindingToken(number, c.Finding)}})
		if err != nil {
			return effect.Result{}, err
		}
		in.Comments = append(in.Comments, github.LineComment{Path: c.Finding.Path, Line: int(c.Finding.Line), Body: text})
		said += "\n\n---\n\n`" + c.Finding.Path + "` line " + strconv.FormatInt(c.Finding.Line, 10) + "\n\n" + c.Text
	}
	made, err := t.Apply(ctx, effect.Review(number, TokenOf(about), in))
	if err == nil {
		t.Say(model.Saying{Where: "review of #" + strconv.Itoa(number), Text: said})
	}
	return made, err
}
