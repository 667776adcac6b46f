package service

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
)

// Managed reports whether the service manager started this process as the service.
func Managed() bool { return os.Getenv("NOTIFY_SOCKET") != "" }

// journal reports whether standard error is a stream to systemd's journal.
func journal() bool {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(os.Stderr.Fd()), &st); err != nil {
		return false
	}
	return os.Getenv("JOURNAL_STREAM") == fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// NewHandler returns the handler of log records: as systemd's journal wants them when stderr goes there, else as plain
// text to stderr.
func NewHandler(stderr io.Writer, level slog.Leveler) slog.Handler {
	if journal() {
		return newJournalHandler(stderr, level)
	}
	return slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})
}

// Complain reports why the process ends: to stderr, as an error in the journal when that is it.
func Complain(stderr io.Writer, text string) {
	if journal() {
		complain(stderr, text)
		return
	}
	io.WriteString(stderr, text)
}
