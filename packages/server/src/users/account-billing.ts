import {
  type BillableUser,
  type Billing,
  type Invoice,
  isBillingError,
  type Money,
  money,
  type ProviderName,
  type Subscription,
} from '@tollgate/billing'

/** The providers as people know them. */
export const PROVIDER_NAMES: Readonly<Record<ProviderName, string>> = {
  stripe: 'Stripe',
  braintree: 'Braintree',
}

/** The answers to "what happens to the subscription?", in the order in which people are offered them. */
export const CHOICES = ['now', 'period-end', 'keep'] as const

/** `now` ends it at once, `period-end` when the paid period ends, `keep` lets it renew. */
export type SubscriptionChoice = (typeof CHOICES)[number]

export function parseChoice(text: string | null | undefined): SubscriptionChoice | null {
  return CHOICES.find((choice) => choice === text) ?? null
}

/** A subscription of a person as its row says. */
export interface SubscriptionFact {
  readonly name: string
  readonly provider: ProviderName
  /** The provider's id of the plan. */
  readonly plan: string
  readonly quantity: number
  /** `running` is charged again, `ending` is not, `ended` is over. */
  readonly state: 'running' | 'ending' | 'ended'
  /** When it ends or ended; null while it renews. */
  readonly endsAt: Date | null
}

/** An amount that was billed and is not paid. */
export interface Debt {
  readonly provider: ProviderName
  readonly amount: Money
  /** The number of the invoice; null where the provider has none and the debt ends with the subscription. */
  readonly invoice: string | null
}

/** Usage that was counted and is not billed yet. */
export interface OpenUsage {
  readonly provider: ProviderName
  /** The provider's name of what is counted, or the line of the next invoice. */
  readonly meter: string
  /** Number of reports in our rows; null where the provider has them already. */
  readonly reports: number | null
  /** The amount on the next invoice; null for reports that have no price yet. */
  readonly amount: Money | null
}

/** Money that was never billed or never paid. */
export interface OpenAmounts {
  readonly usage: readonly OpenUsage[]
  readonly debts: readonly Debt[]
}

export const NOTHING_OPEN: OpenAmounts = { usage: [], debts: [] }

export function isAnythingOpen({ usage, debts }: OpenAmounts): boolean {
  return usage.length > 0 || debts.length > 0
}

/** Lists subscriptions that are not over, and the last one of each name that has none. Asks no provider. */
export async function readSubscriptions(
  billing: Billing,
  userId: string,
): Promise<SubscriptionFact[]> {
  const all = await (await billing.user(Number(userId))).subscriptions()
  return all
    .filter((one, at) => !one.ended() || all.findIndex(({ name }) => name === one.name) === at)
    .map(toFact)
}

function toFact(subscription: Subscription): SubscriptionFact {
  const { name, provider, providerPlan: plan, quantity, endsAt } = subscription
  const state = subscription.ended() ? 'ended' : subscription.cancelled() ? 'ending' : 'running'
  return { name, provider, plan, quantity, state, endsAt }
}

/** Reads what is not billed yet and what is not paid, from the rows and from the provider. */
export async function readOpenAmounts(billing: Billing, userId: string): Promise<OpenAmounts> {
  const billable = await billing.user(Number(userId))
  const waiting = await billable.unbilledUsage()
  const usage: OpenUsage[] = waiting.map((each) => ({ ...each, amount: null }))
  const debts: Debt[] = (await listUnpaid(billable)).map(({ data }) => ({
    provider: data.provider,
    amount: money(data.amountDue, data.currency),
    invoice: data.number,
  }))
  for (const subscription of await billable.subscriptions()) {
    if (subscription.ended()) continue
    const { provider } = subscription
    const isOf = (each: { readonly provider: ProviderName }) => each.provider === provider
    // Reports that the provider has already are on its next invoice; the others are in our rows.
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

export async function voidOpenUsage(billing: Billing, userId: string): Promise<void> {
  await (await billing.user(Number(userId))).voidUnbilledUsage()
}

/** Voids usage that is not billed and invoices that are not paid. May be repeated. */
export async function voidOpenAmounts(billing: Billing, userId: string): Promise<void> {
  await voidOpenUsage(billing, userId)
  const billable = await billing.user(Number(userId))
  for (const invoice of await listUnpaid(billable)) {
    try {
      await invoice.void()
    } catch (error) {
      // Paid at this very moment: nothing is owed any more.
      if (!isBillingError(error, 'invoice_paid')) throw error
    }
  }
}

/** Invoices that a customer could still pay. At Braintree an unpaid one is money on its way. */
async function listUnpaid(billable: BillableUser): Promise<Invoice[]> {
  const all = await billable.invoicesIncludingPending()
  return all.filter(
    ({ paid, voided, data }) =>
      data.provider === 'stripe' && !paid && !voided && data.amountDue > 0,
  )
}

/**
 * Does to every subscription that is not over what was chosen, in its rows and at the provider. First it finishes what
 * was under way when the account was locked, and closes pages on which another subscription could begin.
 */
export async function settleSubscriptions(
  billing: Billing,
  userId: string,
  choice: SubscriptionChoice | null,
): Promise<void> {
  const billable = await billing.user(Number(userId))
  await billable.closeCheckouts()
  if (choice === null || choice === 'keep') return
  await billable.sync()
  for (const subscription of await billable.subscriptions()) {
    if (subscription.ended()) continue
    // A subscription that was never paid for has no period to wait for.
    if (choice === 'now' || subscription.incomplete()) await subscription.cancelNow()
    else if (!subscription.cancelled()) await subscription.cancel()
  }
}
