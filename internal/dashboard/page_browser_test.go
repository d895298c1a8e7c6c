//go:build browser

package dashboard

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
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
	p := open(t, sample())
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
	for name, b := range map[string]model.Board{"sample": sample(), "many": many(60)} {
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
	p := open(t, sample(), func(t *testing.T, p *browser.Tab) {
		browser.Tell(t, p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	})
	text := browser.Run(t, p, chromedp.Text(chromedp.CSS("body")))
	for _, want := range []string{
		"restore the old history, or accept the new one (an operator): /mergexo unblock", "Fix a typo in retries <script>alert(1)</script> & more", "Log the version at the start", "$20.41",
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
	p := open(t, sample(), phone)
	assert.Equal(t, "#41 conflicts with #52: 1 file", browser.Ask[string](t, p, `document.querySelector('.grid a[href="#conflict-41-52"]').ariaLabel`))
	browser.Ask[chromedp.Void](t, p, `document.querySelectorAll('.grid a[href="#conflict-58-66"]')[0].focus()`)
	p.Do(t, chromedp.KeyEvent("\r"), chromedp.WaitReady(chromedp.CSS("#conflict-58-66:target")))
	assert.Contains(t, browser.Ask[string](t, p, `document.querySelector(':target').innerText`), "internal/client/retry_test.go")
	assert.Equal(t, true, browser.Ask[bool](t, p, `(r => r.top >= 0 && r.bottom <= innerHeight)(document.querySelector(':target').getBoundingClientRect())`))
	assert.Empty(t, browser.Ask[[]string](t, p, `[...document.querySelectorAll('a[href^="#"], use')].map(e => e.getAttribute('href'))
		.filter(h => !document.getElementById(h.slice(1)))`), "every link within the page leads somewhere")
}
