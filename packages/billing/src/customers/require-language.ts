import type { BillingContext } from '../context.ts'
import type { ChangedDetails } from '../gateways/contract/parts/money/customer-details.ts'
import { requireCapability } from '../gateways/contract/parts.ts'
import type { ProviderName } from '../provider-name.ts'

/** Unsupported for a language that the provider could not keep: nobody would hear of it again. */
export function requireLanguage(
  { options }: BillingContext,
  name: ProviderName,
  { locale }: Pick<ChangedDetails, 'locale'>,
): void {
  const provider = options.providers.find(name)
  if (locale !== undefined && provider) requireCapability(provider, 'languages')
}
