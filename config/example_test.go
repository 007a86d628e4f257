package config_test

import (
	"context"
	"log"
	"net/http"
	"time"

	"weir/config"
	"weir/httplimit"
)

// A service whose limits are in a file, and change when the file does. It is compiled, not run: it needs the file.
func ExampleOpen() {
	limits, err := config.Open("limits.yaml")
	if err != nil {
		log.Fatal(err) // limits.yaml:7: limits.api.limit: ...
	}
	go limits.Watch(context.Background(), 5*time.Second)
	planOf := func(r *http.Request) string { return "" } // look it up
	api, err := limits.Rule("api", planOf)
	if err != nil {
		log.Fatal(err)
	}
	m, err := httplimit.New([]httplimit.Rule{api})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(":8080", m.Wrap(http.NotFoundHandler())))
}
