import type { BillingContext } from '../../core/context.ts'
import { NoPaymentMethod } from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { beginOperation, finishOperation, runOperation } from '../../core/operation.ts'
import { withOwnerLock } from '../../core/owner-lock.ts'
import type { OperationIntent, PendingOperation } from '../../core/storage/operations.ts'
import { requireOwnerTable } from '../../core/storage/owner-tables.ts'
import type { BilledOwner } from '../../core/storage/tables.ts'
import { requireOwner, type UserScope } from '../../core/user-scope.ts'
import { requireLocale } from '../../core/values/locale.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { CustomerDetails, ProviderCustomer } from '../../providers/customer.ts'
import { requireCapability } from '../../providers/gateway-parts.ts'
import { setBilledCard } from '../payment-methods/set-billed-card.ts'

export interface RequestedCustomer {
  readonly provider: ProviderName
  /** Token of the card that becomes the customer's default. `null` keeps the current card. */
  readonly token: string | null
  readonly details: CustomerDetails
  /**
   * Whether the customer may have no card yet, because the provider's checkout page will ask for
   * one.
   * @default false
   */
  readonly mayLackCard?: boolean
}

/**
 * Returns the provider's id of the owner's customer. Creates the customer if there is none, and
 * makes the given card the default.
 * @throws NoPaymentMethod if there is no card, unless `mayLackCard`.
 */
export async function ensureCustomer(
  context: BillingContext,
  locked: LockedOwner,
  requestedCustomer: RequestedCustomer,
): Promise<string> {
  const { provider, token, details, mayLackCard = false } = requestedCustomer
  requireValidLocale(context, provider, details)
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
    throw new NoPaymentMethod('The customer has no card: pass a card token')
  }
  return customer.id
}

/**
 * Creates the customer. The operation is recorded first, so that a repeat after a crash finds the
 * same customer.
 */
async function createCustomer(
  context: BillingContext,
  locked: LockedOwner,
  provider: ProviderName,
  { billed, details }: { readonly billed: BilledOwner; readonly details: CustomerDetails },
): Promise<ProviderCustomer> {
  const { owner } = billed
  const described = readCustomerDetailsFromRow(context, billed)
  const intent: OperationIntent = {
    owner,
    kind: 'customer',
    request: { provider, details: { ...described, ...details }, for: described.email ?? null },
    // Details do not matter for a repeat: an owner has one customer at a provider.
    same: { provider },
  }
  const operation = await beginCustomerOperation(context, locked, intent)
  const wanted = {
    owner,
    details: operation.request.details as CustomerDetails,
    operation: operation.id,
  }
  const customer = await runOperation(context, locked, operation, () =>
    locked.change(provider, (gateway) => gateway.createCustomer(wanted)),
  )
  const columns = { provider, providerId: customer.id, ...customer.card }
  await finishOperation(context, locked, operation, (tx) =>
    context.owners.setCustomer(owner, columns, tx),
  )
  return customer
}

/**
 * Begins the operation. Drops an operation that was recorded for an earlier owner with the same id,
 * so that no owner gets another's customer.
 */
async function beginCustomerOperation(
  context: BillingContext,
  locked: LockedOwner,
  intent: OperationIntent,
): Promise<PendingOperation> {
  const begun = await beginOperation(context, locked, intent)
  const { for: email } = begun.request
  if (email === undefined || email === intent.request.for) return begun
  await finishOperation(context, locked, begun)
  return beginOperation(context, locked, intent)
}

/**
 * Reads the customer details (name, e-mail and others) from the owner's row in the application's
 * table. The address is included if columns for it are configured, even if they are empty.
 */
export function readCustomerDetailsFromRow(
  { options }: BillingContext,
  { owner, attributes }: BilledOwner,
): CustomerDetails {
  const { email, name, phone, address } = requireOwnerTable(options.owners, owner.type)
  const read = (columns: Readonly<Record<string, string | undefined>>) => {
    const said: Record<string, string> = {}
    for (const [part, column] of Object.entries(columns)) {
      const value = column === undefined ? null : attributes[column]
      if (typeof value === 'string' && value !== '') said[part] = value
    }
    return said
  }
  return { ...read({ email, name, phone }), ...(address ? { address: read({ ...address }) } : {}) }
}

/**
 * Checks the `locale` in customer details.
 * @throws InvalidArgument if it is not a locale.
 * @throws Unsupported if the provider does not store a customer's language, so that the value would
 * be lost.
 */
export function requireValidLocale(
  { options }: BillingContext,
  name: ProviderName,
  { locale }: Pick<CustomerDetails, 'locale'>,
): void {
  if (locale === undefined) return
  requireLocale('locale', locale)
  const provider = options.providers.find(name)
  if (provider) requireCapability(provider, 'languages')
}

/**
 * Runs `work` with the owner's lock and the id of the owner's customer. The id is read under the
 * lock, because the customer may have been transferred to another owner while this call waited.
 * @throws NoCustomer if the owner has no customer.
 */
export function withExistingCustomer<R>(
  user: UserScope,
  work: (locked: LockedOwner, customerId: string) => Promise<R>,
): Promise<R> {
  return withOwnerLock(user.context, user.owner, async (locked) =>
    work(locked, await user.requireCustomerId()),
  )
}

/**
 * Runs `work` with the owner's lock and the id of the owner's customer. Creates a customer without
 * a card if there is none.
 */
export async function withEnsuredCustomer<R>(
  user: UserScope,
  work: (locked: LockedOwner, customerId: string) => Promise<R>,
): Promise<R> {
  const { context, owner, provider } = user
  try {
    return await withOwnerLock(context, owner, async (locked) => {
      const wanted = { provider, token: null, details: {}, mayLackCard: true }
      return work(locked, await ensureCustomer(context, locked, wanted))
    })
  } finally {
    await user.user.reload()
  }
}
