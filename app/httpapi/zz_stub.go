package httpapi
func getOpenAPI(*call) (reply, error) { return done() }
