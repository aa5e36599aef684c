import { createHash } from 'node:crypto'
import type { BillingContext } from './context.ts'
import type { Owner } from './converge.ts'
import { isFinal, NoPaymentMethod, type ProviderName, UserNotFound } from './errors.ts'
import type { CustomerDetails, Gateway, ProviderCustomer } from './gateways/gateway.ts'
import type { UserRecord } from './storage/tables.ts'

export interface WantedCustomer {
  readonly provider: ProviderName
  /** A card token that becomes the default; null keeps the card that is there. */
  readonly token: string | null
  readonly details: CustomerDetails
  /** What this is part of: a repeat of it finds the card, though the token is spent. */
  readonly operation: string
}

/** The user's customer with the wanted card: the one that is there, or a new one. */
export async function ensureCustomer(
  context: BillingContext,
  owner: Owner,
  wanted: WantedCustomer,
): Promise<string> {
  const user = await context.users.find(owner.userId)
  const gateway = await context.gateway(wanted.provider)
  if (!user) throw new UserNotFound('The user was deleted meanwhile')
  const existing =
    user.providerId && user.provider === wanted.provider
      ? await gateway.findCustomer(user.providerId)
      : null
  const customer = existing ?? (await createCustomer(context, user, gateway, wanted.details))
  await giveCard(context, owner, { gateway, customer, wanted })
  return customer.id
}

async function giveCard(
  context: BillingContext,
  { userId }: Owner,
  {
    gateway,
    customer,
    wanted,
  }: {
    readonly gateway: Gateway
    readonly customer: ProviderCustomer
    readonly wanted: WantedCustomer
  },
): Promise<void> {
  if (wanted.token === null) {
    if (customer.hasPaymentMethod) return
    throw new NoPaymentMethod('The customer has no card: give a card token')
  }
  const { card } = await gateway.setCard(customer.id, wanted.token, wanted.operation)
  await context.users.setCard(userId, card)
}

/** A new card for the customer, on record before it is sent: a repeat after a lost answer is the same. */
export async function updateCard(
  context: BillingContext,
  owner: Owner,
  wanted: Omit<WantedCustomer, 'operation'> & { readonly token: string },
): Promise<void> {
  const { operations, options } = context
  const card = createHash('sha256').update(wanted.token).digest('hex')
  const operation = await operations.begin(
    { userId: owner.userId, kind: 'customer', request: { provider: wanted.provider, card } },
    options.clock.now(),
  )
  try {
    await ensureCustomer(context, owner, { ...wanted, operation: operation.id })
    await operations.finish(operation)
  } catch (error) {
    if (isFinal(error)) await operations.finish(operation)
    throw error
  }
}

/** On record before it is made, so that a repeat after a crash finds the same customer. */
async function createCustomer(
  context: BillingContext,
  user: UserRecord,
  gateway: Gateway,
  given: CustomerDetails,
): Promise<ProviderCustomer> {
  const { operations, options, users } = context
  const details = { ...defaultDetails(context, user), ...given }
  const operation = await operations.begin(
    { userId: user.id, kind: 'customer', request: { provider: gateway.name, details } },
    options.clock.now(),
  )
  try {
    const customer = await gateway.createCustomer({
      userId: user.id,
      details,
      operation: operation.id,
    })
    await users.setCustomer(user.id, {
      provider: gateway.name,
      providerId: customer.id,
      ...customer.card,
    })
    await operations.finish(operation)
    return customer
  } catch (error) {
    if (isFinal(error)) await operations.finish(operation)
    throw error
  }
}

function defaultDetails({ options }: BillingContext, user: UserRecord): CustomerDetails {
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
