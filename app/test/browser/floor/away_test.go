//go:build rig

package floor_test

import (
	"net"
	"testing"
	"time"

	"opsmon/app/host/config"
	"opsmon/app/test/browser/webtest"
)

// When the service stops and starts again, the floor and the wall show how old their data is, and continue
// automatically.
func TestTheServiceStartsAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at, dir := l.Addr().String(), t.TempDir()
	l.Close()
	adjust := func(c *config.Settings) { c.Listen, c.DataDir = at, dir }
	var floor, wall *webtest.Tab
	var key string
	t.Run("before", func(t2 *testing.T) {
		s := webtest.Serve(t2, webtest.Options{Manifest: plant(3, 3), Adjust: adjust})
		key = s.Key
		signals(s, time.Now(), produces(1), 0)
		floor, wall = open(t, s, "/floor", webtest.Laptop), open(t, s, "/floor/wall", webtest.Laptop)
		for _, tab := range []*webtest.Tab{floor, wall} {
			tab.Until(card(0, "[data-value=status]") + ` === "Producing"`)
		}
	})
	floor.Until(`document.querySelector(".banner.stale")?.textContent.includes("Connection lost since")`)
	wall.Until(`document.querySelector(".wall.old .wall-old")?.textContent.includes("Connection lost since")`)
	still := wall.Text(`[data-station="S-0"] time`)
	floor.Axe()
	floor.Shot("floor-away")
	time.Sleep(1500 * time.Millisecond) // checks that unknown times do not advance
	if got := wall.Text(`[data-station="S-0"] time`); got != still {
		t.Errorf("without a connection the time goes on from %s to %s", still, got)
	}
	s := webtest.Serve(t, webtest.Options{Empty: true, Adjust: adjust})
	s.Key = key
	signals(s, time.Now(), produces(1), 1)
	for _, tab := range []*webtest.Tab{floor, wall} {
		tab.Until(`!document.querySelector(".wall-old, .banner.stale") && ` + card(1, "[data-value=status]") + ` === "Producing"`)
		tab.Clean()
	}
}
