//go:build !basil

package main

import stripe "github.com/stripe/stripe-go/v85"

func promote(params *stripe.PromotionCodeCreateParams, coupon string) {
	params.Promotion = &stripe.PromotionCodeCreatePromotionParams{
		Type:   stripe.String("coupon"),
		Coupon: stripe.String(coupon),
	}
}

func couponOf(discount *stripe.Discount) string {
	return discount.Source.Coupon.ID
}
