//go:build browser

package dashboard

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/sandbox/browser"
)

// open shows a board in the browser that MERGEXO_TEST_BROWSER names.
func open(t *testing.T, b model.Board, before ...func(*testing.T, *browser.Tab)) *browser.Tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte(written(t, b)), 0o644))
	p := browser.Open(t, os.Getenv("MERGEXO_TEST_BROWSER"))
	for _, f := range before {
		f(t, p)
	}
	p.Do(t, chromedp.Navigate((&url.URL{Scheme: "file", Path: file}).String()))
	return p
}

// phone makes the window as narrow as a small phone.
func phone(t *testing.T, p *browser.Tab) {
	t.Helper()
	p.Look(t, "light", 360)
}

func TestThePageIsQuietAndReadableInABrowser(t *testing.T) {
	p := open(t, everything())
	assert.Equal(t, "octo/widgets · MergeXO", browser.Ask[string](t, p, `document.title`))
	browser.Ask[chromedp.Void](t, p, browser.OpenAll)
	backs := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		p.Look(t, scheme, 1200)
		backs[scheme] = browser.Ask[string](t, p, `getComputedStyle(document.body).backgroundColor`)
		assert.Empty(t, browser.Ask[[]string](t, p, browser.Pale), scheme)
	}
	assert.Equal(t, map[string]string{"light": "rgb(246, 247, 249)", "dark": "rgb(17, 21, 27)"}, backs)
	assert.Zero(t, browser.Ask[int](t, p, `document.scripts.length`))
	assert.Zero(t, browser.Ask[int](t, p, `document.querySelectorAll('[style], [onclick], [onload], iframe, img').length`))
	assert.Zero(t, browser.Ask[int](t, p, `document.getElementsByTagName('script').length`))
	problems, asked := p.Noted()
	assert.Empty(t, problems)
	assert.Len(t, asked, 1, "the page itself and nothing else: %v", asked)
}

func TestAPhoneScrollsThePageInOneDirection(t *testing.T) {
	for name, b := range map[string]model.Board{"sample": sample(t), "everything": everything(), "many": many(60)} {
		p := open(t, b, phone)
		for _, state := range []string{"0", browser.OpenAll} {
			browser.Ask[chromedp.Void](t, p, state)
			assert.Equal(t, 360, browser.Ask[int](t, p, `document.documentElement.scrollWidth`), name)
			assert.Empty(t, browser.Ask[[]string](t, p, `[...document.querySelectorAll('body *')].filter(e => !e.closest('.wide, svg') &&
				e.getBoundingClientRect().right > 360.5).map(e => e.tagName + '.' + e.className)`), name)
		}
	}
}

func TestNoScriptIsNeeded(t *testing.T) {
	p := open(t, everything(), func(t *testing.T, p *browser.Tab) {
		browser.Tell(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	})
	text := browser.Run(t, p, chromedp.Text(chromedp.CSS("body")))
	for _, want := range []string{
		"Restore the old history, or accept the new one. Since 17 Mar, 12:40 UTC (age\u00a03\u00a0days).", "Who: an operator. Next: comment one of these lines on #41:", "Fix a typo in retries <script>alert(1)</script> & more", "Log the version at the start", "$20.41",
		"internal/client/retry_test.go", "the rate limit comes back at 17:02 UTC",
	} {
		assert.Contains(t, text, want)
	}
	height := `document.querySelector('details.history').offsetHeight`
	closed := browser.Ask[int](t, p, height)
	p.Do(t, chromedp.Click(chromedp.CSS("details.history summary")))
	assert.Greater(t, browser.Ask[int](t, p, height), closed, "details open by themselves")
}

func TestTheMatrixLeadsToWhatConflicts(t *testing.T) {
	p := open(t, everything(), phone)
	assert.Equal(t, "#41 conflicts with #52: 1 file", browser.Ask[string](t, p, `document.querySelector('.grid a[href="#conflict-41-52"]').ariaLabel`))
	browser.Ask[chromedp.Void](t, p, `document.querySelectorAll('.grid a[href="#conflict-58-66"]')[0].focus()`)
	p.Do(t, chromedp.KeyEvent("\r"), chromedp.WaitReady(chromedp.CSS("#conflict-58-66:target")))
	assert.Contains(t, browser.Ask[string](t, p, `document.querySelector(':target').innerText`), "internal/client/retry_test.go")
	assert.Equal(t, true, browser.Ask[bool](t, p, `(r => r.top >= 0 && r.bottom <= innerHeight)(document.querySelector(':target').getBoundingClientRect())`))
	assert.Empty(t, browser.Ask[[]string](t, p, `[...document.querySelectorAll('a[href^="#"], use')].map(e => e.getAttribute('href'))
		.filter(h => !document.getElementById(h.slice(1)))`), "every link within the page leads somewhere")
}

// A filter shows the rows of one group and hides the others, without a script, also by keyboard. What a link leads to is shown
// all the same.
func TestAFilterShowsOneGroup(t *testing.T) {
	p := open(t, everything(), func(t *testing.T, p *browser.Tab) {
		browser.Tell(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	})
	const shown = `[...document.querySelectorAll('.row')].filter(e => e.checkVisibility()).map(e => e.id).join(' ')`
	all := browser.Ask[string](t, p, shown)
	p.Do(t, chromedp.Click(chromedp.CSS("label:has(#show-work)")))
	assert.Equal(t, "pull-52 pull-58 issue-73", browser.Ask[string](t, p, shown))
	p.Do(t, chromedp.Click(chromedp.CSS("label:has(#show-checks)")))
	assert.Equal(t, "pull-41 pull-47", browser.Ask[string](t, p, shown))
	assert.Equal(t, 1, browser.Ask[int](t, p, `[...document.querySelectorAll('.none')].filter(e => e.checkVisibility()).length`), "nothing among the issues")
	p.Do(t, chromedp.Click(chromedp.CSS("label:has(#show-closed)")), chromedp.Click(chromedp.CSS(`.needs a[href="#pull-44"]`)))
	assert.Contains(t, browser.Ask[string](t, p, shown), "pull-44", "a link leads to what it says")
	p.Do(t, chromedp.Click(chromedp.CSS("label:has(#show-all)")))
	assert.Equal(t, all, browser.Ask[string](t, p, shown))
	p.Do(t, chromedp.KeyEvent(kb.ArrowRight))
	assert.Equal(t, "pull-41 pull-44 pull-66 issue-39", browser.Ask[string](t, p, shown))
}

// One click selects a command, whole and alone.
func TestAClickSelectsACommand(t *testing.T) {
	p := open(t, everything())
	p.Do(t, chromedp.Click(chromedp.CSS(".needs li:first-child .commands li:nth-child(2) code")))
	assert.Equal(t, "/mergexo unblock head_sha="+sha("41x"), browser.Ask[string](t, p, `getSelection().toString().trim()`))
}

// Marks are at least 12 pixels wide and high, wherever they stand, and badges fit on a line.
func TestMarksAndBadgesAreLargeEnough(t *testing.T) {
	p := open(t, everything())
	for _, width := range []int64{1200, 360} {
		p.Look(t, "light", width)
		assert.Empty(t, browser.Ask[[]string](t, p, `[...document.querySelectorAll('.badge use, .legend use, .lineage use')].filter(e => e.checkVisibility())
			.map(e => [e.getAttribute('href'), e.getBoundingClientRect()]).filter(([id, b]) => Math.min(b.width, b.height) < 11.9).map(([id, b]) => id + ' ' + b.width + ' by ' + b.height)`), width)
		assert.Empty(t, browser.Ask[[]string](t, p, `[...document.querySelectorAll('.badge')].filter(e => e.checkVisibility() && (e.offsetHeight > 26 || e.scrollWidth > e.offsetWidth ||
			e.getBoundingClientRect().right > e.parentElement.getBoundingClientRect().right + 0.5)).map(e => e.innerText)`), width)
	}
}

// On a phone, a table that goes on beside the screen says so.
func TestAPhoneShowsThatATableScrolls(t *testing.T) {
	p := open(t, everything(), phone)
	browser.Ask[chromedp.Void](t, p, browser.OpenAll)
	assert.Empty(t, browser.Ask[[]string](t, p, `[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth && !e.previousElementSibling.matches('.cue'))
		.map(e => e.ariaLabel)`))
	assert.Equal(t, browser.Ask[int](t, p, `document.querySelectorAll('.wide').length`), browser.Ask[int](t, p, `[...document.querySelectorAll('.cue')].filter(e => e.checkVisibility()).length`))
	p.Look(t, "light", 1200)
	assert.Zero(t, browser.Ask[int](t, p, `[...document.querySelectorAll('.cue')].filter(e => e.checkVisibility()).length`))
}
