import type { ProviderName } from '@tollgate/billing'
import type { ServiceContext } from '../../../context.ts'

export { PROVIDER_NAMES } from '../../../users/account-billing.ts'

/** Where somebody who has paid nowhere yet may pay. */
export function availableProviders({ sandbox, config }: ServiceContext): ProviderName[] {
  if (sandbox) return ['stripe', 'braintree']
  const configured = { stripe: config.stripe, braintree: config.braintree }
  return (['stripe', 'braintree'] as const).filter((name) => configured[name] !== null)
}

/** Whether what people type are promotion codes. Braintree has none, and discounts have names. */
export function hasPromotionCodes(provider: ProviderName): boolean {
  return provider === 'stripe'
}

/** Whether what takes an invoice back is a document of its own. */
export function hasCreditNotes(provider: ProviderName): boolean {
  return provider === 'stripe'
}

/** The provider that was asked for, if it is on offer. */
export function parseProvider(
  value: string | null | undefined,
  available: readonly ProviderName[],
): ProviderName | null {
  return available.find((name) => name === value) ?? null
}
