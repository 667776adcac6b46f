package mqtt

import (
	"sync"
	"time"
)

// linkPause is how long a device counts as connected after its last connection ended. A device that reconnects within
// this time was never disconnected, which avoids many records for one that reconnects continuously.
const linkPause = 10 * time.Second

// links reports which devices have a connection.
type links struct {
	tell  func(account, source string, stations []string, at int64, up bool)
	pause time.Duration

	mu   sync.Mutex       // held while reporting, to preserve the order
	up   map[string]int   // number of connections by source
	gone map[string]*gone // sources without a connection that still count as connected
}

// gone is a device that has lost its last connection within linkPause.
type gone struct {
	*sender
	at    int64
	timer *time.Timer
}

func (l *links) begin(s *sender, at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.up[s.source]++; l.up[s.source] > 1 {
		return
	}
	if g := l.gone[s.source]; g != nil {
		g.timer.Stop()
		delete(l.gone, s.source)
		return
	}
	l.say(s, at, true)
}

func (l *links) down(s *sender, at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.up[s.source]--; l.up[s.source] > 0 {
		return
	}
	delete(l.up, s.source)
	g := &gone{sender: s, at: at}
	l.gone[s.source] = g
	g.timer = time.AfterFunc(l.pause, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.gone[s.source] == g {
			delete(l.gone, s.source)
			l.say(s, at, false)
		}
	})
}

// flush reports all lost connections.
func (l *links) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for source, g := range l.gone {
		g.timer.Stop()
		delete(l.gone, source)
		l.say(g.sender, g.at, false)
	}
}

func (l *links) say(s *sender, at int64, up bool) {
	if l.tell != nil {
		l.tell(s.account, s.source, s.stations, at, up)
	}
}
