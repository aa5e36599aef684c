import type { BillingContext } from '../context.ts'
import type { ChangedDetails } from '../gateways/contract/parts/money/customer-details.ts'
import { requireCapability } from '../gateways/contract/parts.ts'
import type { ProviderName } from '../provider-name.ts'
import { requireLocale } from '../values/locale.ts'

/** InvalidArgument for what is none, and Unsupported for one that the provider could not keep: nobody would hear of it again. */
export function requireLanguage(
  { options }: BillingContext,
  name: ProviderName,
  { locale }: Pick<ChangedDetails, 'locale'>,
): void {
  if (locale === undefined) return
  requireLocale('locale', locale)
  const provider = options.providers.find(name)
  if (provider) requireCapability(provider, 'languages')
}
