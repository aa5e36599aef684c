import type { ProviderName } from '@tollgate/billing'
import type { ServiceContext } from '../../../context.ts'

/** Where Stripe's own pages are: browsers ask before a form leads there. */
const STRIPE_PAGES: readonly string[] = [
  'https://checkout.stripe.com',
  'https://billing.stripe.com',
]

/** Braintree has none. */
export function hasHostedPages(provider: ProviderName): boolean {
  return provider === 'stripe'
}

export function hostedPagesOf({ sandbox }: ServiceContext): readonly string[] {
  if (!sandbox) return STRIPE_PAGES
  const { protocol, host, port } = sandbox.stripe.config
  return [`${protocol}://${host}:${port}`]
}
