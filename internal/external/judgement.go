package external

import (
	"errors"

	"github.com/mergexo/mergexo/internal/model"
)

// ParseJudgement reads what an evaluating command printed: one JSON object {"verdict", "reason"} and nothing else.
func ParseJudgement(out []byte) (model.Judgement, error) {
	return model.Judgement{}, errors.New("not built yet")
}
