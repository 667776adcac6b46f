package apptest

import "os"

// Terminate ends a process: Windows cannot ask one that has no console.
var Terminate = os.Kill
