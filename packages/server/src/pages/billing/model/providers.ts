import type { ProviderName } from '@tollgate/billing'
import { can } from '../../../config/plan-capabilities.ts'
import type { ServiceContext } from '../../../context.ts'

export { PROVIDER_NAMES } from '../../../users/account-billing.ts'

/** Returns the payment providers that a person can choose from before the first payment. */
export function availableProviders({ sandbox, config }: ServiceContext): ProviderName[] {
  if (sandbox) return ['stripe', 'braintree']
  const configured = { stripe: config.stripe, braintree: config.braintree }
  return (['stripe', 'braintree'] as const).filter((name) => configured[name] !== null)
}

/**
 * Whether the provider has promotion codes. At Braintree, people enter the id of a discount
 * instead.
 */
export function hasPromotionCodes(provider: ProviderName): boolean {
  return can(provider, 'promotionCodes')
}

/** Whether coupons of the provider apply for a number of billing periods, not of months. */
export function couponsCountBillingPeriods(provider: ProviderName): boolean {
  return provider === 'braintree'
}

/** Whether the provider issues credit notes as separate documents. */
export function hasCreditNotes(provider: ProviderName): boolean {
  return can(provider, 'creditNotes')
}

/** Parses the name of a payment provider. `null` if it is not among the available ones. */
export function parseProvider(
  value: string | null | undefined,
  available: readonly ProviderName[],
): ProviderName | null {
  return available.find((name) => name === value) ?? null
}

/** Origins of Stripe's hosted pages, which the policy has to allow as targets of a form. */
const STRIPE_PAGES: readonly string[] = [
  'https://checkout.stripe.com',
  'https://billing.stripe.com',
]

/** Whether the provider has hosted pages for checkout and the customer portal. */
export function hasHostedPages(provider: ProviderName): boolean {
  return can(provider, 'checkout')
}

export function listHostedPageOrigins({ sandbox }: ServiceContext): readonly string[] {
  if (!sandbox) return STRIPE_PAGES
  const { protocol, host, port } = sandbox.stripe.config
  return [`${protocol}://${host}:${port}`]
}
