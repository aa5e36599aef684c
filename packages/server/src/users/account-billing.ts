import {
  type BillableUser,
  type Billing,
  type Invoice,
  isBillingError,
  type Money,
  type Owner,
  type ProviderName,
  type Subscription,
} from '@tollgate/billing'

/** Display names of the providers. */
export const PROVIDER_NAMES: Readonly<Record<ProviderName, string>> = {
  stripe: 'Stripe',
  braintree: 'Braintree',
}

/**
 * The choices for the subscription of an account that is disabled or deleted, in the order in which
 * they are offered.
 */
export const SUBSCRIPTION_CHOICES = ['now', 'period-end', 'keep'] as const

/**
 * A choice for a subscription: `now` ends it immediately, `period-end` at the end of the paid
 * period, `keep` lets it renew.
 */
export type SubscriptionChoice = (typeof SUBSCRIPTION_CHOICES)[number]

export function parseSubscriptionChoice(
  text: string | null | undefined,
): SubscriptionChoice | null {
  return SUBSCRIPTION_CHOICES.find((choice) => choice === text) ?? null
}

/** A subscription of a person or team, as stored in the database. */
export interface SubscriptionFact {
  readonly name: string
  readonly provider: ProviderName
  /** The provider's id of the plan. */
  readonly plan: string
  readonly quantity: number
  /**
   * State of the subscription: `running` renews, `ending` is cancelled but still active, `ended`
   * has ended.
   */
  readonly state: 'running' | 'ending' | 'ended'
  /** When the subscription ends, or ended. `null` if it renews. */
  readonly endsAt: Date | null
}

/** An amount that was billed but not paid. */
export interface UnpaidAmount {
  readonly provider: ProviderName
  readonly amount: Money
  /**
   * Number of the unpaid invoice. `null` if the provider has no invoices; the amount is then void
   * when the subscription ends.
   */
  readonly invoice: string | null
}

/** Usage that was reported but not billed yet. */
export interface OpenUsage {
  readonly provider: ProviderName
  /** The provider's name of the meter, or the description on the next invoice. */
  readonly meter: string
  /** Number of reports in our tables. `null` if they were already sent to the provider. */
  readonly reports: number | null
  /** The amount on the next invoice. `null` for reports that have no price yet. */
  readonly amount: Money | null
}

/** The open amounts of a person or team: usage that is not billed yet, and invoices that are not paid. */
export interface OpenAmounts {
  readonly usage: readonly OpenUsage[]
  readonly debts: readonly UnpaidAmount[]
}

export const NO_OPEN_AMOUNTS: OpenAmounts = { usage: [], debts: [] }

export function hasOpenAmounts({ usage, debts }: OpenAmounts): boolean {
  return usage.length > 0 || debts.length > 0
}

/** A person as an owner in billing. */
export function personOwner(userId: string): Owner {
  return { type: 'user', id: Number(userId) }
}

const ownerIn = (billing: Billing, { type, id }: Owner) => billing.owner(type, id)

/**
 * Lists the subscriptions of a person or team that have not ended, and the latest one of each name. Sends no
 * request to a provider.
 */
export async function readSubscriptions(
  billing: Billing,
  owner: Owner,
): Promise<SubscriptionFact[]> {
  const all = await (await ownerIn(billing, owner)).subscriptions()
  return all
    .filter((one, at) => !one.ended() || all.findIndex(({ name }) => name === one.name) === at)
    .map(toFact)
}

function toFact(subscription: Subscription): SubscriptionFact {
  const { name, provider, providerPlan: plan, quantity, endsAt } = subscription
  const state = subscription.ended() ? 'ended' : subscription.cancelled() ? 'ending' : 'running'
  return { name, provider, plan, quantity, state, endsAt }
}

/** Lists the open amounts of a person or team from the database and from the provider. */
export async function readOpenAmounts(billing: Billing, owner: Owner): Promise<OpenAmounts> {
  const billable = await ownerIn(billing, owner)
  const waiting = await billable.unbilledUsage()
  const usage: OpenUsage[] = waiting.map((each) => ({ ...each, amount: null }))
  const debts: UnpaidAmount[] = (await listUnpaid(billable)).map(({ data, amounts }) => ({
    provider: data.provider,
    amount: amounts.amountDue,
    invoice: data.number,
  }))
  for (const subscription of await billable.subscriptions()) {
    if (subscription.ended()) continue
    const { provider } = subscription
    const isOf = (each: { readonly provider: ProviderName }) => each.provider === provider
    // Reports that were sent to the provider are on its next invoice; the others are in our tables.
    const upcoming = waiting.some(isOf) ? null : await subscription.upcomingInvoice()
    for (const { kind, description, amount } of upcoming?.lines ?? []) {
      if (kind !== 'usage' || amount.amount <= 0) continue
      usage.push({ provider, meter: description, reports: null, amount })
    }
    const owed = debts.some(isOf) ? null : await subscription.amountOwed()
    if (owed && owed.amount > 0) debts.push({ provider, amount: owed, invoice: null })
  }
  return { usage, debts }
}

export async function voidOpenUsage(billing: Billing, owner: Owner): Promise<void> {
  await (await ownerIn(billing, owner)).voidUnbilledUsage()
}

/** Voids unbilled usage and unpaid invoices. Idempotent. */
export async function voidOpenAmounts(billing: Billing, owner: Owner): Promise<void> {
  await voidOpenUsage(billing, owner)
  const billable = await ownerIn(billing, owner)
  for (const invoice of await listUnpaid(billable)) {
    try {
      await invoice.void()
    } catch (error) {
      // The invoice was paid meanwhile, so nothing is owed.
      if (!isBillingError(error, 'invoice_paid')) throw error
    }
  }
}

/**
 * Invoices that a customer could still pay. Only Stripe has them: at Braintree an unpaid invoice
 * was charged and is being settled.
 */
async function listUnpaid(billable: BillableUser): Promise<Invoice[]> {
  const all = await billable.invoicesIncludingPending()
  return all.filter(
    ({ paid, voided, data }) =>
      data.provider === 'stripe' && !paid && !voided && data.amountDue > 0,
  )
}

/**
 * Applies the choice to every subscription of the person or team that has not ended. First closes open
 * checkouts, and completes operations that were interrupted when the account was disabled.
 */
export async function settleSubscriptions(
  billing: Billing,
  owner: Owner,
  choice: SubscriptionChoice | null,
): Promise<void> {
  const billable = await ownerIn(billing, owner)
  await billable.closeCheckouts()
  if (choice === null || choice === 'keep') return
  await billable.sync()
  for (const subscription of await billable.subscriptions()) {
    if (subscription.ended()) continue
    // A subscription that was never paid has no paid period.
    if (choice === 'now' || subscription.incomplete()) await subscription.cancelNow()
    else if (!subscription.cancelled()) await subscription.cancel()
  }
}
