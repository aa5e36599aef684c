import { setBilledCard } from '../consistency/cards/set-billed-card.ts'
import { attempt, begin, finish } from '../consistency/operation.ts'
import type { LockedOwner } from '../consistency/owner-lock.ts'
import type { BillingContext } from '../context.ts'
import { NoPaymentMethod } from '../errors.ts'
import type { CustomerDetails, ProviderCustomer } from '../gateways/contract/customer.ts'
import type { ChangedDetails } from '../gateways/contract/parts/money/customer-details.ts'
import type { ProviderName } from '../provider-name.ts'
import type { Intent, Operation } from '../storage/operations.ts'
import type { BilledOwner } from '../storage/tables.ts'
import { describedByRow } from './described-by-row.ts'
import { requireLanguage } from './require-language.ts'
import { requireOwner } from './require-owner.ts'

export interface WantedCustomer {
  readonly provider: ProviderName
  /** A card token that becomes the default; null keeps the card that is there. */
  readonly token: string | null
  readonly details: CustomerDetails
  /** Whether one without a card will do, because the provider's own page asks for it. Default: no. */
  readonly mayLackCard?: boolean
}

/** The owner's customer with the wanted card: the one that is there, or a new one. */
export async function ensureCustomer(
  context: BillingContext,
  locked: LockedOwner,
  wanted: WantedCustomer,
): Promise<string> {
  const { provider, token, details, mayLackCard = false } = wanted
  requireLanguage(context, provider, details as ChangedDetails)
  const billed = await requireOwner(context, locked.owner)
  const existing =
    billed.providerId && billed.provider === provider
      ? await (await locked.gateway(provider)).findCustomer(billed.providerId)
      : null
  const customer =
    existing ?? (await createCustomer(context, locked, provider, { billed, details }))
  if (token !== null) {
    const { card } = await locked.change(provider, (gateway) => gateway.setCard(customer.id, token))
    await setBilledCard(context, locked, provider, card, { isOther: true })
  } else if (!customer.hasPaymentMethod && !mayLackCard) {
    throw new NoPaymentMethod('The customer has no card: give a card token')
  }
  return customer.id
}

/** On record before it is made: a repeat after a crash finds the same customer. */
async function createCustomer(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  { billed, details }: { readonly billed: BilledOwner; readonly details: CustomerDetails },
): Promise<ProviderCustomer> {
  const { owner } = billed
  const described = describedByRow(context, billed)
  const intent: Intent = {
    owner,
    kind: 'customer',
    request: { provider, details: { ...described, ...details }, for: described.email ?? null },
    // Whatever the details: an owner has one customer at a provider.
    same: { provider },
  }
  const operation = await beginFor(context, locked, intent)
  const wanted = {
    owner,
    details: operation.request.details as CustomerDetails,
    operation: operation.id,
  }
  const customer = await attempt(context, locked, operation, () =>
    locked.change(provider, (gateway) => gateway.createCustomer(wanted)),
  )
  const columns = { provider, providerId: customer.id, ...customer.card }
  await finish(context, locked, operation, (tx) => context.owners.setCustomer(owner, columns, tx))
  return customer
}

/** Forgets an operation of an earlier owner with the same id, so that no owner is given another's customer. */
async function beginFor(
  context: BillingContext,
  locked: LockedOwner,
  intent: Intent,
): Promise<Operation> {
  const begun = await begin(context, locked, intent)
  const { for: email } = begun.request
  if (email === undefined || email === intent.request.for) return begun
  await finish(context, locked, begun)
  return begin(context, locked, intent)
}
