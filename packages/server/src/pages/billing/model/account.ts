import {
  type ActiveDiscount,
  type Address,
  type BillableOwner,
  type Billing,
  type CreditNote,
  type EndReason,
  type Invoice,
  type InvoiceData,
  isBillingError,
  type Money,
  NoSubscription,
  type PaymentActionRequired,
  type PaymentFailed,
  type PaymentMethod,
  type ProviderName,
  type Subscription,
  type TaxId,
  type UpcomingInvoice,
} from '@tollgate/billing'
import type { Context } from 'hono'
import { type QuotaJson, readQuotas } from '../../../admin/operations/quotas.ts'
import { findPlanOfSubscription, isSoldAt } from '../../../config/plan-capabilities.ts'
import type { Plan } from '../../../config/settings.ts'
import { getBillingTime } from '../../../dates.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { type CountedQuantities, countSeats, type SeatOwner } from '../../../plans/seats.ts'
import { type PlanUsage, readPlanUsage } from '../../../plans/usage.ts'
import { teamOwner } from '../../../teams/end-team.ts'
import { getSignedInUser } from '../../parts/forms.ts'
import { hasCreditNotes } from './providers.ts'

/** Name of the subscription that the pages manage. They support one subscription per person. */
export const SUBSCRIPTION_NAME = 'main'

/** The billing data of the signed-in person, or of a team. */
export interface BillingAccount {
  /** Path of the billing page of this owner. */
  readonly path: string
  readonly billable: BillableOwner
  readonly provider: ProviderName
  /** Whether the owner is a customer at a payment provider. */
  readonly isCustomer: boolean
  /** All subscriptions with the name `main`, newest first. Only the first one is current. */
  readonly history: readonly Subscription[]
  /** The current subscription. `null` if there is none or it has ended. */
  readonly running: Subscription | null
  /**
   * The plan of the running subscription. `null` if there is no such subscription, or its plan is
   * no longer offered.
   */
  readonly plan: Plan | null
  /** Quantities that the service counts, such as the members of a team, by the id of the plan. */
  readonly counted: CountedQuantities
  readonly now: Date
}

/** Reads the billing data from our own tables, without a request to the provider. */
export async function readAccount(c: Context<AppEnv>): Promise<BillingAccount> {
  const { service, payer } = c.get('page')
  const { plans } = service.config.settings
  const billable = await readPayer(c, service.billing)
  const all = await billable.subscriptions()
  const history = all.filter(({ name }) => name === SUBSCRIPTION_NAME)
  const [newest] = history
  const running = newest && !newest.ended() ? newest : null
  return {
    path: payer.path,
    billable,
    provider: billable.provider,
    isCustomer: billable.providerId !== null,
    history,
    running,
    plan: running ? findPlanOfSubscription(plans, running) : null,
    counted: await countSeats(plans, await readSeatOwner(c)),
    now: getBillingTime(service),
  }
}

function readPayer(c: Context<AppEnv>, billing: Billing): Promise<BillableOwner> {
  const { membership } = c.get('page').payer
  if (membership === null) return billing.user(Number(getSignedInUser(c).id))
  const { type, id } = teamOwner(membership.team)
  return billing.owner(type, id)
}

/** The plan of the payer, and the used quotas. */
export interface PlanUse {
  /** Id of the plan in the settings, or `free`. */
  readonly plan: string
  readonly uses: readonly QuotaJson[]
}

/** Reads what the payer has used of the quotas. `null` if no plan has limits. */
export async function readPlanUse(c: Context<AppEnv>): Promise<PlanUse | null> {
  const { service, payer } = c.get('page')
  if (!service.gate) return null
  const subject = payer.membership
    ? teamOwner(payer.membership.team)
    : { type: 'user', id: getSignedInUser(c).id }
  const { plan, data } = await readQuotas(subject, service)
  return plan === null ? null : { plan, uses: data }
}

/** Lists the plans to which the running subscription can be changed. */
export function listOtherPlans(
  plans: readonly Plan[],
  { running, plan }: Pick<BillingAccount, 'running' | 'plan'>,
): Plan[] {
  if (!running || running.incomplete()) return []
  return plans.filter((each) => isSoldAt(each, running.provider) && each.id !== plan?.id)
}

async function readSeatOwner(c: Context<AppEnv>): Promise<SeatOwner> {
  const { service, payer } = c.get('page')
  if (payer.membership === null) return getSignedInUser(c)
  return { members: await service.teams.countMembers(payer.membership.team.id) }
}

/**
 * Returns the subscription if it has not ended.
 * @throws NoSubscription
 */
export function requireRunning({ running }: BillingAccount): Subscription {
  if (!running) throw new NoSubscription('There is no subscription to change')
  return running
}

/**
 * Whether cancelling ends the subscription immediately instead of at the end of the period. This is
 * the case at Braintree while a payment is overdue.
 */
export function endsImmediately(subscription: Subscription): boolean {
  return subscription.provider === 'braintree' && subscription.pastDue()
}

/**
 * Data for the billing page that only the provider has. A value is `null` if the provider is
 * unavailable, unless noted otherwise.
 */
export interface ProviderView {
  readonly periodEndsAt: Date | null
  /** Why a payment of the subscription is missing. `null` if no payment is missing. */
  readonly unpaid: PaymentActionRequired | PaymentFailed | null
  /** Amount of a failed payment, which can be paid now. `null` if nothing is owed. */
  readonly owed: Money | null
  readonly invoices: readonly Invoice[] | null
  /** Credit notes. Empty at Braintree, which has no credit notes. */
  readonly creditNotes: readonly CreditNote[] | null
  /** The next invoice. `null` if there is none or the provider is unavailable. */
  readonly upcoming: UpcomingInvoice | null
  readonly discounts: readonly ActiveDiscount[] | null
  /** Usage in the current period, of the prices that are charged by usage. */
  readonly usage: readonly PlanUsage[] | null
  readonly methods: readonly PaymentMethod[] | null
  /** Tax ids. Empty at a provider that stores none. */
  readonly taxIds: readonly TaxId[] | null
  /** The address on invoices, if there is one. */
  readonly address: { readonly present: Address | null } | null
  /** Why the last subscription ended. `null` if it has not ended or the provider is unavailable. */
  readonly endReason: EndReason | null
}

/**
 * Whether the person may still choose the payment provider, which is possible until the first
 * payment. Billing checks this again.
 */
export function mayChooseProvider(
  { running }: BillingAccount,
  { invoices }: ProviderView,
): boolean {
  if (running && !running.awaitsFirstPayment()) return false
  const isMoney = ({ paid, total, provider }: InvoiceData) =>
    // An open Stripe invoice of a running subscription is that of the first payment, which choosing
    // a provider cancels.
    total > 0 && (paid || !running || provider === 'braintree')
  return invoices?.every(({ data }) => !isMoney(data)) ?? false
}

/**
 * Requests the data for the billing page from the provider. Values that cannot be fetched are
 * `null`, because the page is useful without them.
 */
export async function readProviderView(
  account: BillingAccount,
  plans: readonly Plan[],
): Promise<ProviderView> {
  const { billable, running, provider } = account
  const [last] = account.history
  const [
    periodEndsAt,
    unpaid,
    owed,
    invoices,
    creditNotes,
    discounts,
    methods,
    endReason,
    upcoming,
    usage,
    taxIds,
    address,
  ] = await Promise.all([
    nullIfUnavailable(running ? running.periodEndsAt() : null),
    nullIfUnavailable(running ? readUnpaidReason(running) : null),
    nullIfUnavailable(running && isOwing(running) ? running.amountOwed() : null),
    nullIfUnavailable(billable.invoicesIncludingPending()),
    hasCreditNotes(provider) ? nullIfUnavailable(billable.creditNotes()) : [],
    nullIfUnavailable(running ? running.discounts() : null),
    nullIfUnavailable(billable.paymentMethods()),
    nullIfUnavailable(last ? last.endReason() : null),
    nullIfUnavailable(running ? running.upcomingInvoice() : null),
    nullIfUnavailable(running ? readPlanUsage(running, plans) : null),
    billable.can('taxIds') ? nullIfUnavailable(billable.taxIds()) : [],
    nullIfUnavailable(billable.billingAddress().then((present) => ({ present }))),
  ])
  const documents = { invoices, creditNotes }
  const payment = { unpaid, owed: owed !== null && owed.amount > 0 ? owed : null }
  const details = { taxIds, address }
  return {
    periodEndsAt,
    ...payment,
    ...documents,
    ...details,
    discounts,
    methods,
    endReason,
    upcoming,
    usage,
  }
}

/** Waits for a response of the provider. Returns `null` if the provider is unavailable. */
export async function nullIfUnavailable<T>(response: Promise<T> | null): Promise<T | null> {
  try {
    return await response
  } catch (error) {
    if (isBillingError(error, 'provider_unavailable')) return null
    throw error
  }
}

/** Whether a later payment failed. A failed first payment is repeated by subscribing again. */
function isOwing(subscription: Subscription): boolean {
  const isUnpaid = subscription.incomplete() && !subscription.awaitsFirstPayment()
  return subscription.pastDue() || isUnpaid
}

/**
 * Returns why the newest payment of a subscription is missing: it needs confirmation by the
 * customer, or it failed. `null` if no payment is missing. A declined change of plan has no effect,
 * so no payment is missing after it.
 */
export async function readUnpaidReason(
  subscription: Subscription,
): Promise<PaymentActionRequired | PaymentFailed | null> {
  const isUnpaid = subscription.incomplete() || subscription.pastDue()
  try {
    await subscription.requirePaid()
    return null
  } catch (error) {
    if (isBillingError(error, 'payment_action_required')) return error
    if (isBillingError(error, 'payment_failed')) return isUnpaid ? error : null
    throw error
  }
}
