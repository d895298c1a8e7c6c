package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestFailOnIsReadAsPeopleWriteIt(t *testing.T) {
	for value, want := range map[string][]model.Result{
		"":                    nil,
		" none ":              nil,
		"failed,blocked":      {model.ResultFailed, model.ResultBlocked},
		"Retry,\tFAILED":      {model.ResultRetry, model.ResultFailed},
		"blocked\r\nfailed\n": {model.ResultBlocked, model.ResultFailed},
	} {
		got, err := FailOn(value)
		assert.NoError(t, err)
		assert.Equal(t, want, got, "%q", value)
	}
	for value, says := range map[string]string{
		"blocked, faild":      `fail-on: "faild" is unknown; did you mean failed?`,
		"- blocked\n- failed": `fail-on: "-" is unknown; use one of failed, blocked, retry, none`,
	} {
		assert.EqualError(t, must.Err(FailOn(value)), says)
	}
}
