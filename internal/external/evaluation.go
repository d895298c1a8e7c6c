package external

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/strictjson"
)

const (
	maxOutput = 64 << 10 // limit for an evaluation's output, in bytes
	maxReason = 4_000    // limit for a reason, in bytes
)

const wanted = `want one JSON object {"verdict": "approve", "reject" or "fix", "reason": "..."} and nothing else`

// ParseEvaluation reads an evaluation's output: exactly one JSON object {"verdict", "reason"} in UTF-8. A rejection and a
// fix need a reason; a long one is cut. The error names the field, and quotes part of the output on one printable line.
func ParseEvaluation(out []byte) (model.EvaluationResult, error) {
	out = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(out), []byte("\uFEFF")))
	if len(out) > maxOutput {
		return model.EvaluationResult{}, fmt.Errorf("the answer has %d bytes, over %d; %s, got %s", len(out), maxOutput, wanted, piece(out))
	}
	var j model.EvaluationResult
	if err := strictjson.Decode(out, &j, strictjson.Rules{Name: "the answer", Required: map[string][]string{"": {"verdict"}}}); err != nil {
		return model.EvaluationResult{}, fmt.Errorf("%w; %s, got %s", err, wanted, piece(out))
	}
	if !slices.Contains([]string{model.VerdictApprove, model.VerdictReject, model.VerdictFix}, j.Verdict) {
		return model.EvaluationResult{}, fmt.Errorf("verdict: %s is unknown; %s", strictjson.Excerpt(j.Verdict, 40), wanted)
	}
	j.Reason = strings.TrimSpace(j.Reason)
	if j.Reason == "" && j.Verdict != model.VerdictApprove {
		return model.EvaluationResult{}, fmt.Errorf("reason: a %s needs one; %s", j.Verdict, wanted)
	}
	if len(j.Reason) > maxReason {
		j.Reason = strings.ToValidUTF8(j.Reason[:maxReason], "") + " [...]"
	}
	return j, nil
}

// piece is the start of the output, which may quote an outsider.
func piece(out []byte) string { return strictjson.Excerpt(string(out), 80) }
