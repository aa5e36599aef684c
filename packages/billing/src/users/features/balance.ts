import { attempt, begin, finish } from '../../consistency/operation.ts'
import type { LockedOwner } from '../../consistency/owner-lock.ts'
import { ProviderRejected } from '../../errors.ts'
import type {
  NewBalanceEntry,
  ProviderBalanceEntry,
} from '../../gateways/contract/parts/money/balance.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import { requireCount, requireText } from '../../values/arguments.ts'
import { type Amount, type Money, money, requireAmount } from '../../values/money.ts'
import type { UserHaving } from '../user-scope.ts'
import { withCustomer } from '../with-customer.ts'

/** How much of a list is wanted. */
export interface BalanceListOptions {
  /** The newest so many. Default: all. */
  readonly limit?: number
}

/** How a balance is changed. */
export interface BalanceOptions {
  /** The same key counts once, however often it is sent. */
  readonly idempotencyKey?: string
}

/** How credit is given. */
export interface GiftOptions extends BalanceOptions {
  /** What people read. */
  readonly description?: string
}

/** One change of a balance. */
export type BalanceEntry = ProviderBalanceEntry

type Entry = Omit<NewBalanceEntry, 'key'>

export async function readBalance(user: UserHaving<'balance'>): Promise<Money> {
  const gateway = await user.gateway()
  const customerId = await user.findCustomerId()
  if (customerId === null) return money(0, gateway.toMoney(0).currency)
  return gateway.balance.read(customerId)
}

export async function listBalance(
  user: UserHaving<'balance'>,
  { limit }: BalanceListOptions,
): Promise<BalanceEntry[]> {
  const count = limit === undefined ? null : requireCount(limit)
  const customerId = await user.findCustomerId()
  return customerId === null ? [] : (await user.gateway()).balance.list(customerId, count)
}

/** What is asked for: so much for the customer, or for us. */
export interface BalanceChange {
  readonly of: 'customer' | 'us'
  readonly amount: Amount
  readonly description: string | undefined
  readonly isGift: boolean
}

export async function changeBalance(
  user: UserHaving<'balance'>,
  change: BalanceChange,
  { idempotencyKey }: BalanceOptions,
): Promise<BalanceEntry> {
  if (idempotencyKey !== undefined) requireText('idempotency key', idempotencyKey)
  const { description, isGift } = change
  if (description !== undefined) requireText('description', description)
  const gateway = await user.gateway()
  const { amount, currency } = requireAmount(change.amount, gateway.toMoney)
  const entry: Entry = {
    amount: money(change.of === 'customer' ? amount : -amount, currency),
    description: description ?? null,
    isGift,
  }
  return withCustomer(user, (locked, customerId) =>
    idempotencyKey === undefined
      ? addOnRecord(user, locked, customerId, entry)
      : addOnce(user, locked, customerId, { ...entry, key: idempotencyKey }),
  )
}

/** Without a key of the caller's: one of ours, which whoever repeats the call after a lost answer finds. */
async function addOnRecord(
  user: UserHaving<'balance'>,
  locked: LockedOwner,
  customerId: string,
  entry: Entry,
): Promise<BalanceEntry> {
  const { context, owner, provider } = user
  const request = { provider, ...entry }
  const operation = await begin(context, locked, { owner, kind: 'balance', request })
  return attempt(context, locked, operation, async () => {
    const made = await addOnce(user, locked, customerId, { ...entry, key: operation.id })
    await finish(context, locked, operation)
    return made
  })
}

async function addOnce(
  user: UserHaving<'balance'>,
  locked: LockedOwner,
  customerId: string,
  entry: NewBalanceEntry,
): Promise<BalanceEntry> {
  const { balance } = await user.gateway()
  const before = await balance.findByKey(customerId, entry.key)
  if (!before) {
    return locked.change(user.provider, (gateway) =>
      requirePart(gateway, 'balance').add(customerId, entry),
    )
  }
  const isSame =
    before.amount.amount === entry.amount.amount && before.amount.currency === entry.amount.currency
  if (isSame) return before
  throw new ProviderRejected('This idempotency key was used for another change of the balance', {
    provider: user.provider,
    providerCode: null,
  })
}
