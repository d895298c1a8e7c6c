package command

import (
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// adopt starts tracking a pull request that was released, or whose branch the settings do not name.
func adopt(c Case) Answer {
	if a, ok := c.changeable(); !ok {
		return a
	}
	pull := c.Target.Pull
	if c.State.Released == nil && c.State.Tracked != nil {
		return c.reject("Pull request %d is already tracked, since %s.", pull.Number, c.State.Tracked.URL)
	}
	if g, is := model.Unmet(c.Gates, "own_branch"); is {
		return c.reject("MergeXO cannot work on pull request %d: %s.", pull.Number, markdown.Plain(g.Evidence))
	}
	m := model.PRMarker{
		Branch: pull.HeadRef, Base: pull.BaseRef, Agent: c.Agent, Head: pull.HeadSHA,
		Command: c.Key, By: c.By, Receipt: c.State.Receipt(), At: c.At,
	}
	if pull.Issue != nil {
		m.Issue = pull.Issue.Number
	}
	text := "**Adopted.** MergeXO now works on this pull request, starting at " + markdown.Commit(pull.URL, pull.HeadSHA) + "."
	if c.State.Released != nil {
		m.AwayFrom = c.State.Released.Marker.At
		text += " Comments made while it was released get no answer. A new comment starts a turn."
	}
	return Answer{model.Applied, text, m}
}

// release ends the tracking of a pull request for good.
func release(c Case) Answer {
	if a, ok := c.tracked(); !ok {
		return a
	}
	return c.apply("**Released.** MergeXO no longer works on this pull request. After `/mergexo adopt`, it continues from the head at that time.")
}
