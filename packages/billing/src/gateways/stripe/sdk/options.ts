// biome-ignore lint/suspicious/noTsIgnore: an error is expected only where the SDK is missing
/** @ts-ignore The SDK is missing where another provider is used alone: its types are `any` there. */
import type Stripe from 'stripe'
import { isCurrency } from '../../../values/money.ts'
import { requireSecret } from '../../contract/secrets.ts'

/** The keys of a Stripe account. */
export interface StripeOptions {
  /** The API secret key. An environment variable that is missing is refused in words, as the others are. */
  readonly secret: string | undefined
  /** From the webhook endpoint's page; several while one is being rolled. */
  readonly webhookSecret: string | readonly string[] | undefined
  /** Of `charge(1999)` and `invoiceFor()` with a plain number. Default `usd`. */
  readonly currency?: string
  /** Ids of the prices that are sold. Others are refused before any call, and `check()` looks for these. */
  readonly plans?: readonly string[]
  /** Passed to `new Stripe()`: host and port of the sandbox, proxies, timeouts. */
  readonly config?: Stripe.StripeConfig
}

/** The same with nothing missing. */
export interface StripeSettings extends StripeOptions {
  /** The API secret key. */
  readonly secret: string
  /** From the webhook endpoint's page; several while one is being rolled. */
  readonly webhookSecret: string | readonly string[]
}

export function requireSettings(options: StripeOptions): StripeSettings {
  const { secret, webhookSecret, currency = 'usd' } = options
  requireSecret('stripe.secret', secret)
  const secrets = typeof webhookSecret === 'string' ? [webhookSecret] : (webhookSecret ?? [])
  if (secrets.length === 0) requireSecret('stripe.webhookSecret', undefined)
  for (const each of secrets) requireSecret('stripe.webhookSecret', each)
  if (!isCurrency(currency)) {
    throw new TypeError("stripe.currency: expected a code of ISO 4217 such as 'usd'.")
  }
  return options as StripeSettings
}
