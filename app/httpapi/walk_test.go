package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/test/apptest"
	"opsmon/app/work/task"
)

// caller is the user who sends a request of the walk.
type caller struct{ email string }

// sample is a successful request to a route. It is made again for each call, because many can succeed only once.
type sample struct {
	open    bool
	role    auth.Role // the lowest role that may; "": every role
	make    func(s *server, c caller) ask
	ok      int // the status of success; 0: 200
	byKey   int // with a key, if it differs
	foreign int // for an admin of another account who requests the same object; 0: as ok
}

func plain(path string) func(*server, caller) ask {
	return func(*server, caller) ask { return ask{path: path} }
}

func with(path, body string) func(*server, caller) ask {
	return func(*server, caller) ask { return ask{path: path, body: body} }
}

// samples has a row for every route of the table.
var samples = map[string]sample{
	"GET /account":                                       {make: plain("/account")},
	"POST /account":                                      {make: with("/account", `{"currency":"USD"}`), role: auth.Member},
	"GET /account/manifest":                              {make: plain("/account/manifest")},
	"PUT /account/manifest":                              {make: with("/account/manifest?dryrun=true&note=n", acme), role: auth.Member, foreign: 409},
	"GET /account/manifest/revisions":                    {make: plain("/account/manifest/revisions?limit=5&skip=0")},
	"GET /account/manifest/revisions/:revision":          {make: plain("/account/manifest/revisions/3"), foreign: 404},
	"GET /account/manifest/revisions/:revision/changes":  {make: plain("/account/manifest/revisions/3/changes?from=2"), foreign: 404},
	"POST /account/manifest/revisions/:revision/restore": {make: with("/account/manifest/revisions/3/restore", ""), role: auth.Member, foreign: 404},
	"GET /station":                                       {make: plain("/station?plantcode=north"), foreign: 400},
	"GET /station/:stationCode":                          {make: plain("/station/PACK-1"), foreign: 404},
	"POST /station/:stationCode/operator":                {make: with("/station/PACK-1/operator", `{"initials":"ABC"}`), role: auth.Operator, foreign: 404},
	"POST /station/:stationCode/alert":                   {make: with("/station/PACK-1/alert", `{"message":"Mind the step","expiresAt":"2027-01-01T00:00:00Z"}`), role: auth.Supervisor, foreign: 404},
	"GET /schedule":                                      {make: plain("/schedule?rangecode=week&state=planned&limit=5")},
	"POST /schedule":                                     {make: newSchedule, role: auth.Supervisor, foreign: 400},
	"GET /schedule/:scheduleId":                          {make: someSchedule(""), foreign: 404},
	"DELETE /schedule/:scheduleId":                       {make: someSchedule(""), role: auth.Supervisor, ok: 204, foreign: 404},
	"POST /schedule/:scheduleId/start":                   {make: someSchedule("/start?endrunning=true"), role: auth.Operator, foreign: 404},
	"POST /schedule/:scheduleId/end":                     {make: runningSchedule("/end"), role: auth.Operator, foreign: 404},
	"POST /schedule/:scheduleId/move":                    {make: movable, role: auth.Supervisor, foreign: 404},
	"POST /quick-schedule":                               {make: with("/quick-schedule?endrunning=true", `{"stationCode":"PACK-1","skuCode":"B2","initials":"abc"}`), role: auth.Operator, foreign: 400},
	"GET /production":                                    {make: plain("/production?stationcodes=&limit=5")},
	"POST /production":                                   {make: someProduction(""), role: auth.Operator, foreign: 400},
	"POST /production/:entryId/undo":                     {make: someProduction("undo"), role: auth.Operator, foreign: 404},
	"GET /refused":                                       {make: plain("/refused?limit=5&skip=0"), role: auth.Supervisor},
	"GET /station-window":                                {make: plain("/station-window?stationcodes=PACK-1&rangecode=today&limit=5"), foreign: 400},
	"GET /timeline":                                      {make: plain("/timeline?stationcode=PACK-1&rangecode=today&points=100"), foreign: 400},
	"GET /oee":                                           {make: plain("/oee?plantcode=north&by=station,day&rangecode=week"), foreign: 400},
	"GET /energy":                                        {make: plain("/energy?groupcode=packing&by=month"), foreign: 400},
	"GET /pareto":                                        {make: plain("/pareto?stationcodes=PACK-1"), foreign: 400},
	"GET /analysis/cycletime":                            {make: plain("/analysis/cycletime?stationcodes=PACK-2"), foreign: 400},
	"GET /directory":                                     {make: plain("/directory")},
	"GET /analysis/standstill":                           {make: plain("/analysis/standstill?stationcode=PACK-1&rangecode=today&limit=5"), foreign: 400},
	"POST /analysis/tuning":                              {make: someTuning, role: auth.Supervisor, foreign: 400},
	"GET /cron":                                          {make: plain("/cron?pattern=0+6+*+*+1-5&timezone=Europe/Lisbon&count=2")},
	"GET /export/:table":                                 {make: plain("/export/windows?rangecode=today&stationcodes=PACK-1"), foreign: 400},
	"GET /auth/profile":                                  {make: plain("/auth/profile")},
	"POST /auth/logout":                                  {make: plain("/auth/logout")},
	"POST /auth/account":                                 {make: with("/auth/account", `{"accountId":"acme"}`), byKey: 403, foreign: 403},
	"GET /session":                                       {make: plain("/session")},
	"DELETE /session":                                    {make: plain("/session?keepthis=true")},
	"DELETE /user/:email/session":                        {make: signedInUser, role: auth.Admin, foreign: 404},
	"GET /key":                                           {make: plain("/key")},
	"POST /key":                                          {make: with("/key", `{"name":"n","expiresAt":"2099-01-01T00:00:00Z"}`)},
	"DELETE /key/:key":                                   {make: ownKey, ok: 204, foreign: 403},
	"GET /user":                                          {make: plain("/user"), role: auth.Admin},
	"POST /user":                                         {make: newUser, role: auth.Admin},
	"GET /user/:email":                                   {make: plain("/user/member@people.example"), role: auth.Admin, foreign: 404},
	"PUT /user/:email":                                   {make: with("/user/member@people.example", `{"role":"member"}`), role: auth.Admin, foreign: 404},
	"DELETE /user/:email":                                {make: someUser, role: auth.Admin, ok: 204, foreign: 404},
	"GET /login-request":                                 {make: plain("/login-request"), role: auth.Admin},
	"POST /login-request/:code/link":                     {make: pendingCode, role: auth.Admin, foreign: 404},
	"GET /tablet":                                        {make: plain("/tablet"), role: auth.Admin},
	"POST /tablet":                                       {make: newTablet, role: auth.Admin, foreign: 400},
	"DELETE /tablet/:id":                                 {make: someTablet, role: auth.Admin, ok: 204, foreign: 404},
	"GET /device":                                        {make: plain("/device"), role: auth.Admin},
	"POST /device":                                       {make: newDevice, role: auth.Admin, foreign: 400},
	"DELETE /device/:device":                             {make: someDevice, role: auth.Admin, ok: 204, foreign: 404},
	"GET /signal":                                        {make: plain("/signal?stationcode=PACK-1&rangecode=today&limit=5&skip=0"), foreign: 400},
	"POST /signal":                                       {make: with("/signal", `{"signals":[{"stationCode":"PACK-9","rssi":-60}]}`), role: auth.Member},
	"GET /task":                                          {make: plain("/task?limit=5&skip=0")},
	"POST /task/:taskId/complete":                        {make: someTask, role: auth.Operator, foreign: 404},
	"POST /task-list/:taskListCode/start":                {make: someTaskList, role: auth.Operator, foreign: 400},
	"GET /message":                                       {make: plain("/message?plantcode=&limit=5")},
	"POST /message":                                      {make: with("/message", `{"stationCode":"PACK-1","text":"Mind the feeder","initials":"ANN"}`), role: auth.Operator, foreign: 400},
	"POST /message/:messageId/done":                      {make: someMessage, role: auth.Operator, foreign: 404},
	"GET /events":                                        {make: plain("/events?types=station&stationcodes="), foreign: 200},
	"GET /issue":                                         {make: plain("/issue?stationcodes=PACK-2&type=manual&open=false&uncaused=true"), foreign: 400},
	"POST /issue":                                        {make: newDowntime, role: auth.Operator, foreign: 400},
	"POST /issue/:issueId/acknowledge":                   {make: someDowntime("acknowledge", ""), role: auth.Operator, foreign: 404},
	"POST /issue/:issueId/estimate":                      {make: openDowntime("estimate", `{"expectedEndAt":"LATER"}`), role: auth.Operator, foreign: 404},
	"POST /issue/:issueId/escalate":                      {make: someDowntime("escalate", `{"level":2}`), role: auth.Operator, foreign: 404},
	"POST /issue/:issueId/cause":                         {make: someDowntime("cause", `{"causeCode":"BRK-E"}`), role: auth.Operator, foreign: 404},
	"POST /issue/:issueId/split":                         {make: someDowntime("split", `{"parts":[{},{"startAt":"SOON","causeCode":"BRK"}]}`), role: auth.Operator, foreign: 404},
	"POST /issue/:issueId/exclude":                       {make: someDowntime("exclude", `{"excluded":true,"note":"a visit"}`), role: auth.Supervisor, foreign: 404},
	"GET /correction":                                    {make: plain("/correction?limit=5&skip=0"), role: auth.Admin},
	"POST /correction":                                   {make: newCorrection, role: auth.Admin, foreign: 400},
	"POST /correction/:correctionId/undo":                {make: someCorrection, role: auth.Admin, foreign: 404},
	"GET /appliance":                                     {make: plain("/appliance"), role: auth.Admin},
	"PUT /appliance/backup-settings":                     {make: with("/appliance/backup-settings", `{"every":2}`), role: auth.Admin},
	"GET /appliance/log":                                 {make: plain("/appliance/log?level=info&limit=1000"), role: auth.Admin},
	"GET /audit":                                         {make: plain("/audit?limit=3&skip=1&action=key.create&search=key&from=2020-01-01&to=2030-01-01&before=1000000"), role: auth.Admin},
	"GET /audit/export":                                  {make: plain("/audit/export?action=key.create&search=key&from=2020-01-01&to=2030-01-01"), role: auth.Admin},
	"GET /backup":                                        {make: plain("/backup"), role: auth.Admin},
	"POST /backup":                                       {make: laterBackup, role: auth.Admin},
	"GET /backup/:name":                                  {make: someBackup(""), role: auth.Admin},
	"PUT /backup/:name":                                  {make: newBackup, role: auth.Admin},
	"DELETE /backup/:name":                               {make: someBackup(""), role: auth.Admin, ok: 204},
	"POST /backup/:name/verify":                          {make: someBackup("/verify"), role: auth.Admin},
	"POST /backup/:name/restore":                         {make: restorable, role: auth.Admin},
	"GET /metrics":                                       {make: plain("/metrics")},
	"GET /auth/callback":                                 {open: true, make: freshLink},
	"POST /auth/login":                                   {open: true, make: with("/auth/login", "")},
	"POST /auth/approve":                                 {open: true, make: approval},
	"POST /auth/claim":                                   {open: true, make: claimable},
	"POST /setup":                                        {open: true, make: with("/setup", `{"code":"x","domain":"d.example","email":"a@d.example"}`), ok: 409},
	"GET /health":                                        {open: true, make: plain("/health")},
	"GET /ready":                                         {open: true, make: plain("/ready")},
	"GET /openapi.json":                                  {open: true, make: plain("/openapi.json")},
}

func ownKey(s *server, c caller) ask { return ask{path: "/key/" + s.key("acme", c.email)} }

func newUser(s *server, _ caller) ask {
	return ask{path: "/user", body: `{"email":"` + s.address() + `@people.example","role":"operator"}`}
}

func someUser(s *server, _ caller) ask {
	email := s.address() + "@people.example"
	s.must(s.Auth.AddUser(auth.Local("acme"), email, auth.Operator))
	return ask{path: "/user/" + email}
}

func signedInUser(s *server, _ caller) ask {
	email := s.address() + "@people.example"
	s.must(s.Auth.AddUser(auth.Local("acme"), email, auth.Operator))
	s.session("acme", email)
	return ask{path: "/user/" + email + "/session"}
}

// correctionOf returns a correction of an hour at PACK-1, yesterday.
func (s *server) correctionOf() string {
	hour := s.clock.now().UTC().Truncate(time.Hour).Add(-24 * time.Hour)
	return `{"stationCodes":["PACK-1"],"from":"` + hour.Format(time.RFC3339) + `","to":"` + hour.Add(time.Hour).Format(time.RFC3339) + `","changes":{"station":{"minimumCycleTime":5}},"note":"n"}`
}

func newCorrection(s *server, _ caller) ask {
	return ask{path: "/correction?dryrun=true", body: s.correctionOf()}
}

func someTuning(s *server, _ caller) ask {
	return ask{path: "/analysis/tuning", body: s.correctionOf()}
}

func someCorrection(s *server, _ caller) ask {
	made := s.do(ask{method: "POST", path: "/correction", key: s.roleKey(auth.Admin), body: s.correctionOf()}).want(s.t, 200)
	return ask{path: made.header.Get("Location") + "/undo"}
}

func newTablet(s *server, _ caller) ask {
	return ask{path: "/tablet", body: `{"name":"T ` + s.address() + `","role":"operator","stationCodes":["PACK-1"]}`}
}

func someTablet(s *server, _ caller) ask {
	made, err := s.Auth.PairTablet(auth.Local("acme"), auth.TabletInput{Name: s.address(), StationCodes: []string{"PACK-1"}})
	s.must(nil, err)
	s.hide(made.Token)
	return ask{path: "/tablet/" + made.Tablet.ID}
}

func newDevice(s *server, _ caller) ask {
	return ask{path: "/device", body: `{"name":"` + strings.ReplaceAll(s.address(), ".", "-") + `","stationCodes":["PACK-1"]}`}
}

func someDevice(s *server, _ caller) ask {
	d, _ := s.device("PACK-1")
	return ask{path: "/device/" + d.Name}
}

// device adds a device to acme and returns its token.
func (s *server) device(stations ...string) (auth.Device, string) {
	s.t.Helper()
	d, token, err := s.Auth.AddDevice(auth.Local("acme"), auth.DeviceInput{Name: strings.ReplaceAll(s.address(), ".", "-"), StationCodes: stations})
	s.must(nil, err)
	return d, s.hide(token)
}

// someTask returns a request for a pending Task of PACK-1.
func someTask(s *server, _ caller) ask {
	s.t.Helper()
	s.finishTasks("PACK-1")
	made, err := s.startTasks("PACK-1")
	s.must(nil, err)
	return ask{path: "/task/" + made[0].ID + "/complete", body: `{"initials":"ANN","note":"done"}`}
}

// someMessage returns a request for a message at PACK-1.
func someMessage(s *server, _ caller) ask {
	s.t.Helper()
	made := s.do(ask{method: "POST", path: "/message", body: `{"stationCode":"PACK-1","text":"Mind the feeder","initials":"ANN"}`, key: s.roleKey(auth.Supervisor)}).want(s.t, 200)
	return ask{path: "/message/" + made.text("result", "id") + "/done", body: `{"initials":"BOB"}`}
}

func someTaskList(s *server, _ caller) ask {
	s.finishTasks("PACK-2")
	return ask{path: "/task-list/clean/start", body: `{"stationCode":"PACK-2","initials":"ANN"}`}
}

// startTasks starts acme's on-demand list at a station.
func (s *server) startTasks(stationCode string) (made []*task.View, err error) {
	err = s.Floor.Do("acme", func(w *floor.Work) error {
		made, err = s.Tasks.Start(w, auth.Local("acme"), "clean", task.ListStart{StationCode: stationCode, Initials: "BOB"})
		return err
	})
	return made, err
}

// finishTasks completes all pending Tasks of a station.
func (s *server) finishTasks(stationCode string) {
	s.t.Helper()
	pending, _, err := s.Tasks.List("acme", task.Query{Where: []task.Where{{StationCode: stationCode}}, Whole: true, Limit: 100})
	s.must(nil, err)
	s.must(nil, s.Floor.Do("acme", func(w *floor.Work) error {
		for _, v := range pending {
			if _, err := s.Tasks.Complete(w, auth.Local("acme"), v.ID, task.Completion{Initials: "BOB", Note: "x"}); err != nil {
				return err
			}
		}
		return nil
	}))
}

func freshLink(s *server, c caller) ask {
	return ask{path: "/auth/callback?token=" + s.link("acme", mailOf(auth.Member))}
}

// waiting requests a sign-in, from a new address and as a new person of the account's domain.
func (s *server) waiting() auth.LoginResult {
	s.t.Helper()
	login, err := s.Auth.Login(auth.LoginRequest{Destination: s.address() + "@acme.example", Address: s.address()})
	s.must(nil, err)
	s.hide(login.LoginToken)
	return login
}

func pendingCode(s *server, _ caller) ask {
	return ask{path: "/login-request/" + s.waiting().Code + "/link"}
}

func approval(s *server, _ caller) ask {
	login := s.waiting()
	link, err := s.Auth.LinkFor(auth.Local("acme"), login.Code)
	s.must(nil, err)
	return ask{path: "/auth/approve", body: `{"token":"` + s.hide(link.Token) + `","code":"` + login.Code + `"}`}
}

func claimable(s *server, _ caller) ask {
	login := s.waiting()
	link, err := s.Auth.LinkFor(auth.Local("acme"), login.Code)
	s.must(nil, err)
	s.must(nil, s.Auth.Approve(s.hide(link.Token), login.Code, "10.0.0.1"))
	return ask{path: "/auth/claim", login: login.LoginToken}
}

// call returns the sample request of a route.
func (r sample) call(s *server, method string, c caller) ask {
	a := r.make(s, c)
	a.method, a.from = method, s.address()
	if a.path == "/auth/login" {
		a.body = `{"destination":"` + s.address() + `@acme.example"}`
	}
	return a
}

func (r sample) status() int {
	if r.ok == 0 {
		return http.StatusOK
	}
	return r.ok
}

// noteSecrets hides the secrets that an answer shows once, so that nothing else may show them.
func (s *server) noteSecrets(path string, a *answer) {
	for _, c := range a.cookies {
		if c.Value != "" {
			s.hide(c.Value)
		}
	}
	if key := a.text("result", "key"); key != "" {
		s.hide(key)
	}
	if token := a.text("result", "token"); token != "" {
		s.hide(token)
	}
	if _, token, found := strings.Cut(a.text("result", "link"), "#"); found {
		s.hide(token)
	}
}

// reviseTwice changes acme's configuration to revision 3.
func (s *server) reviseTwice() {
	s.t.Helper()
	key := s.roleKey(auth.Member)
	for _, currency := range []string{"GBP", "USD"} {
		s.do(ask{method: "POST", path: "/account", body: `{"currency":"` + currency + `"}`, key: key}).want(s.t, 200)
	}
}

func TestEveryRouteHasASample(t *testing.T) {
	s := newServer(t, options{})
	var have []string
	for _, rt := range s.routes {
		have = append(have, rt.Method+" "+rt.Path)
		if _, found := samples[rt.Method+" "+rt.Path]; !found {
			t.Errorf("%s %s has no sample request", rt.Method, rt.Path)
		}
	}
	for name := range samples {
		if !slices.Contains(have, name) {
			t.Errorf("%s is not a route", name)
		}
	}
}

// Every route with every kind of credential (http-api.md section 5, point 7; decisions.md section 4).
func TestWalkOfCredentials(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	expired := s.session("acme", mailOf(auth.Admin))
	soon := time.Now().Add(time.Hour)
	_, expiredKey, err := s.Auth.CreateKeyFor(auth.Local("acme"), mailOf(auth.Admin), auth.KeyInput{ExpiresAt: &soon})
	s.must(nil, err)
	s.hide(expiredKey)
	s.clock.advance(31 * 24 * time.Hour)
	revoked := s.roleKey(auth.Admin)
	p, err := s.Auth.AuthenticateKey(revoked)
	s.must(nil, err)
	s.must(nil, s.Auth.RevokeKey(p, revoked))
	ended := s.session("acme", mailOf(auth.Admin))
	p, err = s.Auth.AuthenticateSession(ended)
	s.must(nil, err)
	s.must(nil, s.Auth.Logout(p))
	good, goodSession := s.roleKey(auth.Admin), s.session("acme", mailOf(auth.Admin))
	wrong := []struct {
		name string
		ask
	}{
		{"none", ask{}},
		{"an empty key", ask{header: map[string]string{"X-API-KEY": ""}}},
		{"an empty session", ask{header: map[string]string{"Cookie": "session="}}},
		{"a malformed key", ask{key: "opk_no"}},
		{"a malformed session", ask{session: "no"}},
		{"a cut key", ask{key: good[:len(good)-1]}},
		{"a key in capitals", ask{key: strings.ToUpper(good)}},
		{"an unknown key", ask{key: "opk_" + strings.Repeat("a", 40)}},
		{"a key as the session", ask{session: good}},
		{"a session as the key", ask{key: goodSession}},
		{"a revoked key", ask{key: revoked}},
		{"an expired key", ask{key: expiredKey}},
		{"an expired session", ask{session: expired}},
		{"a session that ended", ask{session: ended}},
		{"a wrong key beside a right session", ask{key: revoked, session: goodSession}},
		{"a right key in the query", ask{path: "?X-API-KEY=" + good}},
	}
	for _, rt := range s.routes {
		row := samples[rt.Method+" "+rt.Path]
		for _, w := range wrong {
			a := row.call(s, rt.Method, caller{email: mailOf(auth.Admin)})
			a.key, a.session = w.key, w.session
			if w.header != nil {
				a.header = w.header
			}
			if a.login != "" && w.header["Cookie"] != "" {
				continue // the cookie of the waiting browser decides there
			}
			if w.path != "" && rt.Method == http.MethodGet && !strings.Contains(a.path, "?") {
				a.path += w.path
			}
			got := s.do(a)
			want := http.StatusUnauthorized
			if row.open {
				want = row.status()
			}
			if got.status != want {
				t.Errorf("%s %s with %s: %d, want %d: %.300s", rt.Method, rt.Path, w.name, got.status, want, got.body)
			}
			s.noteSecrets(rt.Path, got)
		}
	}
}

// Every route with every role, by key and by session (decisions.md section 4).
func TestWalkOfRoles(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	s.reviseTwice()
	for _, rt := range s.routes {
		row := samples[rt.Method+" "+rt.Path]
		if row.open {
			continue
		}
		for _, role := range roles {
			for _, bySession := range []bool{false, true} {
				email := mailOf(role)
				a := row.call(s, rt.Method, caller{email: email})
				want := row.status()
				if bySession {
					a.session = s.session("acme", email)
				} else {
					a.key = s.key("acme", email)
					if row.byKey != 0 {
						want = row.byKey
					}
				}
				// bound to no station
				if !role.AtLeast(row.role) && row.role != "" || role == auth.Operator && row.role == auth.Operator {
					want = http.StatusForbidden
				}
				got := s.do(a)
				if got.status != want {
					t.Errorf("%s %s by %s, session %v: %d, want %d: %.300s", rt.Method, rt.Path, role, bySession, got.status, want, got.body)
				}
				s.noteSecrets(rt.Path, got)
			}
		}
		for _, tablet := range []struct {
			role     auth.Role
			stations []string
			want     int
		}{{auth.Operator, []string{"PACK-1", "PACK-2"}, row.status()}, {auth.Operator, []string{"KWH-1"}, http.StatusForbidden}, {auth.Supervisor, []string{"KWH-1"}, row.status()}} {
			if row.role != auth.Operator {
				break
			}
			a := row.call(s, rt.Method, caller{})
			a.session = s.paired(tablet.role, tablet.stations...)
			if strings.HasPrefix(rt.Path, "/issue") || rt.Path == "/quick-schedule" {
				a.body = withInitials(a.body)
			}
			got := s.do(a)
			if got.status != tablet.want {
				t.Errorf("%s %s by a tablet of %s with the role %s: %d, want %d: %.300s", rt.Method, rt.Path, tablet.stations, tablet.role, got.status, tablet.want, got.body)
			}
		}
		a := row.call(s, rt.Method, caller{email: mailOf(auth.Member)})
		a.key = s.key("bolt", "admin@bolt.example")
		want := row.status()
		if row.foreign != 0 {
			want = row.foreign
		}
		got := s.do(a)
		if got.status != want {
			t.Errorf("%s %s by another account's admin: %d, want %d: %.300s", rt.Method, rt.Path, got.status, want, got.body)
		}
		whole := rt.Path == "/backup/:name" && rt.Method == "GET" // a backup has every account of the appliance
		if strings.Contains(string(got.body), "PACK-1") && got.status < 300 && !whole {
			t.Errorf("%s %s shows another account's stations", rt.Method, rt.Path)
		}
		s.noteSecrets(rt.Path, got)
	}
}

// paired pairs a tablet of a role, and returns its session.
func (s *server) paired(role auth.Role, stations ...string) string {
	s.t.Helper()
	made, err := s.Auth.PairTablet(auth.Local("acme"), auth.TabletInput{Name: s.address(), Role: role, StationCodes: stations})
	s.must(nil, err)
	grant, err := s.Auth.Callback(s.hide(made.Token), s.address())
	s.must(nil, err)
	return s.hide(grant.Session)
}

// withInitials adds initials to a body without: a tablet must send them.
func withInitials(body string) string {
	switch {
	case strings.Contains(body, `"initials"`):
		return body
	case body == "":
		return `{"initials":"ABC"}`
	}
	return strings.TrimSuffix(body, "}") + `,"initials":"ABC"}`
}

// HEAD works wherever GET does, except for the callback (decisions.md section 1), with the headers of GET.
func TestWalkOfHead(t *testing.T) {
	s := newServer(t, options{})
	s.reviseTwice()
	admin := s.roleKey(auth.Admin)
	for _, rt := range s.routes {
		if rt.Method != http.MethodGet {
			continue
		}
		row := samples[rt.Method+" "+rt.Path]
		head := row.call(s, http.MethodHead, caller{})
		head.key = admin
		got := s.do(head)
		if rt.Path == "/auth/callback" {
			got.want(t, http.StatusMethodNotAllowed)
			if got.header.Get("Allow") != "GET" {
				t.Errorf("Allow of the callback is %q", got.header.Get("Allow"))
			}
			head.method = http.MethodGet
			s.noteSecrets("", s.do(head).want(t, 200)) // the token is still valid
			continue
		}
		got.want(t, 200)
		get := head
		get.method = http.MethodGet
		full := s.do(get)
		for _, name := range []string{"Content-Type", "Etag", "Vary", "Cache-Control"} {
			if got.header.Get(name) != full.header.Get(name) {
				t.Errorf("HEAD %s: %s is %q, of GET %q", rt.Path, name, got.header.Get(name), full.header.Get(name))
			}
		}
		if rt.Path != "/metrics" && rt.Path != "/audit" && rt.Path != "/audit/export" && got.header.Get("Content-Length") != full.header.Get("Content-Length") {
			if rt.Path != "/key" { // shows when keys were last used
				t.Errorf("HEAD %s: Content-Length is %q, of GET %q", rt.Path, got.header.Get("Content-Length"), full.header.Get("Content-Length"))
			}
		}
		head.key = ""
		if !row.open {
			s.do(head).want(t, http.StatusUnauthorized)
		}
	}
}

// Allow has exactly the methods that work.
func TestWalkOfMethods(t *testing.T) {
	s := newServer(t, options{})
	allowed := map[string][]string{}
	for _, rt := range s.routes {
		allowed[rt.Path] = append(allowed[rt.Path], rt.Method)
		if rt.Method == http.MethodGet && !rt.NoHead {
			allowed[rt.Path] = append(allowed[rt.Path], http.MethodHead)
		}
	}
	for _, methods := range allowed {
		slices.Sort(methods)
	}
	for _, rt := range s.routes {
		path := strings.Split(samples[rt.Method+" "+rt.Path].call(s, rt.Method, caller{email: mailOf(auth.Admin)}).path, "?")[0]
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get"} {
			if slices.Contains(allowed[rt.Path], method) {
				continue
			}
			got := s.do(ask{method: method, path: path}).want(t, http.StatusMethodNotAllowed)
			if allow := got.header.Get("Allow"); allow != strings.Join(allowed[rt.Path], ", ") {
				t.Errorf("%s %s: Allow is %q, want %v", method, rt.Path, allow, allowed[rt.Path])
			}
		}
	}
}

func TestUnknownPaths(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Admin)
	for _, path := range []string{"/", "/nothing", "/account/", "//account", "/account/nothing", "/ACCOUNT", "/key/", "/local/check", "/local/account", "/local/init",
		"/account/manifest/revisions/1/nothing", "/station/", "/task/", "/task/x", "/task-list", "/openapi.json/", "/auth", "/./account", "/a/../account", "/account%2Fmanifest", "/%00", "/health%00", "/%2e%2e/account"} {
		for _, method := range []string{"GET", "POST", "HEAD", "DELETE", "OPTIONS"} {
			s.do(ask{method: method, path: path}).want(t, http.StatusNotFound)
			s.do(ask{method: method, path: path, key: key}).want(t, http.StatusNotFound)
			s.do(ask{method: method, path: path, key: "nonsense"}).want(t, http.StatusNotFound)
		}
	}
}

// A misspelt parameter must not cause a write; on a safe method it is ignored (decisions.md section 1).
func TestUnknownQueryParameters(t *testing.T) {
	s := newServer(t, options{})
	s.reviseTwice()
	admin := s.roleKey(auth.Admin)
	for _, rt := range s.routes {
		row := samples[rt.Method+" "+rt.Path]
		a := row.call(s, rt.Method, caller{email: mailOf(auth.Admin)})
		a.key = admin
		if strings.Contains(a.path, "?") {
			a.path += "&Dryrun=1"
		} else {
			a.path += "?Dryrun=1"
		}
		got := s.do(a)
		if rt.Method == http.MethodGet {
			got.want(t, row.status())
			s.noteSecrets("", got)
			continue
		}
		got.wantDetail(t, "Dryrun", "is not a query parameter of this operation")
	}
}

// An unreadable or ambiguous query must not cause a write either.
func TestQueriesThatAreUnclearDoNotWrite(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Admin)
	other := strings.Replace(acme, "Packer 1", "Packer One", 1)
	for _, query := range []string{
		"?dryrun=true;note=x", "?dryrun=%zz", "?dryrun=true%", "?dryrun=true&dryrun=false", "?dryrun=false&dryrun=true", "?dryrun", "?dryrun=", "?dryrun=yes",
		"?Dryrun=true", "?dryrun=true&DRYRUN=false", "?note=a&note=b", "?dryrun=true&limit=1",
	} {
		got := s.do(ask{method: "PUT", path: "/account/manifest" + query, body: other, key: key})
		got.want(t, 400)
		if _, err := url.ParseQuery(strings.TrimPrefix(query, "?")); err == nil && len(got.details()) == 0 {
			t.Errorf("%s: no detail names the parameter", query)
		}
	}
	if got := s.do(ask{method: "GET", path: "/account/manifest/revisions", key: key}); got.at("paging", "totalElements") != 1.0 {
		t.Errorf("something was written: %s", got.body)
	}
	s.do(ask{method: "PUT", path: "/account/manifest?dryrun=false", body: other, key: key}).want(t, 200)
}
