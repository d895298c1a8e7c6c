package git

import (
	"bytes"
	"context"
	"errors"
	"regexp"
)

// cherryPick puts the branch's own commits on top of Base one by one, each with the id of the one it was made from, and
// never makes anything else of them. *ErrChanged when that is not what a merge of the branch comes to.
func cherryPick(ctx context.Context, g *ground) (Merged, error) {
	done, err := g.carry(ctx, order{message: pickedFrom})
	if err != nil {
		return Merged{}, g.explain(ctx, err)
	}
	tree, won, err := g.target(ctx)
	conflict := (*ErrConflict)(nil)
	switch {
	case errors.As(err, &conflict):
		if err := g.tellsAll(ctx, done, err); err != nil {
			return Merged{}, err
		}
	case err != nil:
		return Merged{}, err
	case tree != done.tree:
		return Merged{}, g.changedFrom(ctx, tree, done.tree)
	default:
		done.won = won
	}
	return g.lands(ctx, done)
}

// pickedFrom adds the line that git cherry-pick -x adds, below the trailers of a message or else as a paragraph of its own.
func pickedFrom(sha string, raw []byte) []byte {
	raw = append(bytes.TrimRight(raw, "\n"), '\n')
	_, message, _ := bytes.Cut(raw, []byte("\n\n"))
	if !hasTrailers(message) {
		raw = append(raw, '\n')
	}
	return append(raw, "(cherry picked from commit "+sha+")\n"...)
}

var (
	trailerLine = regexp.MustCompile(`^[A-Za-z0-9-]+[ \t]*:`)
	ownTrailer  = regexp.MustCompile(`^(?:Signed-off-by: |\(cherry picked from commit )`)
)

// hasTrailers tells whether the last paragraph of a message is one of trailers, as git-interpret-trailers(1) says: all of
// its lines are, or one that git made itself and a quarter of them. The subject is none.
func hasTrailers(message []byte) bool {
	at := bytes.LastIndex(bytes.TrimRight(message, "\n"), []byte("\n\n"))
	if at < 0 {
		return false
	}
	trailers, others, own := 0, 0, false
	for row := range bytes.Lines(bytes.TrimRight(message[at+2:], "\n")) {
		switch {
		case ownTrailer.Match(row):
			trailers, own = trailers+1, true
		case trailerLine.Match(row):
			trailers++
		case trailers > 0 && (row[0] == ' ' || row[0] == '\t'): // goes on
		default:
			others++
		}
	}
	return trailers > 0 && (others == 0 || own && 3*trailers >= others)
}
