//go:build browser

package cli_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/sandbox/browser"
)

var (
	picture = flag.Bool("picture", false, "write internal/manual/demo.png anew, which the README shows")
	shots   = flag.String("shots", "", "write pictures of the demo's pages into this directory, to be looked at")
)

// enter opens a browser at the address that the demo has printed.
func enter(t *testing.T, d *demo) *browser.Tab {
	t.Helper()
	p := browser.Open(t, os.Getenv("MERGEXO_TEST_BROWSER"))
	p.Do(t, chromedp.Navigate(d.door))
	return p
}

// visit shows a page of a demo, once no event is waiting for a run.
func visit(t *testing.T, d *demo, p *browser.Tab, path string) {
	t.Helper()
	d.page("")
	p.Do(t, chromedp.Navigate(d.url+path))
}

// choose makes the form with an action speak as somebody.
func choose(t *testing.T, p *browser.Tab, form, login string) {
	t.Helper()
	browser.Ask[chromedp.Void](t, p, `document.querySelector('form[action$="`+form+`"] select[name=as]').value = "`+login+`"`)
}

// chosen is as whom the form with an action speaks.
func chosen(t *testing.T, p *browser.Tab, form string) string {
	t.Helper()
	return browser.Ask[string](t, p, `[...document.querySelectorAll('form[action$="`+form+`"] select[name=as]')].at(-1).value`)
}

// pressed presses a button of a form, and waits for the page that answers: the old one has a mark by then.
func pressed(t *testing.T, p *browser.Tab, button string) {
	t.Helper()
	browser.Ask[chromedp.Void](t, p, `document.body.id = "left"`)
	p.Do(t, chromedp.Click(chromedp.CSS(button)), chromedp.WaitReady(chromedp.CSS("body:not(#left) #end")))
}

func body(t *testing.T, p *browser.Tab) string {
	t.Helper()
	return browser.Run(t, p, chromedp.Text(chromedp.CSS("body")))
}

// stands wants a pull request to be open or merged; what MergeXO says on its page tells why it is not.
func stands(t *testing.T, p *browser.Tab, state string) {
	t.Helper()
	require.Equal(t, state, browser.Ask[string](t, p, `document.querySelector(".at .badge").innerText`), "%s", body(t, p))
}

const hostile = `<script>document.title = "owned"</script> <img src=x onerror="document.title = 'owned'"> <b onclick=alert(1)>bold</b> </div></main> [x](javascript:alert(1))`

func TestADemoInABrowser(t *testing.T) {
	d := newDemo(t)
	p := enter(t, d)
	visit(t, d, p, "/pull/2")
	assert.Contains(t, body(t, p), "Applied to line 3 of greet.py.")

	p.Do(t, chromedp.SendKeys(chromedp.CSS("#body"), hostile))
	choose(t, p, "/2/comment", "bob")
	pressed(t, p, `form:has(#body) button`)
	assert.Equal(t, "Greet in French · #2 · octo/widgets", browser.Ask[string](t, p, `document.title`))
	assert.Contains(t, body(t, p), `<script>document.title = "owned"</script> <img src=x onerror="document.title = 'owned'"> <b onclick=alert(1)>bold </div></main> [x](javascript:alert(1))`)
	assert.Equal(t, "bob", browser.Ask[string](t, p, `document.querySelector("form:has(#body) select[name=as]").value`), "who spoke last is chosen")

	p.Do(t, chromedp.SendKeys(chromedp.CSS("#body"), "/mergexo merge"))
	assert.Contains(t, body(t, p), "Not acted on: bob has no write access")
	choose(t, p, "/2/comment", "octo")
	pressed(t, p, `form:has(#body) button`)
	visit(t, d, p, "/pull/2")
	stands(t, p, "open")
	assert.Equal(t, "alice", chosen(t, p, "/2/review"), "octo has opened it")
	choose(t, p, "/2/review", "octo")
	p.Do(t, chromedp.SendKeys(chromedp.CSS(`form[action$="/2/review"] textarea`), "Bonjour."))
	pressed(t, p, `button[value=APPROVE]`)
	assert.Contains(t, body(t, p), "Can not approve your own pull request. What you wrote is kept.")
	assert.Equal(t, "Bonjour.", browser.Ask[string](t, p, `document.querySelector("#draft textarea").value`))
	pressed(t, p, `button[value=APPROVE]`) // as who may: alice
	visit(t, d, p, "/pull/2")
	stands(t, p, "merged")

	assert.Equal(t, "alice", browser.Ask[string](t, p, `document.querySelector(".post:has(+ .event) .who b").innerText`), "it is below the approval")
	assert.Regexp(t, `^merged github-actions\[bot\] merged [0-9a-f]{10} into main · `, browser.Ask[string](t, p, `document.querySelector(".event").innerText`))

	visit(t, d, p, "/pull/5/files") // a suggestion on a line, as the form has it ready
	p.Do(t, chromedp.Click(chromedp.CSS(`.diff a[href*="line=5&"]`)), chromedp.WaitReady(chromedp.CSS("#draft textarea")))
	assert.Equal(t, "\n\n```suggestion\nTry it:\n```\n", browser.Ask[string](t, p, `document.querySelector("#draft textarea").value`))
	browser.Ask[chromedp.Void](t, p, "document.querySelector('form[action$=\"/5/line\"] textarea').value = 'Shorter:\\n\\n```suggestion\\nRun it:\\n```\\n'")
	choose(t, p, "/5/line", "alice")
	pressed(t, p, `form[action$="/5/line"] button`)
	visit(t, d, p, "/pull/5/files")
	assert.Contains(t, body(t, p), "Run it:")
	assert.Contains(t, body(t, p), "Applied to line 5 of README.md.")

	problems, asked := p.Noted()
	assert.Equal(t, []string{"Failed to load resource: the server responded with a status of 422 (Unprocessable Entity)"}, problems, "octo's approval")
	for _, address := range asked {
		assert.True(t, strings.HasPrefix(address, strings.TrimSuffix(d.url, "/octo/widgets")), address)
	}
}

// TestTheTipsOfADemo does what the page says, as a person who changes nothing else in the forms.
func TestTheTipsOfADemo(t *testing.T) {
	d := newDemo(t)
	p := browser.Open(t, os.Getenv("MERGEXO_TEST_BROWSER"))
	p.Do(t, chromedp.Navigate(d.url))
	assert.Contains(t, body(t, p), "Look at the terminal where mergexo sandbox --demo runs")
	p.Do(t, chromedp.SendKeys(chromedp.CSS("input[name=key]"), d.key))
	pressed(t, p, "button")
	assert.Contains(t, body(t, p), "Try this")
	follow := func(tip int) {
		d.page("")
		p.Do(t, chromedp.Navigate(d.url))
		pressed(t, p, fmt.Sprintf(".tip li:nth-child(%d) a", tip))
	}
	follow(1)
	assert.Equal(t, "octo", chosen(t, p, "/2/comment"))
	pressed(t, p, `form:has(h2):has(input[value="/mergexo merge"]) button`)
	pressed(t, p, "button[value=APPROVE]")
	visit(t, d, p, "/pull/2")
	stands(t, p, "merged")
	follow(2)
	pressed(t, p, `form[action$="/3/label"] button`)
	assert.Contains(t, body(t, p), "Opened #6 Greet the moon")
	follow(3)
	browser.Ask[chromedp.Void](t, p, `document.querySelector("select[name=name]").value = "agent:roadmap"`)
	pressed(t, p, `form[action$="/4/label"] button`)
	visit(t, d, p, "/pull/7")
	pressed(t, p, `form:has(h2):has(input[value="/mergexo merge"]) button`)
	pressed(t, p, "button[value=APPROVE]")
	visit(t, d, p, "/issues/4")
	assert.Equal(t, []string{"#8 Greet the sun", "#9 Greet the stars"}, browser.Ask[[]string](t, p, `[...document.querySelectorAll(".graph text")].map(e => e.textContent)`))
	assert.Equal(t, 1, browser.Ask[int](t, p, `document.querySelectorAll(".graph .arrow").length`))
	looksRight(t, p, "roadmap")
	follow(4)
	pressed(t, p, ".diff .add a")
	looksRight(t, p, "line")
	visit(t, d, p, "/actions")
	assert.Contains(t, body(t, p), "alice added agent:roadmap to #4")
	assert.Contains(t, body(t, p), "octo commented on #7: /mergexo merge")
	problems, _ := p.Noted()
	assert.Equal(t, []string{"Failed to load resource: the server responded with a status of 403 (Forbidden)"}, problems, "without the key")
}

func TestTheDemosPagesAreReadable(t *testing.T) {
	d := newDemo(t)
	p := enter(t, d)
	for name, path := range map[string]string{
		"home": "", "pull": "/pull/2", "diff": "/pull/2/files", "issue": "/issues/1", "commits": "/pull/2/commits", "branches": "/branches", "train": "/train", "runs": "/actions",
	} {
		visit(t, d, p, path)
		looksRight(t, p, name)
	}
}

// looksRight looks at a page in light and dark, on a desk and on a phone.
func looksRight(t *testing.T, p *browser.Tab, name string) {
	t.Helper()
	for _, c := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1100}, {"dark", "dark", 1100}, {"phone", "light", 360}, {"phone-dark", "dark", 360}} {
		p.Look(t, c.scheme, c.width)
		if *shots != "" {
			require.NoError(t, os.WriteFile(filepath.Join(*shots, name+"-"+c.name+".png"), browser.Run(t, p, chromedp.FullScreenshot(100)), 0o600))
		}
		browser.Ask[chromedp.Void](t, p, browser.OpenAll)
		assert.Empty(t, browser.Ask[[]string](t, p, browser.Pale), "%s, %s", name, c.name)
		assert.EqualValues(t, c.width, browser.Ask[int](t, p, `document.documentElement.scrollWidth`), "%s, %s", name, c.name)
		browser.Ask[chromedp.Void](t, p, `document.querySelectorAll('details').forEach(d => d.open = false)`)
	}
	assert.Zero(t, browser.Ask[int](t, p, `document.scripts.length + document.querySelectorAll('[style], iframe, img').length`), name)
}

// TestThePictureOfTheDemo is held by its looks: the times on it are those of its day.
func TestThePictureOfTheDemo(t *testing.T) {
	path := filepath.Join("..", "manual", "demo.png")
	if *picture {
		d := newDemo(t)
		p := enter(t, d)
		visit(t, d, p, "/pull/2")
		p.Look(t, "light", 1000)
		shot := browser.LooksLikeSomething(t, browser.Run(t, p, chromedp.CaptureScreenshot()), 1000)
		require.NoError(t, os.WriteFile(path, browser.Small(t, shot), 0o644)) //nolint:gosec // everybody may look
	}
	shot := []byte(text(t, path))
	browser.LooksLikeSomething(t, shot, 1000)
	assert.Less(t, len(shot), 200_000)
}
