import type { Billing } from '@tollgate/billing'
import type { AuthorizationServer } from '@tollgate/oauth'
import type { Sessions } from '../sessions/sessions.ts'
import {
  isAnythingOpen,
  NOTHING_OPEN,
  type OpenAmounts,
  readOpenAmounts,
  readSubscriptions,
  type SubscriptionChoice,
  type SubscriptionFact,
  settleSubscriptions,
  voidOpenAmounts,
  voidOpenUsage,
} from './account-billing.ts'
import type { Account, User } from './user.ts'
import type { UserAccounts } from './users.ts'

interface Parts {
  readonly users: UserAccounts
  readonly sessions: Pick<Sessions, 'endAll'>
  readonly oauth: Pick<AuthorizationServer<User>, 'endSession' | 'revokeUser' | 'consents'>
}

/** Billing as these operations need it. A command opens it for customers only. */
export interface BillingAccess {
  /** Reads rows. No provider is asked. */
  rows(): Promise<Billing>
  /** Asks and changes the provider, too. */
  provider(): Promise<Billing>
}

/** The operator's decisions about a person's money. */
export interface MoneyDecisions {
  /** Null where the operator was not asked. */
  readonly choice: SubscriptionChoice | null
  /** Whether unbilled usage and unpaid invoices are voided. Only for a deletion. */
  readonly voidOpen?: boolean
}

/** An account after one of these operations, and what became of the person's subscriptions. */
export interface AccountOutcome {
  readonly account: Pick<Account, 'id' | 'email'>
  readonly state: 'enabled' | 'disabled' | 'deleted'
  readonly subscriptions: readonly SubscriptionFact[]
  /** Amounts that were voided. */
  readonly voided: OpenAmounts
}

/** The operator has to decide something first, which `subscriptions` and `open` name. */
export class DecisionRequired extends Error {
  override readonly name = 'DecisionRequired'
  readonly account: Pick<Account, 'id' | 'email'>
  readonly subscriptions: readonly SubscriptionFact[]
  readonly open: OpenAmounts
  /** Whether the account is locked already, because a subscription began while it was. */
  readonly isDisabled: boolean

  constructor(
    required: Pick<DecisionRequired, 'account' | 'subscriptions' | 'open' | 'isDisabled'>,
  ) {
    super(`${required.account.email}: decide what happens to the subscription and to open amounts`)
    this.account = required.account
    this.subscriptions = required.subscriptions
    this.open = required.open
    this.isDisabled = required.isDisabled
  }
}

/** The account is locked, and the rest could not be done. A repeat does what is missing. */
export class AccountUnfinished extends Error {
  override readonly name = 'AccountUnfinished'

  constructor({ email, id }: Pick<Account, 'id' | 'email'>, cause: unknown) {
    const reason = cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause)
    super(
      `${email} (${id}) is disabled, but the rest is not done, and a subscription may go on being charged: ${reason}. Repeat it: what is done is not done twice.`,
      { cause },
    )
  }
}

/**
 * Ends sessions, cookies, codes, access and refresh tokens of a person on every process within a second.
 * Whoever knew an old password may hold any of them (threat G6).
 */
export async function endSignIns({ sessions, oauth }: Parts, userId: string): Promise<void> {
  for (const session of await sessions.endAll(userId)) await oauth.endSession(session)
  await oauth.revokeUser(userId)
}

export async function setPassword(parts: Parts, userId: string, password: string): Promise<void> {
  await parts.users.changePassword(userId, password)
  await endSignIns(parts, userId)
}

/**
 * Locks the account and does to its subscriptions what the operator chose. The account stays, with all that belongs to it.
 * @throws DecisionRequired before anything is done, when a subscription would go on being charged and nothing was chosen.
 * @throws AccountUnfinished when the account is locked and the provider could not do its part.
 */
export async function disableAccount(
  parts: Parts,
  billing: BillingAccess,
  account: Account,
  { choice }: MoneyDecisions,
): Promise<AccountOutcome> {
  const before = await subscriptionsOf(billing, account)
  if (choice === null) requireNone(account, before, isCharged, false)
  await lock(parts, account)
  return finish(account, async () => {
    // A person may have become a customer until the account was locked.
    const locked = (await parts.users.findAccount(account.id)) ?? account
    if (locked.billedBy !== null) {
      await settleSubscriptions(await billing.provider(), account.id, choice)
    }
    const subscriptions = await subscriptionsOf(billing, locked)
    if (choice === null) requireNone(account, subscriptions, isCharged, true)
    return { account, state: 'disabled', subscriptions, voided: NOTHING_OPEN }
  })
}

/** Opens the account again. Whatever slipped in while it was being disabled does not come back with it. */
export async function enableAccount(
  parts: Parts,
  billing: BillingAccess,
  account: Account,
): Promise<AccountOutcome> {
  await endSignIns(parts, account.id)
  await parts.users.setDisabled(account.id, false)
  const subscriptions = await subscriptionsOf(billing, account)
  return { account, state: 'enabled', subscriptions, voided: NOTHING_OPEN }
}

/**
 * Deletes the account for good, once no subscription runs and nothing is open. With the choice `period-end` the account is
 * locked until a repeat after that day deletes it. Invoices stay at the provider. May be repeated after a crash half way.
 * @throws DecisionRequired before anything is done.
 * @throws AccountUnfinished when the account is locked and the provider could not do its part.
 */
export async function deleteAccount(
  parts: Parts,
  billing: BillingAccess,
  account: Account,
  { choice, voidOpen = false }: MoneyDecisions,
): Promise<AccountOutcome> {
  const before = await standingOf(billing, account)
  const isDecided = choice === 'now' || choice === 'period-end'
  if (!isDecided) requireNone(account, before.subscriptions, isLive, false, before.open)
  const staysUntilEnd = choice === 'period-end' && before.subscriptions.some(isLive)
  if (!voidOpen && !staysUntilEnd) requireNothingOpen(account, before, false)
  await lock(parts, account)
  return finish(account, async () => {
    const locked = (await parts.users.findAccount(account.id)) ?? account
    if (locked.billedBy !== null) {
      const provider = await billing.provider()
      // Before the end, with which usage that we count ourselves is charged.
      if (voidOpen && !staysUntilEnd) await voidOpenUsage(provider, account.id)
      await settleSubscriptions(provider, account.id, choice)
    }
    const settled = await standingOf(billing, locked)
    const { subscriptions } = settled
    if (!isDecided) requireNone(account, subscriptions, isLive, true, settled.open)
    if (subscriptions.some(isLive)) {
      return { account, state: 'disabled', subscriptions, voided: NOTHING_OPEN }
    }
    if (!voidOpen) requireNothingOpen(account, settled, true)
    else if (isAnythingOpen(settled.open)) {
      await voidOpenAmounts(await billing.provider(), account.id)
    }
    for (const { clientId } of await parts.oauth.consents.listByUser(account.id)) {
      await parts.oauth.consents.revoke(account.id, clientId)
    }
    await parts.users.delete(account.id)
    return {
      account,
      state: 'deleted',
      subscriptions,
      voided: voidOpen ? before.open : NOTHING_OPEN,
    }
  })
}

/** Subscriptions and open amounts, which a confirmation page shows before it asks. */
export interface Standing {
  readonly subscriptions: readonly SubscriptionFact[]
  readonly open: OpenAmounts
}

/** Brings the rows to the provider's state first, so that no subscription is overlooked. */
export async function standingOf(billing: BillingAccess, account: Account): Promise<Standing> {
  if (account.billedBy === null) return { subscriptions: [], open: NOTHING_OPEN }
  const provider = await billing.provider()
  await (await provider.user(Number(account.id))).sync()
  return {
    subscriptions: await readSubscriptions(provider, account.id),
    open: await readOpenAmounts(provider, account.id),
  }
}

export async function subscriptionsOf(
  billing: BillingAccess,
  account: Account,
): Promise<SubscriptionFact[]> {
  return account.billedBy === null ? [] : readSubscriptions(await billing.rows(), account.id)
}

export const isCharged = ({ state }: SubscriptionFact) => state === 'running'
export const isLive = ({ state }: SubscriptionFact) => state !== 'ended'

function requireNone(
  account: Account,
  subscriptions: readonly SubscriptionFact[],
  isInTheWay: (fact: SubscriptionFact) => boolean,
  isDisabled: boolean,
  open = NOTHING_OPEN,
): void {
  const inTheWay = subscriptions.filter(isInTheWay)
  if (inTheWay.length === 0) return
  throw new DecisionRequired({ account, subscriptions: inTheWay, open, isDisabled })
}

function requireNothingOpen(account: Account, { open }: Standing, isDisabled: boolean): void {
  if (!isAnythingOpen(open)) return
  throw new DecisionRequired({ account, subscriptions: [], open, isDisabled })
}

/** First of all, so that nothing can begin after the rest has ended, and an intruder is out although a provider is away. */
async function lock(parts: Parts, { id }: Account): Promise<void> {
  await parts.users.setDisabled(id, true)
  await endSignIns(parts, id)
}

/** Runs the steps after the lock. An error says that the account is locked. */
async function finish(
  account: Account,
  work: () => Promise<AccountOutcome>,
): Promise<AccountOutcome> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DecisionRequired) throw error
    throw new AccountUnfinished(account, error)
  }
}
