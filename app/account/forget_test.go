package account

import (
	"testing"
	"time"
)

// TestAnswersThatNobodyAsksForAreForgotten checks that unused answers with live values are dropped, because they may
// be as large as the manifest.
func TestAnswersThatNobodyAsksForAreForgotten(t *testing.T) {
	now := time.Now()
	var l liveState
	l.forgets = true
	l.current.Store(&liveAnswers{at: now})
	now = now.Add(liveKept - time.Second)
	if again := l.forget(now); !again || l.current.Load() == nil || !l.forgets {
		t.Error("it is forgotten too soon")
	}
	now = now.Add(time.Second)
	if again := l.forget(now); again || l.current.Load() != nil || l.forgets {
		t.Error("it is not forgotten")
	}
}
