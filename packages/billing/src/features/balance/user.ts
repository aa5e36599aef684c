import { ProviderRejected } from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { beginOperation, finishOperation, runOperation } from '../../core/operation.ts'
import type { UserScopeWith } from '../../core/user-scope.ts'
import { requireCount, requireText } from '../../core/values/arguments.ts'
import { type Amount, type Money, money, requireAmount } from '../../core/values/money.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import { withEnsuredCustomer } from '../customers/customer.ts'
import type { NewBalanceEntry, ProviderBalanceEntry } from './contract.ts'

/** Options for `balanceTransactions()`. */
export interface BalanceListOptions {
  /** Maximum number of balance entries to return, newest first. Default: all. */
  readonly limit?: number
}

/** Options for `debitBalance()`. */
export interface BalanceOptions {
  /** Idempotency key: repeated calls with the same key change the balance once. */
  readonly idempotencyKey?: string
}

/** Options for `creditBalance()`. */
export interface CreditOptions extends BalanceOptions {
  /**
   * Whether the credit is a gift: you grant it, and the customer has not paid for it. A later swap
   * credits unused time only as far as it was paid with money, so time paid for by a gift is not
   * credited.
   * @default false
   */
  readonly gift?: boolean
}

/** One entry of a customer's balance. */
export type BalanceEntry = ProviderBalanceEntry

type BalanceEntryToAdd = Omit<NewBalanceEntry, 'key'>

export async function readBalance(user: UserScopeWith<'balance'>): Promise<Money> {
  const gateway = await user.gateway()
  const customerId = await user.findCustomerId()
  if (customerId === null) return money(0, gateway.toMoney(0).currency)
  return gateway.balance.read(customerId)
}

export async function listBalanceEntries(
  user: UserScopeWith<'balance'>,
  { limit }: BalanceListOptions,
): Promise<BalanceEntry[]> {
  const count = limit === undefined ? null : requireCount(limit)
  const customerId = await user.findCustomerId()
  return customerId === null ? [] : (await user.gateway()).balance.list(customerId, count)
}

/** A change of the balance in favour of the customer or of the seller. */
export interface BalanceChange {
  readonly of: 'customer' | 'us'
  readonly amount: Amount
  readonly description: string | undefined
  readonly isGift: boolean
}

export async function changeBalance(
  user: UserScopeWith<'balance'>,
  change: BalanceChange,
  { idempotencyKey }: BalanceOptions,
): Promise<BalanceEntry> {
  if (idempotencyKey !== undefined) requireText('idempotency key', idempotencyKey)
  const { description, isGift } = change
  if (description !== undefined) requireText('description', description)
  const gateway = await user.gateway()
  const { amount, currency } = requireAmount(change.amount, gateway.toMoney)
  const entry: BalanceEntryToAdd = {
    amount: money(change.of === 'customer' ? amount : -amount, currency),
    description: description ?? null,
    isGift,
  }
  return withEnsuredCustomer(user, (locked, customerId) =>
    idempotencyKey === undefined
      ? addEntryWithOperation(user, locked, customerId, entry)
      : addEntryOnce(user, locked, customerId, { ...entry, key: idempotencyKey }),
  )
}

/**
 * Adds the entry with a stored operation, whose id is the idempotency key. A repeated call after a
 * lost response then finds the first entry.
 */
async function addEntryWithOperation(
  user: UserScopeWith<'balance'>,
  locked: LockedOwner,
  customerId: string,
  entry: BalanceEntryToAdd,
): Promise<BalanceEntry> {
  const { context, owner, provider } = user
  const request = { provider, ...entry }
  const operation = await beginOperation(context, locked, { owner, kind: 'balance', request })
  return runOperation(context, locked, operation, async () => {
    const made = await addEntryOnce(user, locked, customerId, { ...entry, key: operation.id })
    await finishOperation(context, locked, operation)
    return made
  })
}

async function addEntryOnce(
  user: UserScopeWith<'balance'>,
  locked: LockedOwner,
  customerId: string,
  entry: NewBalanceEntry,
): Promise<BalanceEntry> {
  const { balance } = await user.gateway()
  const before = await balance.findByKey(customerId, entry.key)
  if (!before) {
    return locked.change(user.provider, (gateway) =>
      requireGatewayPart(gateway, 'balance').add(customerId, entry),
    )
  }
  const isSame =
    before.amount.amount === entry.amount.amount && before.amount.currency === entry.amount.currency
  if (isSame) return before
  throw new ProviderRejected('This idempotency key was used for a different balance change', {
    provider: user.provider,
    providerCode: null,
  })
}
