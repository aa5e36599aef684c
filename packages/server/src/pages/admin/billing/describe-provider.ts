import { PROVIDER_NAMES } from '../../../users/account-billing.ts'

/** The display name of a provider. */
export function describeProvider(name: string): string {
  return name === 'stripe' || name === 'braintree' ? PROVIDER_NAMES[name] : name
}
