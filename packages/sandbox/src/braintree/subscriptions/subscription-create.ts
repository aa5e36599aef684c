import { createDeclineError, isApprovedTransaction } from '../sales/charging.ts'
import { readDescriptor } from '../sales/descriptor.ts'
import { type BraintreeContext, createUnusedId, getCurrentDay } from '../state/context.ts'
import { notifySubscription } from '../state/notifications.ts'
import type { MerchantAccountRow } from '../state/rows/merchant.ts'
import type { AppliedModification, PlanRow, SubscriptionRow } from '../state/rows/subscriptions.ts'
import { setSubscriptionStatus } from '../state/subscription-status.ts'
import { addDaysTo } from '../wire/days.ts'
import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'
import { chargeBalance, startCycle } from './billing-cycle.ts'
import { applyModificationChanges, inheritModification } from './modifications.ts'
import {
  parseCycleLimit,
  readMerchantAccount,
  readPaymentSource,
  readPrice,
  readSubscriptionId,
} from './subscription-params.ts'
import { parseSubscriptionStart } from './subscription-start.ts'

const KEYS = parsePermittedKeys(
  `add_ons billing_day_of_month descriptor discounts first_billing_date id merchant_account_id
   never_expires number_of_billing_cycles options payment_method_nonce payment_method_token plan_id
   price trial_duration trial_duration_unit trial_period`,
)
const OPTION_KEYS = parsePermittedKeys(
  'do_not_inherit_add_ons_or_discounts start_immediately paypal',
)

/**
 * Creates a subscription and charges it, unless it starts later. If the charge is declined, the
 * subscription is not created.
 */
export function createSubscription(
  context: BraintreeContext,
  fields: RequestFields,
): SubscriptionRow {
  const { row, takeMethod } = readNewSubscription(context, fields)
  row.paymentMethodToken = takeMethod()
  if (row.firstBillingDate > getCurrentDay(context)) {
    setSubscriptionStatus(context, row, row.trialPeriod ? 'Active' : 'Pending', 'api')
    return row
  }
  startFirstCycle(context, row)
  return row
}

function startFirstCycle(context: BraintreeContext, row: SubscriptionRow): void {
  const secondBillingDate = row.nextBillingDate
  startCycle(row, row.firstBillingDate)
  if (secondBillingDate !== row.firstBillingDate) {
    row.nextBillingDate = secondBillingDate
    row.billingPeriodEnd = addDaysTo(secondBillingDate, -1)
  }
  const transaction = chargeBalance(context, row)
  if (transaction && !isApprovedTransaction(transaction)) {
    transaction.subscriptionId = null
    context.tables.transactions.set(transaction.id, transaction)
    throw createDeclineError(transaction)
  }
  row.paidThrough = row.billingPeriodEnd
  if (transaction) row.balance = 0
  setSubscriptionStatus(context, row, 'Active', 'api')
  if (transaction) {
    notifySubscription(context, 'subscription_charged_successfully', row)
    notifySubscription(context, 'subscription_went_active', row)
  } else notifySubscription(context, 'subscription_billing_skipped', row)
}

function readNewSubscription(
  context: BraintreeContext,
  fields: RequestFields,
): { row: SubscriptionRow; takeMethod: () => string } {
  fields.permit(KEYS)
  fields.object('options').permit(OPTION_KEYS)
  const { subscriptions } = context.tables
  const id = readSubscriptionId(context, fields, null)
  const source = readPaymentSource(context, fields)
  if (!source && fields.errors.isEmpty) fields.addError('payment_method_token', '91903')
  const account = readMerchantAccount(context, fields)
  const plan = readPlan(context, fields, account)
  if (!plan || !account) throw fields.refusal()
  const terms = readTerms(context, fields, plan)
  if (!source || !fields.errors.isEmpty) throw fields.refusal()
  const now = context.clock.nowMs()
  const row: SubscriptionRow = {
    ...terms,
    id: id ?? createUnusedId(context, 6, (taken) => subscriptions.has(taken)),
    planId: plan.id,
    currency: plan.currency,
    merchantAccountId: account.id,
    customerId: source.customerId,
    // Set once the payment method is in the vault.
    paymentMethodToken: '',
    status: 'Pending',
    balance: 0,
    billingFrequency: plan.billingFrequency,
    billingPeriodStart: null,
    billingPeriodEnd: null,
    paidThrough: null,
    currentBillingCycle: 0,
    failureCount: 0,
    pastDueSince: null,
    retriesMade: 0,
    retryOn: null,
    description: fields.object('options').object('paypal').text('description'),
    transactionIds: [],
    statusHistory: [],
    createdAt: now,
    updatedAt: now,
  }
  return { row, takeMethod: () => source.take().token }
}

function readPlan(
  context: BraintreeContext,
  fields: RequestFields,
  account: MerchantAccountRow | null,
): PlanRow | null {
  const plan = context.tables.plans.get(fields.text('plan_id') ?? '')
  if (!plan) fields.addError('plan_id', '91904')
  else if (account && plan.currency !== account.currency) fields.addError('plan_id', '91923')
  return plan ?? null
}

/** Reads price, dates, number of cycles, add-ons and discounts from the call or the plan. */
function readTerms(context: BraintreeContext, fields: RequestFields, plan: PlanRow) {
  const { numberOfBillingCycles } = plan
  const neverExpires = numberOfBillingCycles === null
  const ofPlan = { numberOfBillingCycles, neverExpires, currentBillingCycle: 0 }
  const start = parseSubscriptionStart(context, fields, plan)
  const { firstBillingDate, billingDayOfMonth } = start
  const descriptor = readDescriptor(fields) ?? { name: null, phone: null, url: null }
  return {
    price: readPrice(fields, plan.currency) ?? plan.price,
    ...parseCycleLimit(fields, ofPlan),
    ...readModifications(context, fields, plan),
    ...start.trial,
    firstBillingDate,
    billingDayOfMonth,
    nextBillingDate: start.secondBillingDate ?? firstBillingDate,
    descriptor,
  }
}

function readModifications(
  context: BraintreeContext,
  fields: RequestFields,
  plan: PlanRow,
): { addOns: AppliedModification[]; discounts: AppliedModification[] } {
  const inherits = !fields.object('options').flag('do_not_inherit_add_ons_or_discounts')
  const { currency } = plan
  const inherited = (ids: readonly string[]) =>
    (inherits ? ids : [])
      .map((id) => context.tables.modifications.get(id))
      .filter((row) => row !== undefined)
      .map(inheritModification)
  const changes = (kind: 'add_on' | 'discount', key: string, ids: readonly string[]) =>
    applyModificationChanges(context, {
      fields: fields.object(key),
      kind,
      currency,
      present: inherited(ids),
    })
  return {
    addOns: changes('add_on', 'add_ons', plan.addOnIds),
    discounts: changes('discount', 'discounts', plan.discountIds),
  }
}
