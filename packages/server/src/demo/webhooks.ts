import Stripe from 'stripe'
import type { BothProviders } from './providers.ts'
import { COUPON } from './providers.ts'

/** Stripe's webhook secret is told once, when the endpoint is made: it is kept beside. */
export async function registerWebhooks(
  sandbox: BothProviders,
  url: string,
  kept: { readonly url: string; readonly secret: string } | undefined,
): Promise<{ readonly url: string; readonly secret: string }> {
  const braintreeUrl = `${url}/braintree/webhook`
  for (const known of sandbox.braintree.webhooks()) {
    if (known !== braintreeUrl) sandbox.braintree.removeWebhook(known)
  }
  sandbox.braintree.registerWebhook(braintreeUrl)

  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  const stripeUrl = `${url}/stripe/webhook`
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 })
  const current = data.find((endpoint) => endpoint.url === stripeUrl)
  if (current && kept?.url === stripeUrl) return kept
  for (const { id } of data) await stripe.webhookEndpoints.del(id)
  const { secret } = sandbox.stripe.registerWebhook(stripeUrl)
  return { url: stripeUrl, secret }
}

export async function ensureCoupon(sandbox: BothProviders): Promise<void> {
  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  const { data } = await stripe.coupons.list({ limit: 100 })
  if (!data.some(({ id }) => id === COUPON)) {
    await stripe.coupons.create({
      id: COUPON,
      name: 'Spring',
      percent_off: 25,
      duration: 'repeating',
      duration_in_months: 3,
    })
  }
  // What people type is a code of the coupon's. A demo that is older has the coupon alone.
  const codes = await stripe.promotionCodes.list({ code: COUPON, limit: 1 })
  if (codes.data.length > 0) return
  const promotion = { type: 'coupon', coupon: COUPON } as const
  await stripe.promotionCodes.create({ code: COUPON, promotion })
}
