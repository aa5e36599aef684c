import type { BillingContext } from './context.ts'
import type { Owner } from './converge.ts'
import {
  InvalidPaymentToken,
  NoPaymentMethod,
  type ProviderName,
  ProviderUnavailable,
} from './errors.ts'
import type { CustomerDetails, Gateway, ProviderCustomer } from './gateways/gateway.ts'
import type { UserRecord } from './storage/tables.ts'

export interface WantedCustomer {
  readonly provider: ProviderName
  /** A card token that becomes the default; null keeps the card that is there. */
  readonly token: string | null
  readonly details: CustomerDetails
  /** An earlier attempt may have used the token up. */
  readonly resumed: boolean
}

/** The user's customer with the wanted card: the one that is there, or a new one. */
export async function ensureCustomer(
  context: BillingContext,
  owner: Owner,
  wanted: WantedCustomer,
): Promise<string> {
  const user = await context.users.find(owner.userId)
  const gateway = await context.gateway(wanted.provider)
  const existing =
    user?.providerId && user.provider === wanted.provider
      ? await gateway.findCustomer(user.providerId)
      : null
  if (existing) return useExisting(context, owner, { gateway, existing, wanted })
  if (!user) throw new Error('The user was deleted meanwhile')
  return createCustomer(context, user, gateway, wanted)
}

async function useExisting(
  context: BillingContext,
  { userId }: Owner,
  {
    gateway,
    existing,
    wanted,
  }: {
    readonly gateway: Gateway
    readonly existing: ProviderCustomer
    readonly wanted: WantedCustomer
  },
): Promise<string> {
  if (wanted.token === null) {
    if (existing.hasPaymentMethod) return existing.id
    throw new NoPaymentMethod('The customer has no card: give a card token')
  }
  try {
    const { card } = await gateway.setCard(existing.id, wanted.token)
    await context.users.setCard(userId, card)
  } catch (error) {
    const usedBefore =
      wanted.resumed && error instanceof InvalidPaymentToken && existing.hasPaymentMethod
    if (!usedBefore) throw error
  }
  return existing.id
}

/** On record before it is made, so that a repeat after a crash finds the same customer. */
async function createCustomer(
  context: BillingContext,
  user: UserRecord,
  gateway: Gateway,
  wanted: WantedCustomer,
): Promise<string> {
  const { operations, options, users } = context
  const details = { ...defaultDetails(context, user), ...wanted.details }
  const operation = await operations.begin(
    { userId: user.id, kind: 'customer', request: { provider: gateway.name, details } },
    options.clock.now(),
  )
  try {
    const customer = await gateway.createCustomer({
      userId: user.id,
      details,
      token: wanted.token,
      operation: operation.id,
    })
    await users.setCustomer(user.id, {
      provider: gateway.name,
      providerId: customer.id,
      ...customer.card,
    })
    await operations.finish(operation)
    return customer.id
  } catch (error) {
    if (!(error instanceof ProviderUnavailable) && !operation.resumed) {
      await operations.finish(operation)
    }
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
