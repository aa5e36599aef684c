import type { Clock, StripeOptions } from '@tollgate/billing'
import { startSandbox } from '@tollgate/sandbox'

export interface Payments {
  readonly stripe: StripeOptions
  /** The sandbox's own clock, which moves only on request. `null` with the real Stripe. */
  readonly clock: Clock | null
  /** URL of a page to watch the sandbox and move its clock. `null` with the real Stripe. */
  readonly controlRoom: string | null
  close(): Promise<void>
}

/** Opens Stripe if STRIPE_SECRET is set, otherwise the sandbox with the prices `monthly` and `platinum`. */
export async function openPayments(url: string): Promise<Payments> {
  const { STRIPE_SECRET, STRIPE_WEBHOOK_SECRET = '' } = process.env
  if (STRIPE_SECRET) {
    const stripe = { secret: STRIPE_SECRET, webhookSecret: STRIPE_WEBHOOK_SECRET }
    return { stripe, clock: null, controlRoom: null, close: async () => {} }
  }
  const sandbox = await startSandbox({ stripe: true, controlRoom: true })
  sandbox.stripe.seedPrice({ id: 'monthly', unitAmount: 1000, interval: 'month', product: 'Gold' })
  sandbox.stripe.seedPrice({
    id: 'platinum',
    unitAmount: 5000,
    interval: 'month',
    product: 'Platinum',
  })
  const { secret: webhookSecret } = sandbox.stripe.registerWebhook(`${url}/stripe/webhook`)
  const { apiKey, config } = sandbox.stripe
  return {
    stripe: { secret: apiKey, webhookSecret, config: { ...config } },
    clock: sandbox.clock,
    controlRoom: sandbox.controlRoom?.url ?? null,
    close: () => sandbox.close(),
  }
}
