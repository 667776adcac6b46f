package configuration

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/report"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
)

// auditRoutes returns the operations on the audit log.
func (api *API) auditRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/audit", Handle: api.getAudit, Role: auth.Admin,
			Query: []string{"search", "action", "from", "to", "before", "limit", "skip"},
			Operation: openapi.Operation{
				ID: "listAudit", Tag: "Admin", Summary: "List the audit records",
				About: "Every change makes a record: what changed, when and by whom. The newest comes first. With " +
					"`search`, `action`, `from` or `to` one request examines 50,000 records at most; " +
					"`paging.before` is where the next request continues.",
				Answer: "A page of records.", Form: openapi.FormPage, Gives: "AuditRecord", Also: []int{400},
				Sample: `{"seq":812,"at":"2026-11-20T08:15:30.123Z","accountId":"acme",
					"actor":{"email":"planner@acme.example","credential":"key:k3v9x2m7q4ab","address":"192.0.2.17"},
					"action":"manifest.apply","target":"acme","detail":{"revision":"4","changes":"1","note":""}}`,
				Params: openapi.Params{
					"from": {
						About:  "Only changes at or after this time, or since the start of a date in UTC.",
						Schema: `{"type": "string"}`, Example: "2026-11-01",
					},
					"to": {
						About:  "Only changes before this time, or up to the end of a date in UTC.",
						Schema: `{"type": "string"}`, Example: "2026-11-20",
					},
					"before": {
						About:  "Only records with a smaller number (`seq`).",
						Schema: `{"type": "integer", "minimum": 1}`, Example: 812,
					},
				},
			},
		},
		{
			Method: http.MethodGet, Path: "/audit/export", Handle: api.exportAudit, Role: auth.Admin,
			Query: []string{"search", "action", "from", "to"},
			Operation: openapi.Operation{
				ID: "exportAudit", Tag: "Admin", Summary: "Export the audit as CSV",
				About: "A file by RFC 4180 with column names in the first line, streamed, newest record first. The " +
					"detail is JSON. Text that a spreadsheet would take for a formula is preceded by an " +
					"apostrophe. If the connection breaks, rows are missing.",
				Answer: "The records.", Form: openapi.FormTable, Also: []int{400},
				Sample: "seq,at,email,credential,address,action,target,detail\r\n812,2026-11-20T08:15:30.123Z," +
					"planner@acme.example,key:k3v9x2m7q4ab,192.0.2.17,key.create,planner@acme.example,\r\n",
				Params: openapi.Params{
					"from": {
						About:  "Only changes at or after this time, or since the start of a date in UTC.",
						Schema: `{"type": "string"}`, Example: "2026-11-01",
					},
					"to": {
						About:  "Only changes before this time, or up to the end of a date in UTC.",
						Schema: `{"type": "string"}`, Example: "2026-11-20",
					},
				},
			},
		},
	}
}

// mostSearched is the number of records examined by one search, in about a quarter of a second.
const mostSearched = 10 * audit.Piece

// longestSearch is the largest number of characters in a search text.
const longestSearch = 200

// getAudit handles GET /audit.
func (api *API) getAudit(c *rest.Call) (rest.Reply, error) {
	q := auditQuery(c)
	q.Limit, q.Skip = c.Page(100, 1000)
	q.Before = uint64(c.Number("before", 0, 1, math.MaxInt))
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	if q.Narrow() {
		if err := c.WaitLong(); err != nil {
			return rest.Reply{}, err
		}
	}
	found, err := api.searchAudit(c, q)
	if err != nil {
		return rest.Reply{}, err
	}
	body := struct {
		IsSuccess bool           `json:"isSuccess"`
		Results   []audit.Record `json:"results"`
		Paging    rest.Paging    `json:"paging"`
	}{true, found.Records, rest.Paging{TotalElements: found.Total}}
	if q.Narrow() {
		body.Paging.Before = found.Next
	}
	return rest.Encode(body)
}

// searchAudit returns a page of records, reading pieces until it is full or enough records were examined.
func (api *API) searchAudit(c *rest.Call, q audit.Query) (audit.Page, error) {
	found := audit.Page{Records: []audit.Record{}}
	for looked := 0; looked < mostSearched; looked += audit.Piece {
		if err := c.Request.Context().Err(); err != nil {
			return found, err
		}
		page, err := api.Audit(c.Principal.AccountID, q)
		if err != nil {
			return found, err
		}
		found.Records = append(found.Records, page.Records...)
		found.Total += page.Total
		found.Next = page.Next
		if !q.Narrow() || page.Next == 0 {
			break
		}
		q.Before, q.Skip, q.Limit = page.Next, max(q.Skip-page.Total, 0), q.Limit-len(page.Records)
	}
	return found, nil
}

// auditQuery parses the query of a search.
func auditQuery(c *rest.Call) (q audit.Query) {
	search := c.Query("search")
	if n := len([]rune(search)); n > longestSearch {
		c.Fault("search", "must have %d characters or less; it has %d", longestSearch, n)
	}
	q.Action, q.Words = c.Query("action"), strings.Fields(search)
	for _, limit := range []struct {
		name string
		at   *time.Time
		end  bool
	}{{"from", &q.From, false}, {"to", &q.To, true}} {
		text := c.Query(limit.name)
		if text == "" {
			continue
		}
		ms, err := report.ParseMoment(limit.name, text, rest.UTCDays, limit.end)
		if err == nil {
			*limit.at = time.UnixMilli(ms)
		}
		_ = c.Note(err) // report.ParseMoment returns no other error
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.To.After(q.From) {
		c.Fault("to", "must be later than from, %s; it is %s", instant.Format(q.From), instant.Format(q.To))
	}
	return q
}

var auditColumns = []string{"seq", "at", "email", "credential", "address", "action", "target", "detail"}

// exportAudit handles GET /audit/export.
func (api *API) exportAudit(c *rest.Call) (rest.Reply, error) {
	q := auditQuery(c)
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitLong(); err != nil {
		return rest.Reply{}, err
	}
	q.Limit = audit.Piece
	name := "audit-" + instant.FormatMs(api.Floor.Time())[:10] + ".csv"
	return rest.Reply{Chunked: &rest.Chunked{Kind: rest.CSVType, Name: name, Run: func(ctx context.Context, w io.Writer) error {
		b := bufio.NewWriterSize(w, 64<<10)
		rest.WriteCSV(b, auditColumns)
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			page, err := api.Audit(c.Principal.AccountID, q)
			if err != nil {
				return err
			}
			for i := range page.Records {
				cells, err := auditCells(&page.Records[i])
				if err != nil {
					return err
				}
				if err := rest.WriteCSV(b, cells); err != nil {
					return err
				}
			}
			if q.Before = page.Next; page.Next == 0 {
				return b.Flush()
			}
		}
	}}}, nil
}

// auditCells returns a record as cells. The detail is one cell with JSON, because its fields vary.
func auditCells(r *audit.Record) ([]string, error) {
	detail := ""
	if len(r.Detail) > 0 {
		b, err := json.Marshal(r.Detail)
		if err != nil {
			return nil, err
		}
		detail = string(b)
	}
	return []string{rest.Integer(int64(r.Seq)), instant.Format(r.At.Time), r.Actor.Email, r.Actor.Credential, r.Actor.Address, r.Action, r.Target, detail}, nil
}
