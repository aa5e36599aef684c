// A shop that uses any version of Stripe's SDK for Go. See ../../clients.mjs
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"time"

	stripe "github.com/stripe/stripe-go/v85"
)

var (
	ctx    = context.Background()
	client *stripe.Client
)

type hook struct {
	body      []byte
	signature string
}

func ok(step string) {
	fmt.Println("ok", step)
}

func check(is bool, what ...any) {
	if !is {
		panic(fmt.Sprintln(what...))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func first[T any](list stripe.Seq2[T, error]) T {
	var found T
	list(func(each T, err error) bool {
		found = must(each, err)
		return false
	})
	return found
}

// Submits a form of one of Stripe's pages, like a browser.
func submit(page string, fields url.Values) {
	if token := must(url.Parse(page)).Query().Get("token"); token != "" {
		fields.Set("token", token)
	}
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	response := must(browser.PostForm(page, fields))
	check(response.StatusCode < 400, page, response.Status)
}

func clockIsReady(id string) {
	for tries := 0; tries < 400; tries++ {
		if must(client.V1TestHelpersTestClocks.Retrieve(ctx, id, nil)).Status == "ready" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	panic("the clock did not become ready")
}

func next(hooks chan hook) hook {
	select {
	case told := <-hooks:
		return told
	case <-time.After(20 * time.Second):
		panic("a webhook did not come")
	}
}

func parse(told hook) stripe.Event {
	var event stripe.Event
	check(json.Unmarshal(told.body, &event) == nil, string(told.body))
	return event
}

func payWith(card string) (*stripe.PaymentIntent, error) {
	return client.V1PaymentIntents.Create(ctx, &stripe.PaymentIntentCreateParams{
		Amount:             stripe.Int64(700),
		Currency:           stripe.String("usd"),
		PaymentMethod:      stripe.String(card),
		PaymentMethodTypes: []*string{stripe.String("card")},
		Confirm:            stripe.Bool(true),
	})
}

func main() {
	fmt.Println("version:", stripe.ClientVersion)
	fmt.Println("speaks:", stripe.APIVersion)
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		URL:               stripe.String(os.Getenv("STRIPE_URL")),
		MaxNetworkRetries: stripe.Int64(0),
	})
	client = stripe.NewClient(os.Getenv("STRIPE_KEY"), stripe.WithBackends(&stripe.Backends{API: backend}))

	hooks := make(chan hook, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		hooks <- hook{must(io.ReadAll(request.Body)), request.Header.Get("Stripe-Signature")}
	}))
	endpoint := must(client.V1WebhookEndpoints.Create(ctx, &stripe.WebhookEndpointCreateParams{
		URL:           stripe.String(server.URL),
		EnabledEvents: []*string{stripe.String("*")},
		APIVersion:    stripe.String(stripe.APIVersion),
	}))
	ok("webhook endpoint")

	clock := must(client.V1TestHelpersTestClocks.Create(ctx, &stripe.TestHelpersTestClockCreateParams{
		FrozenTime: stripe.Int64(time.Now().Unix() + 1),
	}))
	clockIsReady(clock.ID)
	customer := must(client.V1Customers.Create(ctx, &stripe.CustomerCreateParams{
		Email:     stripe.String("ada@example.com"),
		Metadata:  map[string]string{"shop": "go"},
		TestClock: stripe.String(clock.ID),
	}))
	check(customer.LastResponse.Header.Get("Stripe-Version") == stripe.APIVersion)
	card := must(client.V1PaymentMethods.Attach(ctx, "pm_card_visa", &stripe.PaymentMethodAttachParams{
		Customer: stripe.String(customer.ID),
	}))
	must(client.V1Customers.Update(ctx, customer.ID, &stripe.CustomerUpdateParams{
		InvoiceSettings: &stripe.CustomerUpdateInvoiceSettingsParams{
			DefaultPaymentMethod: stripe.String(card.ID),
		},
	}))
	ok("customer and card")

	product := must(client.V1Products.Create(ctx, &stripe.ProductCreateParams{Name: stripe.String("Gold")}))
	price := func(amount int64) *stripe.Price {
		return must(client.V1Prices.Create(ctx, &stripe.PriceCreateParams{
			Product:    stripe.String(product.ID),
			Currency:   stripe.String("usd"),
			UnitAmount: stripe.Int64(amount),
			Recurring:  &stripe.PriceCreateRecurringParams{Interval: stripe.String("month")},
		}))
	}
	gold, platinum := price(1000), price(3000)
	check(gold.UnitAmount == 1000 && platinum.UnitAmount == 3000)
	ok("product and prices")

	coupon := must(client.V1Coupons.Create(ctx, &stripe.CouponCreateParams{
		PercentOff: stripe.Float64(20),
		Duration:   stripe.String("forever"),
	}))
	promotion := &stripe.PromotionCodeCreateParams{Code: stripe.String("OFF")}
	promote(promotion, coupon.ID)
	code := must(client.V1PromotionCodes.Create(ctx, promotion))
	subscription := must(client.V1Subscriptions.Create(ctx, &stripe.SubscriptionCreateParams{
		Customer:  stripe.String(customer.ID),
		Items:     []*stripe.SubscriptionCreateItemParams{{Price: stripe.String(gold.ID)}},
		Discounts: []*stripe.SubscriptionCreateDiscountParams{{PromotionCode: stripe.String(code.ID)}},
		Expand:    []*string{stripe.String("latest_invoice.payments"), stripe.String("discounts")},
	}))
	item := subscription.Items.Data[0]
	check(subscription.Status == stripe.SubscriptionStatusActive, subscription.Status)
	check(subscription.LatestInvoice.Total == 800, subscription.LatestInvoice.Total)
	check(subscription.LatestInvoice.Payments.Data[0].Status == "paid")
	check(couponOf(subscription.Discounts[0]) == coupon.ID)
	check(item.CurrentPeriodEnd > subscription.StartDate)
	ok("subscription with a promotion code")

	received := map[string]bool{}
	told := next(hooks)
	for ; parse(told).Type != "invoice.paid"; told = next(hooks) {
		received[parse(told).ID] = true
	}
	received[parse(told).ID] = true
	event := must(client.ConstructEvent(told.body, told.signature, endpoint.Secret))
	var paid stripe.Invoice
	check(json.Unmarshal(event.Data.Raw, &paid) == nil)
	check(event.Type == "invoice.paid" && event.APIVersion == stripe.APIVersion && paid.Total == 800)
	ok("verified webhook")

	preview := must(client.V1Invoices.CreatePreview(ctx, &stripe.InvoiceCreatePreviewParams{
		Subscription: stripe.String(subscription.ID),
		SubscriptionDetails: &stripe.InvoiceCreatePreviewSubscriptionDetailsParams{
			Items: []*stripe.InvoiceCreatePreviewSubscriptionDetailsItemParams{
				{ID: stripe.String(item.ID), Price: stripe.String(platinum.ID)},
			},
			ProrationBehavior: stripe.String("always_invoice"),
		},
	}))
	swapped := must(client.V1Subscriptions.Update(ctx, subscription.ID, &stripe.SubscriptionUpdateParams{
		Items: []*stripe.SubscriptionUpdateItemParams{
			{ID: stripe.String(item.ID), Price: stripe.String(platinum.ID)},
		},
		ProrationBehavior: stripe.String("always_invoice"),
		Expand:            []*string{stripe.String("latest_invoice")},
	}))
	check(preview.Total == 1600, preview.Total)
	check(swapped.LatestInvoice.Status == "paid" && swapped.LatestInvoice.Total == 1600, swapped.LatestInvoice.Total)
	ok("preview and swap")

	must(client.V1TestHelpersTestClocks.Advance(ctx, clock.ID, &stripe.TestHelpersTestClockAdvanceParams{
		FrozenTime: stripe.Int64(item.CurrentPeriodEnd + 2*3600),
	}))
	clockIsReady(clock.ID)
	newest := &stripe.InvoiceListParams{Subscription: stripe.String(subscription.ID)}
	renewal := first(invoices(newest))
	check(renewal.BillingReason == "subscription_cycle" && renewal.Status == "paid" && renewal.Total == 2400)
	ok("renewal on a test clock")

	moved := must(client.V1Subscriptions.Update(ctx, subscription.ID, &stripe.SubscriptionUpdateParams{
		BillingCycleAnchorNow: stripe.Bool(true),
		ProrationBehavior:     stripe.String("none"),
	}))
	check(moved.BillingCycleAnchor > subscription.BillingCycleAnchor)
	ok("another anchor")

	intent := must(client.V1PaymentIntents.Create(ctx, &stripe.PaymentIntentCreateParams{
		Amount:             stripe.Int64(700),
		Currency:           stripe.String("usd"),
		Customer:           stripe.String(customer.ID),
		PaymentMethod:      stripe.String(card.ID),
		PaymentMethodTypes: []*string{stripe.String("card")},
		Confirm:            stripe.Bool(true),
		Expand:             []*string{stripe.String("latest_charge.balance_transaction")},
	}))
	booked := intent.LatestCharge.BalanceTransaction
	check(intent.Status == "succeeded" && booked.Fee == 50 && booked.Net == 650, booked.Fee, booked.Net)
	refund := must(client.V1Refunds.Create(ctx, &stripe.RefundCreateParams{
		PaymentIntent: stripe.String(intent.ID),
		Amount:        stripe.Int64(300),
	}))
	check(refund.Status == "succeeded" && refund.Amount == 300, refund.Status, refund.Amount)
	charge := must(client.V1Charges.Retrieve(ctx, intent.LatestCharge.ID, nil))
	check(charge.Amount == 700 && charge.AmountRefunded == 300 && !charge.Refunded, charge.AmountRefunded)
	ok("payment and refund")

	_, err := payWith("pm_card_chargeDeclined")
	var refused *stripe.Error
	check(errors.As(err, &refused) && refused.Code == stripe.ErrorCodeCardDeclined, err)
	ok("declined card")
	asked := must(payWith("pm_card_authenticationRequired"))
	check(asked.Status == "requires_action" && asked.NextAction.Type == "use_stripe_sdk", asked.Status)
	ok("3-D Secure")

	session := must(client.V1CheckoutSessions.Create(ctx, &stripe.CheckoutSessionCreateParams{
		Mode:       stripe.String("subscription"),
		SuccessURL: stripe.String("https://shop.example/done"),
		LineItems: []*stripe.CheckoutSessionCreateLineItemParams{
			{Price: stripe.String(gold.ID), Quantity: stripe.Int64(2)},
		},
		PaymentMethodTypes: []*string{stripe.String("card")},
	}))
	submit(session.URL, url.Values{"action": {"pay"}, "email": {"bob@example.com"}, "card": {"pm_card_visa"}})
	done := must(client.V1CheckoutSessions.Retrieve(ctx, session.ID, &stripe.CheckoutSessionRetrieveParams{
		Expand: []*string{stripe.String("subscription")},
	}))
	check(done.Status == "complete" && done.PaymentStatus == "paid" && done.AmountTotal == 2000, done.AmountTotal)
	check(done.Subscription.Status == "active" && done.Subscription.Items.Data[0].Quantity == 2)
	ok("checkout")

	portal := must(client.V1BillingPortalSessions.Create(ctx, &stripe.BillingPortalSessionCreateParams{
		Customer:  stripe.String(customer.ID),
		ReturnURL: stripe.String("https://shop.example/account"),
		FlowData: &stripe.BillingPortalSessionCreateFlowDataParams{
			Type: stripe.String("subscription_cancel"),
			SubscriptionCancel: &stripe.BillingPortalSessionCreateFlowDataSubscriptionCancelParams{
				Subscription: stripe.String(subscription.ID),
			},
		},
	}))
	submit(portal.URL, url.Values{"action": {"cancel"}, "subscription": {subscription.ID}})
	leaving := must(client.V1Subscriptions.Retrieve(ctx, subscription.ID, nil))
	check(leaving.CancelAt == leaving.Items.Data[0].CurrentPeriodEnd && leaving.Status == "active", leaving.CancelAt)
	ok("portal")

	for percentage := 1; percentage <= 5; percentage++ {
		once := func() string {
			params := &stripe.TaxRateCreateParams{
				DisplayName: stripe.String("VAT"),
				Percentage:  stripe.Float64(float64(percentage)),
				Inclusive:   stripe.Bool(false),
			}
			params.SetIdempotencyKey(fmt.Sprint("tax-rate-", percentage))
			return must(client.V1TaxRates.Create(ctx, params)).ID
		}
		check(once() == once())
	}
	rates := &stripe.TaxRateListParams{}
	rates.Limit = stripe.Int64(2)
	expected := 5.0
	taxRates(rates)(func(rate *stripe.TaxRate, err error) bool {
		check(err == nil && rate.Percentage == expected, err, expected)
		expected--
		return true
	})
	check(expected == 0, expected)
	search := &stripe.CustomerSearchParams{}
	search.Query = `metadata["shop"]:"go"`
	check(first(searchCustomers(search)).ID == customer.ID)
	ok("pages of lists, search, idempotency")

	note := must(client.V1CreditNotes.Create(ctx, &stripe.CreditNoteCreateParams{
		Invoice:      stripe.String(first(invoices(newest)).ID),
		Amount:       stripe.Int64(100),
		CreditAmount: stripe.Int64(100),
	}))
	check(note.Total == 100)
	check(must(client.V1Customers.Retrieve(ctx, customer.ID, nil)).Balance == -100)
	ok("credit note")

	check(must(client.V1Subscriptions.Cancel(ctx, subscription.ID, nil)).Status == "canceled")
	check(must(client.V1Customers.Delete(ctx, customer.ID, nil)).Deleted)
	_, err = client.V1Subscriptions.Retrieve(ctx, "sub_none", nil)
	check(errors.As(err, &refused) && refused.Code == stripe.ErrorCodeResourceMissing, err)
	ok("the end")

	happened := map[string]bool{}
	all := &stripe.EventListParams{}
	all.Limit = stripe.Int64(100)
	events(all)(func(event *stripe.Event, err error) bool {
		happened[must(event, err).ID] = true
		return true
	})
	check(len(happened) > 50, len(happened))
	for len(received) < len(happened) {
		received[parse(next(hooks)).ID] = true
	}
	for id := range happened {
		check(received[id], id)
	}
	ok("a webhook for each event")
}
