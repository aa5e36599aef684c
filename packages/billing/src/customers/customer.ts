import { attempt, begin, finish } from '../consistency/operation.ts'
import type { LockedOwner } from '../consistency/owner-lock.ts'
import type { BillingContext } from '../context.ts'
import { NoPaymentMethod, UserNotFound } from '../errors.ts'
import type { CustomerDetails, ProviderCustomer } from '../gateways/contract/customer.ts'
import type { ProviderName } from '../provider-name.ts'
import type { BilledOwner } from '../storage/tables.ts'

export interface WantedCustomer {
  readonly provider: ProviderName
  /** A card token that becomes the default; null keeps the card that is there. */
  readonly token: string | null
  readonly details: CustomerDetails
  /** Whether one without a card will do, because the provider's own page asks for it. Default: no. */
  readonly mayLackCard?: boolean
}

/** The user's customer with the wanted card: the one that is there, or a new one. */
export async function ensureCustomer(
  context: BillingContext,
  locked: LockedOwner,
  wanted: WantedCustomer,
): Promise<string> {
  const { provider, token, details, mayLackCard = false } = wanted
  const user = await context.users.find(locked.userId)
  if (!user) throw new UserNotFound('The user was deleted meanwhile')
  const existing =
    user.providerId && user.provider === provider
      ? await (await locked.gateway(provider)).findCustomer(user.providerId)
      : null
  const customer = existing ?? (await createCustomer(context, locked, provider, { user, details }))
  if (token !== null) {
    const { card } = await locked.change(provider, (gateway) => gateway.setCard(customer.id, token))
    await locked.lock.write((tx) => context.users.setCard(locked.userId, card, tx))
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
  { user, details }: { readonly user: BilledOwner; readonly details: CustomerDetails },
): Promise<ProviderCustomer> {
  const operation = await begin(context, locked, {
    userId: user.id,
    kind: 'customer',
    request: { provider, details: { ...defaultDetails(context, user), ...details } },
    // Whatever the details: a user has one customer at a provider.
    same: { provider },
  })
  const wanted = {
    userId: user.id,
    details: operation.request.details as CustomerDetails,
    operation: operation.id,
  }
  const customer = await attempt(context, locked, operation, () =>
    locked.change(provider, (gateway) => gateway.createCustomer(wanted)),
  )
  const columns = { provider, providerId: customer.id, ...customer.card }
  await finish(context, locked, operation, (tx) => context.users.setCustomer(user.id, columns, tx))
  return customer
}

function defaultDetails({ options }: BillingContext, user: BilledOwner): CustomerDetails {
  const { email, name } = options.users
  const read = (column: string) => {
    const value = user.attributes[column]
    return typeof value === 'string' && value !== '' ? value : null
  }
  const found = { email: read(email), name: read(name) }
  return {
    ...(found.email === null ? {} : { email: found.email }),
    ...(found.name === null ? {} : { name: found.name }),
  }
}
