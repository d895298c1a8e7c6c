//go:build browser

package cli_test

import (
	"flag"
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
	choose(t, p, "/2/comment", "octo")
	pressed(t, p, `form:has(#body) button`)
	visit(t, d, p, "/pull/2")
	assert.Equal(t, "open", browser.Ask[string](t, p, `document.querySelector(".at .badge").innerText`))
	browser.Ask[chromedp.Void](t, p, `document.querySelector('form[action$="/2/review"] select[name=as]').value = "alice"`)
	pressed(t, p, `button[value=APPROVE]`)
	visit(t, d, p, "/pull/2")
	assert.Equal(t, "merged", browser.Ask[string](t, p, `document.querySelector(".at .badge").innerText`))

	visit(t, d, p, "/pull/4/files") // a suggestion on a line, as the form has it ready
	p.Do(t, chromedp.Click(chromedp.CSS(".file > details summary")), chromedp.SendKeys(chromedp.CSS("input[name=line]"), "5"))
	browser.Ask[chromedp.Void](t, p, "document.querySelector('form[action$=\"/4/line\"] textarea').value = 'Shorter:\\n\\n```suggestion\\nRun it:\\n```\\n'")
	choose(t, p, "/4/line", "alice")
	pressed(t, p, `form[action$="/4/line"] button`)
	visit(t, d, p, "/pull/4/files")
	assert.Contains(t, body(t, p), "Run it:")
	assert.Contains(t, body(t, p), "Applied to line 5 of README.md.")

	problems, asked := p.Noted()
	assert.Empty(t, problems)
	for _, address := range asked {
		assert.True(t, strings.HasPrefix(address, strings.TrimSuffix(d.url, "/octo/widgets")), address)
	}
}

func TestTheDemosPagesAreReadable(t *testing.T) {
	d := newDemo(t)
	p := enter(t, d)
	for name, path := range map[string]string{
		"home": "", "pull": "/pull/2", "diff": "/pull/2/files", "issue": "/issues/1", "commits": "/pull/2/commits", "branches": "/branches", "train": "/train", "runs": "/actions",
	} {
		visit(t, d, p, path)
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
	shot, err := os.ReadFile(path)
	require.NoError(t, err)
	browser.LooksLikeSomething(t, shot, 1000)
	assert.Less(t, len(shot), 200_000)
}
