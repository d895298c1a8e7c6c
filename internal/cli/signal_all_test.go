//go:build all

package cli_test

import (
	"testing"

	"github.com/mergexo/mergexo/internal/cli"
)

func TestARunThatIsToldToStopOnTheWayToAPullRequest(t *testing.T) {
	t.Parallel()
	toldToStop(t, sings, cli.ExitOK, map[string]moment{
		"the first look":    {at: `^POST .*/graphql$`, nth: 1, reads: true},
		"the claim":         {at: `^POST .*/issues/2/comments$`, nth: 1},
		"the look after it": {at: `^POST .*/graphql$`, nth: 3, reads: true},
		"the fetch":         {at: `^POST .*/git-upload-pack$`, nth: 2, reads: true},
		"the stage":         {at: `^POST .*/git-receive-pack$`, nth: 1},
		"the plan":          {at: `^PATCH .*/issues/comments/`, nth: 1},
		"the branch":        {at: `^POST .*/git-receive-pack$`, nth: 2},
		"the pull request":  {at: `^POST .*/pulls$`, nth: 1},
		"its first comment": {at: `^POST .*/issues/3/comments$`, nth: 1},
		"the receipt":       {at: `^PATCH .*/issues/comments/`, nth: 2},
	})
}

func TestARunThatIsToldToStopWhenItWaitsForAPersonAtAnyMoment(t *testing.T) {
	t.Parallel()
	toldToStop(t, asks, cli.ExitBlocked, map[string]moment{
		"the push":        {at: `^GET .*git-receive-pack$`, nth: 1},
		"the stop":        {at: `^POST .*/issues/2/comments$`, nth: 2},
		"the claim's end": {at: `^DELETE .*/issues/comments/`, nth: 1},
	})
}
