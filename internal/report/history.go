package report

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// History writes what MergeXO did as a table, one entry a line, and the cost of all if the agents reported any.
func History(w io.Writer, entries []model.LogEntry) error {
	if len(entries) == 0 {
		return text(w, "MergeXO did nothing in this period.\n")
	}
	rows := [][]string{{"WHEN (UTC)", "NUMBER", "WHAT", "BY", "COMMIT", "COST", "WHY", "RUN OR COMMENT"}}
	for _, e := range entries {
		rows = append(rows, []string{e.At.UTC().Format("2006-01-02 15:04"), fmt.Sprintf("#%d", e.Number), oneLine(e.What), dash(oneLine(e.By)), dash(short(e.SHA)),
			dash(dollars(e.CostUSD)), dash(brief(e.Why)), oneLine(cmp.Or(e.RunURL, e.URL))})
	}
	if _, total := widthsOf(rows); columnsOf(w) > 0 && total > columnsOf(w) { // half a link leads nowhere
		for i, row := range rows {
			row[0] = row[0][:len(time.DateOnly)]
			rows[i] = row[:len(row)-1]
		}
	}
	if err := table(w, rows); err != nil {
		return err
	}
	return total(w, entries)
}

// total returns the sum of the costs, if agents reported any.
func total(w io.Writer, entries []model.LogEntry) error {
	cost := model.CostOf(entries)
	if cost == 0 {
		return nil
	}
	return text(w, fmt.Sprintf("\nAgents reported a cost of %s.\n", dollars(cost)))
}

// Costs writes what agents cost by day and number as a table, and the cost of all.
func Costs(w io.Writer, entries []model.LogEntry) error {
	rows := [][]string{{"DAY (UTC)", "NUMBER", "ENTRIES", "COST"}}
	for _, c := range model.CostsOf(entries) {
		rows = append(rows, []string{c.Day, fmt.Sprintf("#%d", c.Number), fmt.Sprint(c.Entries), dollars(c.CostUSD)})
	}
	if len(rows) == 1 {
		return text(w, "No agent reported a cost in this period.\n")
	}
	if err := table(w, rows); err != nil {
		return err
	}
	return total(w, entries)
}

// dollars is an amount; "" for none.
func dollars(usd float64) string {
	if usd == 0 {
		return ""
	}
	return fmt.Sprintf("$%.2f", usd)
}
