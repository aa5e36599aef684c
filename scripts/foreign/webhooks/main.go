// Verifies the webhooks in a file with the Standard Webhooks library for Go.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type delivery struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func verify(given delivery) error {
	webhook, err := standardwebhooks.NewWebhook(given.Secret)
	if err != nil {
		return err
	}
	headers := http.Header{}
	for name, value := range given.Headers {
		headers.Set(name, value)
	}
	return webhook.Verify([]byte(given.Body), headers)
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var deliveries []delivery
	if err := json.Unmarshal(text, &deliveries); err != nil {
		panic(err)
	}
	for _, given := range deliveries {
		result, detail := "accepted", ""
		if err := verify(given); err != nil {
			result, detail = "refused", err.Error()
		}
		fmt.Printf("standardwebhooks for Go\twebhooks\t%s\t%s\t%s\n", given.Name, result, detail)
	}
}
