// Verifies the tokens in a file with go-oidc, and signs in with x/oauth2.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

type given struct {
	Issuer string
	Client struct {
		ID       string `json:"client_id"`
		Secret   string `json:"client_secret"`
		Redirect string `json:"redirect_uri"`
	}
	Tokens map[string]map[string]string
}

func say(library, preset, name string, err error) {
	result, detail := "accepted", ""
	if err != nil {
		result, detail = "refused", strings.Join(strings.Fields(err.Error()), " ")
	}
	fmt.Println(strings.Join([]string{library, preset, name, result, detail}, "\t"))
}

func main() {
	var input given
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(text, &input)
	}
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	provider, err := oidc.NewProvider(ctx, input.Issuer)
	if err != nil {
		panic(err)
	}
	readAll(input, "default", provider)
	readAll(input, "readByAll", provider)
	say("x/oauth2 and go-oidc, code flow, UserInfo, refresh", "-", "signIn", signIn(ctx, input, provider))
	say("x/oauth2, client credentials", "-", "signIn", forItself(ctx, input, provider))
}

func readAll(input given, preset string, provider *oidc.Provider) {
	tokens := input.Tokens[preset]
	verifier := provider.Verifier(&oidc.Config{ClientID: tokens["audience"]})
	for _, name := range []string{"good", "anotherAudience", "expired", "idToken", "tampered"} {
		_, err := verifier.Verify(context.Background(), tokens[name])
		say("go-oidc", preset, name, err)
	}
}

func signIn(ctx context.Context, input given, provider *oidc.Provider) error {
	config := oauth2.Config{
		ClientID: input.Client.ID, ClientSecret: input.Client.Secret, RedirectURL: input.Client.Redirect,
		Endpoint: provider.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "email"},
	}
	verifier := oauth2.GenerateVerifier()
	address := config.AuthCodeURL("state", oidc.Nonce("nonce"), oauth2.S256ChallengeOption(verifier))
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	reply, err := browser.Get(address)
	if err != nil {
		return err
	}
	callback, err := reply.Location()
	if err != nil {
		return err
	}
	query := callback.Query()
	if query.Get("state") != "state" || query.Get("iss") != input.Issuer {
		return errors.New("another state or issuer")
	}
	if _, err := config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(oauth2.GenerateVerifier())); err == nil {
		return errors.New("another verifier was taken")
	}
	token, err := config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return err
	}
	text, _ := token.Extra("id_token").(string)
	idToken, err := provider.Verifier(&oidc.Config{ClientID: input.Client.ID}).Verify(ctx, text)
	if err != nil {
		return err
	}
	if idToken.Nonce != "nonce" {
		return errors.New("another nonce")
	}
	if err := idToken.VerifyAccessToken(token.AccessToken); err != nil {
		return err
	}
	old := *token
	old.Expiry = time.Now().Add(-time.Hour)
	source := config.TokenSource(ctx, &old)
	info, err := provider.UserInfo(ctx, source)
	if err != nil {
		return err
	}
	if info.Email != "ada@example.com" || info.Subject != idToken.Subject {
		return errors.New("another person")
	}
	return nil
}

func forItself(ctx context.Context, input given, provider *oidc.Provider) error {
	config := clientcredentials.Config{
		ClientID: input.Client.ID, ClientSecret: input.Client.Secret, TokenURL: provider.Endpoint().TokenURL,
		Scopes: []string{"orders:read"},
	}
	_, err := config.Token(ctx)
	return err
}
