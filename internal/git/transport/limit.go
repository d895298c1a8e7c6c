package transport

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/relay"
	"github.com/mergexo/mergexo/internal/git/syntax"
)

// push makes moves, each for itself and in this order: in one push, or in several where the server takes only so many refs in
// one. What has to be there before something else goes comes first. The first move that the server refuses is the error, and
// the others are made nevertheless; after any other error nothing more is sent.
func push(ctx context.Context, c *git.Checkout, moves ...relay.Move) error {
	var refused error
	for len(moves) > 0 {
		some := moves
		if most := c.MostRefs; most > 0 {
			some = moves[:min(most, len(moves))]
		}
		err := send(ctx, c, relay.Pushing(some...))
		if learn(c, err) {
			continue
		}
		if err != nil && rejection(err) == nil {
			return err
		}
		if refused == nil {
			refused = err
		}
		moves = moves[len(some):]
	}
	return refused
}

// rejection is the refusal that an error tells of for certain; nil for any other.
func rejection(err error) *git.ErrRejected {
	rejected, unclear := (*git.ErrRejected)(nil), (*git.ErrUnclear)(nil)
	if errors.As(err, &unclear) || !errors.As(err, &rejected) {
		return nil
	}
	return rejected
}

// pushAll makes all of the moves, or none: never in several pushes.
func pushAll(ctx context.Context, c *git.Checkout, moves ...relay.Move) error {
	return send(ctx, c, relay.PushingAll(moves...))
}

// learn tells whether a push was refused since it had too many refs, and remembers how many it may have.
func learn(c *git.Checkout, err error) bool {
	var rejected *git.ErrRejected
	if !errors.As(err, &rejected) || rejected.Most == 0 {
		return false
	}
	c.MostRefs = rejected.Most
	c.Opt.Log.Info("push_split", "most_refs", rejected.Most)
	return true
}

// mostPattern reads how many refs one push may update, in GitHub's words of today (https://github.com/ejoffe/spr/issues/422) and
// those of servers before rulesets, which leave out the result of each ref (https://github.com/renovatebot/renovate/pull/18068).
// Refs that are neither branches nor tags count as well (https://github.com/renovatebot/renovate/issues/17590).
var mostPattern = regexp.MustCompile(`(?im)^remote:.*\bupdate more than (\d{1,6}) branch(?:es)? or tags?\b`)

// crowded reads that a push of so many refs was refused as a whole because there are too many, nil where that is not why. After
// a push that has moved anything the words are about something else, such as a rule that the pusher may bypass.
func crowded(out, stderr string, refs int) *git.ErrRejected {
	said := mostPattern.FindStringSubmatch(stderr)
	if said == nil {
		return nil
	}
	most, err := strconv.Atoi(said[1])
	if err != nil || most < 1 || most >= refs {
		return nil
	}
	found := &git.ErrRejected{Reason: git.Protected, Most: most, Message: syntax.Clean(strings.TrimSpace(strings.TrimPrefix(said[0], "remote:")))}
	for row := range strings.Lines(out) {
		flag, rest, ok := strings.Cut(row, "\t")
		if ok && strings.Contains(" +-*", flag) && flag != "" {
			return nil
		}
		if ok && flag == "!" && found.Ref == "" {
			names, _, _ := strings.Cut(rest, "\t")
			_, ref, _ := strings.Cut(names, ":")
			found.Ref = syntax.Clean(ref)
		}
	}
	return found
}
