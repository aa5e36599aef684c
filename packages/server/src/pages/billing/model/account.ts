import type {
  ActiveDiscount,
  BillableUser,
  CreditNote,
  EndReason,
  Invoice,
  InvoiceData,
  Money,
  PaymentActionRequired,
  PaymentFailed,
  PaymentMethod,
  ProviderName,
  Subscription,
  UpcomingInvoice,
} from '@tollgate/billing'
import { isBillingError, NoSubscription } from '@tollgate/billing'
import type { Context } from 'hono'
import type { Plan } from '../../../config/settings.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { userOf } from '../../parts/page-context.ts'
import { billingNow } from './dates.ts'
import { planOf } from './plans.ts'
import { hasCreditNotes } from './providers.ts'

/** The pages know one subscription for each person, under this name. */
export const SUBSCRIPTION = 'main'

/** What the signed-in person pays for. */
export interface Account {
  readonly billable: BillableUser
  readonly provider: ProviderName
  /** There is a customer at the provider. */
  readonly isCustomer: boolean
  /** All of that name, newest first; the first one counts. */
  readonly history: readonly Subscription[]
  /** Null when there is none, or it is over. */
  readonly running: Subscription | null
  /** Of `running`; null also when it is no longer offered. */
  readonly plan: Plan | null
  readonly now: Date
}

/** From our own rows alone. */
export async function readAccount(c: Context<AppEnv>): Promise<Account> {
  const { service } = c.get('page')
  const billable = await service.billing.user(Number(userOf(c).id))
  const all = await billable.subscriptions()
  const history = all.filter(({ name }) => name === SUBSCRIPTION)
  const [newest] = history
  const running = newest && !newest.ended() ? newest : null
  return {
    billable,
    provider: billable.provider,
    isCustomer: billable.providerId !== null,
    history,
    running,
    plan: running ? planOf(service.config.settings.plans, running) : null,
    now: billingNow(service),
  }
}

/** For what can only be done to a subscription that is not over. */
export function requireRunning({ running }: Account): Subscription {
  if (!running) throw new NoSubscription('There is no subscription to change')
  return running
}

/** Whether cancelling leaves no time: Braintree ends at once what is not paid for. */
export function endsAtOnce(subscription: Subscription): boolean {
  return subscription.provider === 'braintree' && subscription.pastDue()
}

/** What only the provider knows. Null is what it did not tell, because it is away. */
export interface ProviderView {
  readonly periodEndsAt: Date | null
  /** Why a payment is missing. */
  readonly unpaid: PaymentActionRequired | PaymentFailed | null
  /** What could be paid now, because payments failed; null when nothing is owed. */
  readonly owed: Money | null
  readonly invoices: readonly Invoice[] | null
  /** What took invoices back; none where the provider has no such documents. */
  readonly creditNotes: readonly CreditNote[] | null
  /** The next bill; null also where none comes. */
  readonly upcoming: UpcomingInvoice | null
  readonly discounts: readonly ActiveDiscount[] | null
  readonly methods: readonly PaymentMethod[] | null
  /** Of the last subscription, when it is over. */
  readonly endReason: EndReason | null
}

/** The provider can be chosen until the first payment. Billing has the last word when it is. */
export function mayChooseProvider({ running }: Account, { invoices }: ProviderView): boolean {
  if (running && !running.awaitsFirstPayment()) return false
  const isMoney = ({ paid, total, provider }: InvoiceData) =>
    // The open bill is that of the first payment, which is closed by choosing.
    total > 0 && (paid || !running || provider === 'braintree')
  return invoices?.every(({ data }) => !isMoney(data)) ?? false
}

/** A page without these is better than no page. */
export async function askProvider(account: Account): Promise<ProviderView> {
  const { billable, running, provider } = account
  const [last] = account.history
  const [periodEndsAt, unpaid, owed, documents, discounts, methods, endReason, upcoming] =
    await Promise.all([
      orNull(running ? running.periodEndsAt() : null),
      orNull(running ? unpaidReason(running) : null),
      orNull(running && isOwing(running) ? running.amountOwed() : null),
      Promise.all([
        orNull(billable.invoicesIncludingPending()),
        hasCreditNotes(provider) ? orNull(billable.creditNotes()) : [],
      ]),
      orNull(running ? running.discounts() : null),
      orNull(billable.paymentMethods()),
      orNull(last ? last.endReason() : null),
      orNull(running ? running.upcomingInvoice() : null),
    ])
  const isOwed = owed !== null && owed.amount > 0
  const [invoices, creditNotes] = documents
  return {
    periodEndsAt,
    unpaid,
    owed: isOwed ? owed : null,
    invoices,
    creditNotes,
    discounts,
    methods,
    endReason,
    upcoming,
  }
}

/** What the provider says; null while it cannot be asked. */
export async function orNull<T>(asked: Promise<T> | null): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (isBillingError(error, 'provider_unavailable')) return null
    throw error
  }
}

/** A later payment failed. A first one is begun anew, with another card or plan. */
function isOwing(subscription: Subscription): boolean {
  const isUnpaid = subscription.incomplete() && !subscription.awaitsFirstPayment()
  return subscription.pastDue() || isUnpaid
}

/**
 * Why the newest payment is missing; null when none is. Of one that runs, a change may wait for the customer; a change that was
 * declined has not happened, and nothing is missing.
 */
export async function unpaidReason(
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
