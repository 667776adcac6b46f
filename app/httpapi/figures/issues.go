package figures

import (
	"context"
	"math"
	"slices"
	"strconv"

	"opsmon/app/engine/report"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/app/work/issue"
)

var issueColumns = []string{
	"id", "type", "stationCode", "startAt", "endAt", "partStartAt", "partEndAt", "partDurationMs", "causeCode", "causeFrom", "excluded", "scheduleId", "skuCode",
	"acknowledgedAt", "acknowledgedBy", "acknowledgedInitials", "expectedEndAt", "escalationLevel", "escalationNote", "orphaned", "note",
}

// exportIssues exports the stops that overlap the range, station by station, oldest first, with a row for each part
// with its own cause.
func (api *API) exportIssues(c *rest.Call) func(x *report.Selection) (*rest.Table, error) {
	return func(x *report.Selection) (*rest.Table, error) {
		return &rest.Table{Header: issueColumns, Each: func(ctx context.Context, row func([]string) error) error {
			for _, s := range x.Stations {
				for from := s.Begin; from < s.End; from += 31 * instant.DayMs {
					if err := ctx.Err(); err != nil {
						return err
					}
					where := issue.Where{StationCode: s.Code, From: from, To: min(s.End, from+31*instant.DayMs)}
					views, _, err := api.Issues.List(ctx, c.Principal.AccountID, issue.Query{Where: []issue.Where{where}, Limit: math.MaxInt32})
					if err != nil {
						return err
					}
					for _, v := range slices.Backward(views) {
						if from > s.Begin && v.StartAt.UnixMilli() < from {
							continue // exported with the month before
						}
						for i := range v.Parts {
							if err := row(issueCells(v, &v.Parts[i])); err != nil {
								return err
							}
						}
					}
				}
			}
			return nil
		}}, nil
	}
}

func issueCells(v *issue.View, p *issue.PartView) []string {
	cells := []string{
		v.ID, v.Type, v.StationCode, rest.TimeText(&v.StartAt), rest.TimeText(v.EndAt), rest.TimeText(&p.StartAt), rest.TimeText(p.EndAt), rest.Integer(p.DurationMs), rest.OrEmpty(p.CauseCode), rest.OrEmpty(p.CauseFrom),
		strconv.FormatBool(p.Excluded), rest.OrEmpty(v.ScheduleID), rest.OrEmpty(v.SKUCode), "", "", "", "", "", "", strconv.FormatBool(v.Orphaned), rest.OrEmpty(v.Note),
	}
	if a := v.Acknowledged; a != nil {
		cells[13], cells[14], cells[15] = rest.TimeText(&a.At), a.By, rest.OrEmpty(a.Initials)
	}
	if e := v.Estimate; e != nil {
		cells[16] = rest.TimeText(&e.ExpectedEndAt)
	}
	if e := v.Escalation; e != nil {
		cells[17], cells[18] = strconv.Itoa(e.Level), rest.OrEmpty(e.Note)
	}
	return cells
}
