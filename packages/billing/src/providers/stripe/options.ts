import { isCurrency } from '../../core/values/money.ts'
import type { Stripe } from '../sdk-types.ts'
import { requireSecret } from '../secrets.ts'

/** API keys and settings of a Stripe account. */
export interface StripeOptions {
  /**
   * Secret API key. The type allows `undefined` so that a missing environment variable is reported
   * at start-up.
   */
  readonly secret: string | undefined
  /** Signing secret of the webhook endpoint. Pass several while it is being rotated. */
  readonly webhookSecret: string | readonly string[] | undefined
  /**
   * Currency of plain numbers in `charge(1999)` and `invoiceFor()` (ISO 4217).
   * @default 'usd'
   */
  readonly currency?: string
  /**
   * Ids of the prices on sale. Other prices are rejected with UnknownPrice before any request is
   * sent; `billing.check()` reports missing ones.
   * @default all prices
   */
  readonly prices?: readonly string[]
  /** Configuration for `new Stripe()`: host and port of the sandbox, proxies, timeouts. */
  readonly config?: Stripe.StripeConfig
}

/** Validated StripeOptions. */
export interface StripeSettings extends StripeOptions {
  /** Secret API key. */
  readonly secret: string
  /** Signing secret of the webhook endpoint, or several secrets while they are being rotated. */
  readonly webhookSecret: string | readonly string[]
}

export function requireStripeSettings(options: StripeOptions): StripeSettings {
  const { secret, webhookSecret, currency = 'usd' } = options
  requireSecret('stripe.secret', secret)
  const secrets = typeof webhookSecret === 'string' ? [webhookSecret] : (webhookSecret ?? [])
  if (secrets.length === 0) requireSecret('stripe.webhookSecret', undefined)
  for (const each of secrets) requireSecret('stripe.webhookSecret', each)
  if (!isCurrency(currency)) {
    throw new TypeError("stripe.currency: expected an ISO 4217 code such as 'usd'.")
  }
  return options as StripeSettings
}
