import type { Billing } from '@tollgate/billing'
import type { AuthorizationServer } from '@tollgate/oauth'
import { ENGLISH, type PageText } from '../messages/messages.ts'
import { defineError } from '../service-error.ts'
import type { Sessions } from '../sessions/sessions.ts'
import {
  hasOpenAmounts,
  NO_OPEN_AMOUNTS,
  type OpenAmounts,
  personOwner,
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

/**
 * Thrown if an account cannot be deleted before something else is done, such as deleting a team or
 * giving it another owner.
 */
export class AccountDeletionBlocked extends defineError('conflict') {}

/** The memberships of a person in teams, as the deletion of the account ends them. */
export interface AccountTeams {
  /**
   * Checks that every team of which the person is the last owner can be deleted.
   * @throws AccountDeletionBlocked if one cannot.
   */
  requireLeavable(userId: string, billing: BillingAccess): Promise<void>
  /**
   * Ends the memberships of a person, and deletes the teams of which the person is the last owner.
   * @throws AccountDeletionBlocked if one cannot be deleted.
   */
  leaveAll(userId: string, billing: BillingAccess): Promise<void>
}

/** The parts of the service that are needed to disable or delete an account. */
export interface AccountServices {
  readonly users: UserAccounts
  readonly sessions: Pick<Sessions, 'endAll'>
  readonly oauth: Pick<AuthorizationServer<User>, 'endSession' | 'revokeUser' | 'consents'>
  readonly teams: AccountTeams
}

/**
 * Access to billing for disabling and deleting accounts. Commands open it only if the person is a
 * customer.
 */
export interface BillingAccess {
  /** Opens billing for reading from the database only. */
  rows(): Promise<Billing>
  /** Opens billing that can also send requests to the provider. */
  provider(): Promise<Billing>
}

/** An operator's decisions about the subscriptions and open amounts of an account. */
export interface MoneyDecisions {
  /** The choice for all subscriptions of the account. `null` if the operator has not chosen. */
  readonly choice: SubscriptionChoice | null
  /**
   * Whether to void unbilled usage and unpaid invoices. Only used when deleting.
   * @default false
   */
  readonly voidOpen?: boolean
  /**
   * Whether the person asked for the deletion, which another process then completes after a crash.
   * @default false
   */
  readonly isOwnRequest?: boolean
}

/**
 * Result of disabling, enabling or deleting an account: the account and the state of its
 * subscriptions.
 */
export interface AccountOutcome {
  readonly account: Pick<Account, 'id' | 'email'>
  readonly state: 'enabled' | 'disabled' | 'deleted'
  readonly subscriptions: readonly SubscriptionFact[]
  /** Amounts that were voided. */
  readonly voided: OpenAmounts
}

/**
 * Thrown if the operator must first decide what happens to the subscriptions (`subscriptions`) or
 * open amounts (`open`).
 */
export class DecisionRequired extends defineError('decision-required') {
  readonly account: Pick<Account, 'id' | 'email'>
  readonly subscriptions: readonly SubscriptionFact[]
  readonly open: OpenAmounts
  /**
   * Whether the account was disabled nevertheless, because a subscription began only during the
   * operation.
   */
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

/**
 * Thrown if the account was disabled but a later step failed. Repeating the operation completes it.
 */
export class AccountUnfinished extends defineError('provider-unavailable') {
  readonly #values: { readonly email: string; readonly id: string; readonly reason: string }

  constructor({ email, id }: Pick<Account, 'id' | 'email'>, cause: unknown) {
    const reason = cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause)
    super(ENGLISH('accounts.unfinished', { email, id, reason }), { cause })
    this.#values = { email, id, reason }
  }

  /** Returns the message in the language of the page. */
  in(t: PageText): string {
    return t('accounts.unfinished', this.#values)
  }
}

/**
 * Ends all sessions, cookies, codes, access tokens and refresh tokens of a person, on every process
 * within a second. An attacker who knew the old password may hold any of them (threat G6).
 */
export async function endSignIns(
  { sessions, oauth }: Pick<AccountServices, 'sessions' | 'oauth'>,
  userId: string,
): Promise<void> {
  for (const session of await sessions.endAll(userId)) await oauth.endSession(session)
  await oauth.revokeUser(userId)
}

export async function setPassword(
  parts: Omit<AccountServices, 'teams'>,
  userId: string,
  password: string,
): Promise<void> {
  await parts.users.changePassword(userId, password)
  await endSignIns(parts, userId)
}

/**
 * Disables the account and applies the choice to its subscriptions. The account and its data stay.
 * @throws DecisionRequired if a subscription would renew and `choice` is `null`. Then nothing was
 * changed, unless `isDisabled` is true.
 * @throws AccountUnfinished if the account is disabled, but a later step failed.
 */
export async function disableAccount(
  parts: AccountServices,
  billing: BillingAccess,
  account: Account,
  { choice }: MoneyDecisions,
): Promise<AccountOutcome> {
  const before = await readAccountSubscriptions(billing, account)
  if (choice === null) requireNoSubscriptions(account, before, isCharged, false)
  await lock(parts, account)
  return finish(account, async () => {
    // The person may have become a customer before the account was locked.
    const locked = (await parts.users.findAccount(account.id)) ?? account
    if (locked.billedBy !== null) {
      await settleSubscriptions(await billing.provider(), personOwner(account.id), choice)
    }
    const subscriptions = await readAccountSubscriptions(billing, locked)
    if (choice === null) requireNoSubscriptions(account, subscriptions, isCharged, true)
    return { account, state: 'disabled', subscriptions, voided: NO_OPEN_AMOUNTS }
  })
}

/**
 * Enables a disabled account. First ends sessions and tokens that were created while it was being
 * disabled.
 */
export async function enableAccount(
  parts: AccountServices,
  billing: BillingAccess,
  account: Account,
): Promise<AccountOutcome> {
  await endSignIns(parts, account.id)
  await parts.users.setDisabled(account.id, false)
  const subscriptions = await readAccountSubscriptions(billing, account)
  return { account, state: 'enabled', subscriptions, voided: NO_OPEN_AMOUNTS }
}

/**
 * Deletes the account permanently, unless a subscription still runs or an amount is open. With the
 * choice `period-end` the account is only disabled; repeat the call after the end of the period to
 * delete it. Invoices stay at the provider. Ends the person's memberships in teams. Idempotent, also
 * after a crash.
 * @throws AccountDeletionBlocked if the person is the last owner of a team with a running subscription. Then
 * nothing was changed, unless that subscription began during the call.
 * @throws DecisionRequired if a subscription or an open amount needs a decision. Then nothing was
 * changed, unless `isDisabled` is true.
 * @throws AccountUnfinished if the account is disabled, but a later step failed.
 */
export async function deleteAccount(
  parts: AccountServices,
  billing: BillingAccess,
  account: Account,
  { choice, voidOpen = false, isOwnRequest = false }: MoneyDecisions,
): Promise<AccountOutcome> {
  const before = await readObligations(billing, account)
  const isDecided = choice === 'now' || choice === 'period-end'
  if (!isDecided) requireNoSubscriptions(account, before.subscriptions, isLive, false, before.open)
  const staysUntilEnd = choice === 'period-end' && before.subscriptions.some(isLive)
  if (!voidOpen && !staysUntilEnd) requireNothingOpen(account, before, false)
  await parts.teams.requireLeavable(account.id, billing)
  await lock(parts, account, isOwnRequest)
  return finish(account, async () => {
    const locked = (await parts.users.findAccount(account.id)) ?? account
    if (locked.billedBy !== null) {
      const provider = await billing.provider()
      // Before the subscription ends, because its end would charge usage that is counted in our
      // tables.
      if (voidOpen && !staysUntilEnd) await voidOpenUsage(provider, personOwner(account.id))
      await settleSubscriptions(provider, personOwner(account.id), choice)
    }
    const settled = await readObligations(billing, locked)
    const { subscriptions } = settled
    if (!isDecided) requireNoSubscriptions(account, subscriptions, isLive, true, settled.open)
    if (subscriptions.some(isLive)) {
      return { account, state: 'disabled', subscriptions, voided: NO_OPEN_AMOUNTS }
    }
    if (!voidOpen) requireNothingOpen(account, settled, true)
    else if (hasOpenAmounts(settled.open)) {
      await voidOpenAmounts(await billing.provider(), personOwner(account.id))
    }
    await parts.teams.leaveAll(account.id, billing)
    for (const { clientId } of await parts.oauth.consents.listByUser(account.id)) {
      await parts.oauth.consents.revoke(account.id, clientId)
    }
    await parts.users.delete(account.id)
    return {
      account,
      state: 'deleted',
      subscriptions,
      voided: voidOpen ? before.open : NO_OPEN_AMOUNTS,
    }
  })
}

/** Subscriptions and open amounts of an account, shown before it is disabled or deleted. */
export interface AccountObligations {
  readonly subscriptions: readonly SubscriptionFact[]
  readonly open: OpenAmounts
}

/**
 * Reads the subscriptions and open amounts of an account. Synchronizes with the provider first, so
 * that no subscription is missed.
 */
export async function readObligations(
  billing: BillingAccess,
  account: Account,
): Promise<AccountObligations> {
  if (account.billedBy === null) return { subscriptions: [], open: NO_OPEN_AMOUNTS }
  const provider = await billing.provider()
  await (await provider.user(Number(account.id))).sync()
  return {
    subscriptions: await readSubscriptions(provider, personOwner(account.id)),
    open: await readOpenAmounts(provider, personOwner(account.id)),
  }
}

export async function readAccountSubscriptions(
  billing: BillingAccess,
  account: Account,
): Promise<SubscriptionFact[]> {
  return account.billedBy === null
    ? []
    : readSubscriptions(await billing.rows(), personOwner(account.id))
}

export const isCharged = ({ state }: SubscriptionFact) => state === 'running'
export const isLive = ({ state }: SubscriptionFact) => state !== 'ended'

function requireNoSubscriptions(
  account: Account,
  subscriptions: readonly SubscriptionFact[],
  isInTheWay: (fact: SubscriptionFact) => boolean,
  isDisabled: boolean,
  open = NO_OPEN_AMOUNTS,
): void {
  const inTheWay = subscriptions.filter(isInTheWay)
  if (inTheWay.length === 0) return
  throw new DecisionRequired({ account, subscriptions: inTheWay, open, isDisabled })
}

function requireNothingOpen(
  account: Account,
  { open }: AccountObligations,
  isDisabled: boolean,
): void {
  if (!hasOpenAmounts(open)) return
  throw new DecisionRequired({ account, subscriptions: [], open, isDisabled })
}

/**
 * Locks the account as the first step, so that nothing new can begin, and an intruder is out even
 * if a provider is unavailable.
 */
async function lock(parts: AccountServices, { id }: Account, isOwnRequest = false): Promise<void> {
  if (!(await parts.users.setDisabled(id, true, { isOwnRequest }))) {
    throw new AccountDeletionBlocked('An operator has disabled this account')
  }
  await endSignIns(parts, id)
}

/** Runs the steps after the lock. Errors state that the account is locked. */
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
