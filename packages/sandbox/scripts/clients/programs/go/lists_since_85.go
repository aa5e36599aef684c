//go:build !before85

package main

import stripe "github.com/stripe/stripe-go/v85"

func taxRates(params *stripe.TaxRateListParams) stripe.Seq2[*stripe.TaxRate, error] {
	return client.V1TaxRates.List(ctx, params).All(ctx)
}

func invoices(params *stripe.InvoiceListParams) stripe.Seq2[*stripe.Invoice, error] {
	return client.V1Invoices.List(ctx, params).All(ctx)
}

func searchCustomers(params *stripe.CustomerSearchParams) stripe.Seq2[*stripe.Customer, error] {
	return client.V1Customers.Search(ctx, params).All(ctx)
}

func events(params *stripe.EventListParams) stripe.Seq2[*stripe.Event, error] {
	return client.V1Events.List(ctx, params).All(ctx)
}
