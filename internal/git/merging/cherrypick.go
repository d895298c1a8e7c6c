package merging

import (
	"bytes"
	"context"
	"regexp"
)

// cherryPick puts the branch's own commits on top of Base one by one, each naming its original, without any fallback.
// *ErrChanged if the result is not that of a merge of the branch.
func cherryPick(ctx context.Context, g *input) (Merged, error) {
	done, err := g.pickOwn(ctx, pickOptions{message: pickedFrom})
	return g.landAsMerged(ctx, done, g.explain(ctx, err))
}

// pickedFrom adds the line of git cherry-pick -x, to a message's trailers or else as a paragraph of its own.
func pickedFrom(sha string, raw []byte) []byte {
	raw = append(bytes.TrimRight(raw, "\n"), '\n')
	_, message, _ := bytes.Cut(raw, []byte("\n\n"))
	if !endsInTrailers(message) {
		raw = append(raw, '\n')
	}
	return append(raw, "(cherry picked from commit "+sha+")\n"...)
}

var (
	trailerLine = regexp.MustCompile(`^[A-Za-z0-9-]+[ \t]*:`)
	ownTrailer  = regexp.MustCompile(`^(?:Signed-off-by: |\(cherry picked from commit )`)
)

// endsInTrailers reports whether a message's last paragraph is one of trailers, as in git-interpret-trailers(1): all of its
// lines are, or one that git generates and a quarter of them. The subject never is.
func endsInTrailers(message []byte) bool {
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
		case trailers > 0 && (row[0] == ' ' || row[0] == '\t'): // continuation
		default:
			others++
		}
	}
	return trailers > 0 && (others == 0 || own && 3*trailers >= others)
}
