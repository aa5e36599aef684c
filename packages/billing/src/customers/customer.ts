import type { Owner } from '../consistency/user-lock.ts'
import type { BillingContext } from '../context.ts'
import { isFinal, NoPaymentMethod, type ProviderName, UserNotFound } from '../errors.ts'
import type { CustomerDetails, Gateway, ProviderCustomer } from '../gateways/contract/gateway.ts'
import type { Intent } from '../storage/operations.ts'
import type { CardSummary, UserRecord } from '../storage/tables.ts'

export interface WantedCustomer {
  readonly provider: ProviderName
  /** A card token that becomes the default; null keeps the card that is there. */
  readonly token: string | null
  readonly details: CustomerDetails
}

/** The user's customer with the wanted card: the one that is there, or a new one. */
export async function ensureCustomer(
  context: BillingContext,
  owner: Owner,
  wanted: WantedCustomer,
): Promise<string> {
  const user = await context.users.find(owner.userId)
  const gateway = await owner.gateway(wanted.provider)
  if (!user) throw new UserNotFound('The user was deleted meanwhile')
  const existing =
    user.providerId && user.provider === wanted.provider
      ? await gateway.findCustomer(user.providerId)
      : null
  const customer =
    existing ?? (await createCustomer(context, owner, gateway, { user, given: wanted.details }))
  const card = await giveCard(gateway, customer, wanted.token)
  if (card) await owner.lock.write((tx) => context.users.setCard(owner.userId, card, tx))
  return customer.id
}

async function giveCard(
  gateway: Gateway,
  customer: ProviderCustomer,
  token: string | null,
): Promise<CardSummary | null> {
  if (token !== null) return (await gateway.setCard(customer.id, token)).card
  if (customer.hasPaymentMethod) return null
  throw new NoPaymentMethod('The customer has no card: give a card token')
}

/** On record before it is made, so that a repeat after a crash finds the same customer. */
async function createCustomer(
  context: BillingContext,
  { lock }: Owner,
  gateway: Gateway,
  { user, given }: { readonly user: UserRecord; readonly given: CustomerDetails },
): Promise<ProviderCustomer> {
  const { operations, options, users } = context
  const provider = gateway.name
  const intent: Intent = {
    userId: user.id,
    kind: 'customer',
    request: { provider, details: { ...defaultDetails(context, user), ...given } },
    // Whatever the details: a user has one customer at a provider.
    same: { provider },
  }
  const operation = await lock.write((tx) => operations.begin(intent, options.clock.now(), tx))
  try {
    const customer = await gateway.createCustomer({
      userId: user.id,
      details: operation.request.details as CustomerDetails,
      operation: operation.id,
    })
    await lock.write(async (tx) => {
      await users.setCustomer(user.id, { provider, providerId: customer.id, ...customer.card }, tx)
      await operations.finish(operation, tx)
    })
    return customer
  } catch (error) {
    if (isFinal(error)) await lock.write((tx) => operations.finish(operation, tx))
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
