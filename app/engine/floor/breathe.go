package floor

// What is computed again may take as long as there are signals. In between the owner does what others wait for: calls are
// served and signals are taken in, so that no station's past holds up what people do, or what the other stations show.

// breathAtMost is how many calls are served at once.
const breathAtMost = 64

// breathe does what waits, if that may be done now.
func (o *owner) breathe() {
	if !o.breathes {
		return
	}
	o.breathes, o.between = false, true
	defer func() { o.breathes, o.between = true, false }()
	for range breathAtMost {
		select {
		case call := <-o.calls:
			o.breaths++
			call()
			continue
		default:
		}
		break
	}
	o.takeArrivals()
	o.showStirred(o.f.now())
}

// spoilsMost is how often the computing of a line is given up for what happened meanwhile. Then nothing may.
const spoilsMost = 3

// occupy says that lines are being computed again until the function is called that it returns: signals of theirs wait, as
// they may be read from the log.
func (o *owner) occupy(lines ...*line) (release func()) {
	breathes := o.breathes
	for _, l := range lines {
		l.mu.Lock()
		l.busy, l.spoiled = true, false
		l.mu.Unlock()
		o.breathes = o.breathes && l.spoils < spoilsMost
	}
	return func() {
		o.breathes = breathes
		for _, l := range lines {
			l.mu.Lock()
			l.busy = false
			l.mu.Unlock()
		}
	}
}

// spoilt tells whether something happened at a busy line that its computing may have passed, and counts it.
func (l *line) spoilt() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spoiled {
		l.spoils++
	}
	return l.spoiled
}
