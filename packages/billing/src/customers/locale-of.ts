import type { BillingContext } from '../context.ts'
import type { BilledOwner } from '../storage/tables.ts'
import { findLocale } from '../values/locale.ts'

const DEFAULT = 'en'

/**
 * The language of all that an owner reads: mail, and what is printed for them. The application's word goes before the
 * provider's, and that before the default. What is no language is passed over: it would stop every mail.
 */
export async function localeOf(context: BillingContext, billed: BilledOwner): Promise<string> {
  const { locale, invoice } = context.options
  return (
    findLocale(await locale?.(billed.owner)) ??
    findLocale(await atProvider(context, billed)) ??
    findLocale(invoice?.locale) ??
    DEFAULT
  )
}

async function atProvider(
  context: BillingContext,
  { provider, providerId }: Pick<BilledOwner, 'provider' | 'providerId'>,
): Promise<string | null> {
  if (!provider || !providerId) return null
  const customer = await (await context.gateway(provider)).findCustomer(providerId)
  return customer?.locale ?? null
}
