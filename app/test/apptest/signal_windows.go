package apptest

import "os"

// Terminate kills a process, because Windows cannot ask a process without a console to end.
var Terminate = os.Kill
