import type { BillingContext } from '../../core/context.ts'
import type { BilledOwner } from '../../core/storage/tables.ts'
import type { UserScope } from '../../core/user-scope.ts'
import { findLocale } from '../../core/values/locale.ts'
import type { DownloadOptions } from '../invoices/download.ts'

const DEFAULT = 'en'

/**
 * Returns the language of the mail and PDFs for an owner: the result of the `locale` option,
 * otherwise the language stored at the provider, otherwise the default. Invalid values are skipped,
 * because they would make every mail fail.
 */
export async function findOwnerLocale(
  context: BillingContext,
  billed: BilledOwner,
): Promise<string> {
  const { locale, invoice } = context.options
  return (
    findLocale(await locale?.(billed.owner)) ??
    findLocale(await readProviderLocale(context, billed)) ??
    findLocale(invoice?.locale) ??
    DEFAULT
  )
}

async function readProviderLocale(
  context: BillingContext,
  { provider, providerId }: Pick<BilledOwner, 'provider' | 'providerId'>,
): Promise<string | null> {
  if (!provider || !providerId) return null
  const customer = await (await context.gateway(provider)).findCustomer(providerId)
  return customer?.locale ?? null
}

/**
 * Adds the owner's language to the options for an invoice PDF, unless the caller has chosen a
 * language.
 */
export async function withOwnerLocale(
  { context, user }: UserScope,
  options: DownloadOptions,
): Promise<DownloadOptions> {
  return { ...options, locale: options.locale ?? (await findOwnerLocale(context, user.record)) }
}
