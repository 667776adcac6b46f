package floor_test

import (
	"testing"
	"time"

	"opsmon/app/engine/floor/floortest"
)

func TestALiveConnectionIsASignOfLife(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	r.Send(floortest.Signal(press, 0, units(1)))
	link := func(up bool) {
		t.Helper()
		r.Floor.Linked(floortest.Account, "works/gateway", []string{press, "GONE"}, r.Now().UnixMilli(), up)
		r.Pass(time.Second, 0)
	}
	r.Pass(time.Minute, 0)
	link(true)
	link(true)
	r.Pass(time.Hour, 10*time.Second)
	if got := status(t, r, press).StatusCode; got == "disconnected" {
		t.Errorf("a station whose device is connected is %s", got)
	}
	ended := r.Now().UnixMilli()
	link(false)
	r.Pass(6*time.Minute, 10*time.Second)
	if got := status(t, r, press); got.StatusCode != "disconnected" {
		t.Errorf("six minutes after its device went the station is %s", got.StatusCode)
	}
	d, err := r.Floor.Detail(floortest.Account, press, floortest.At(0), r.Now().UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	last := d.Segments[len(d.Segments)-1]
	if last.Known || last.Start != ended {
		t.Errorf("no data runs from %d (known: %v), want from the end of the connection at %d", last.Start, last.Known, ended)
	}
}

func TestAConnectionEndsWithTheService(t *testing.T) {
	r := floortest.New(t, floortest.Manifest).Open(nil)
	r.Pass(time.Minute, 0)
	r.Floor.Linked(floortest.Account, "works/gateway", []string{press}, r.Now().UnixMilli(), true)
	r.Pass(time.Second, 0)
	r.Pass(10*time.Minute, 10*time.Second)
	r.Send(floortest.Signal(press, 0, units(1)))
	last := r.Now().UnixMilli()
	r.Floor.Close()
	r.Pause(30 * time.Minute)
	r.Open(nil)
	if got := status(t, r, press); got.StatusCode != "disconnected" {
		t.Errorf("after the service was off for half an hour the station is %s", got.StatusCode)
	}
	d, err := r.Floor.Detail(floortest.Account, press, floortest.At(0), r.Now().UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	if g := d.Segments[len(d.Segments)-1]; g.Known || g.Start != last {
		t.Errorf("no data runs from %d (known: %v), want from %d, the last that the service heard", g.Start, g.Known, last)
	}
}
