import type braintree from 'braintree'
import { type Money, money } from '../../core/values/money.ts'
import { computeRemainingMoney } from '../../core/values/money-back.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import type { CalendarDay } from '../../providers/braintree/days.ts'
import { hasBraintreeSubscriptionEnded } from '../../providers/braintree/describe-subscription.ts'
import { findCustomer } from '../../providers/braintree/find-customer.ts'
import { parseSubscriptionId } from '../../providers/braintree/ids.ts'
import { listPeriodStarts } from '../../providers/braintree/period-starts.ts'
import {
  getModificationAmount as amountOfEach,
  computeCyclePrice,
  findReservedCredit,
  getBalanceWithoutDebt,
} from '../../providers/braintree/plan-credit.ts'
import { listCustomerSubscriptions } from '../customers/braintree.ts'
import {
  addUpSales,
  findSalePeriodStart,
  listPeriodSales,
  readKeptMoney,
  readPeriodMoney,
  readReturnedSum,
} from './braintree-period-money.ts'
import { getSaleAmount, readReturnedAmount } from './braintree-returned.ts'

type Subscription = braintree.Subscription
type Sale = braintree.Transaction

/**
 * Reads how much of a Braintree sale was returned to the customer in other ways than by refunds: as
 * credit from swaps, or in disputes.
 */
export async function readCreditedAmount(context: BraintreeContext, sale: Sale): Promise<Money> {
  const { gateway, currency } = context
  const start = findSalePeriodStart(sale)
  if (!sale.subscriptionId || start === null) return readDisputedAmount(context, sale)
  const subscription = await gateway.subscription.find(sale.subscriptionId)
  const left = await readRemainingPeriodAmount(context, subscription, { sale, start })
  return money(
    Math.max(0, getSaleAmount(sale) - (await readRefundedSaleAmount(context, sale)) - left),
    currency,
  )
}

/** Returns the disputed part of a sale without a subscription, which is never credited. */
async function readDisputedAmount(context: BraintreeContext, sale: Sale): Promise<Money> {
  const lost =
    (await readReturnedAmount(context, sale)) - (await readRefundedSaleAmount(context, sale))
  return money(lost, context.currency)
}

function readRefundedSaleAmount(context: BraintreeContext, sale: Sale): Promise<number> {
  return readReturnedAmount(context, { ...sale, disputes: [] } as Sale)
}

/** Returns how much of the price of a period can still be refunded or credited. */
async function readRemainingPeriodAmount(
  context: BraintreeContext,
  subscription: Subscription,
  { sale, start }: { readonly sale: Sale; readonly start: CalendarDay },
): Promise<number> {
  if (start === subscription.billingPeriodStartDate) {
    const period = await readPeriodMoney(context, subscription)
    const credit = hasBraintreeSubscriptionEnded(subscription)
      ? await readReplacementCredit(context, subscription, sale)
      : 0
    return computeRemainingMoney({ ...period, withheld: -credit })
  }
  const sales = listPeriodSales(subscription, start)
  const used = estimateUsedCredit(context, subscription, { start, sales })
  const returned = await readReturnedSum(context, sales)
  const left = computeRemainingMoney({ sold: addUpSales(sales), withheld: -used, returned })
  const kept = await readKeptMoney(context, subscription, sale.customer?.id ?? null)
  return Math.min(left, Math.max(0, kept))
}

/**
 * Returns the credit that the replacement got for the last period, without the credit that the old
 * subscription had already.
 */
async function readReplacementCredit(
  context: BraintreeContext,
  old: Subscription,
  { customer }: Sale,
): Promise<number> {
  const { currency, planCredit } = context
  const owner = customer?.id ? await findCustomer(context, customer.id) : null
  const { name, nameDigest } = parseSubscriptionId(old.id)
  const hasSameName = ({ id }: Subscription) => {
    const parts = parseSubscriptionId(id)
    const isUnknown = name === null && nameDigest === null
    return isUnknown || (parts.name === name && parts.nameDigest === nameDigest)
  }
  const given = ({ discounts = [] }: Subscription) =>
    discounts
      .filter(({ id }) => id === planCredit)
      .reduce((sum, each) => sum + amountOfEach(each, context), 0)
  // Braintree rounds to seconds: of two subscriptions created in the same second, the later one has
  // the credit.
  const isLater = (each: Subscription) =>
    each.createdAt > old.createdAt || (each.createdAt === old.createdAt && given(each) > 0)
  const next = (owner ? listCustomerSubscriptions(owner) : []).find(
    (each) => each.id !== old.id && hasSameName(each) && isLater(each),
  )
  const carried = findReservedCredit(old, context) - getBalanceWithoutDebt(old, currency)
  return next ? Math.max(0, given(next) - Math.max(0, carried)) : 0
}

/**
 * Estimates how much of a period's credit the later periods have used, because they were charged
 * less than their price. Braintree keeps no other record of it. If the plan has changed since, the
 * whole period counts as credited, unless the first charge for the new plan was at least as high.
 */
function estimateUsedCredit(
  context: BraintreeContext,
  subscription: Subscription,
  { start, sales }: { readonly start: CalendarDay; readonly sales: readonly Sale[] },
): number {
  const price = computeCyclePrice(subscription, context)
  const waiting = Math.max(0, -getBalanceWithoutDebt(subscription, context.currency))
  let used = 0
  for (const later of listPeriodStarts(subscription).filter((each) => each > start)) {
    const [first] = listPeriodSales(subscription, later)
    if (first && first.planId !== subscription.planId) {
      const isWhole = sales.every((sale) => getSaleAmount(first) >= getSaleAmount(sale))
      return isWhole ? used : addUpSales(sales)
    }
    if (first) return used + Math.max(0, price - getSaleAmount(first))
    used += price
  }
  return used + waiting
}
