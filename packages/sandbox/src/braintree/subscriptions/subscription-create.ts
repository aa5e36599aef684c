import { declined, wentThrough } from '../sales/charging.ts'
import { readDescriptor } from '../sales/descriptor.ts'
import { type BraintreeContext, freshId, today } from '../state/context.ts'
import { notifySubscription } from '../state/notifications.ts'
import type { MerchantAccountRow } from '../state/rows/merchant.ts'
import type { AppliedModification, PlanRow, SubscriptionRow } from '../state/rows/subscriptions.ts'
import { setSubscriptionStatus } from '../state/subscription-status.ts'
import { addDaysTo } from '../wire/days.ts'
import { ErrorCollector, Refused } from '../wire/errors.ts'
import { type Fields, permitted } from '../wire/validation.ts'
import { beginCycle, chargeBalance } from './billing-cycle.ts'
import { applyChanges, inherit } from './modifications.ts'
import {
  PATH,
  readCycles,
  readMerchantAccount,
  readPaymentSource,
  readPrice,
  readSubscriptionId,
} from './subscription-params.ts'
import { readStart } from './subscription-start.ts'

const KEYS = permitted(
  `add_ons billing_day_of_month descriptor discounts first_billing_date id merchant_account_id
   never_expires number_of_billing_cycles options payment_method_nonce payment_method_token plan_id
   price trial_duration trial_duration_unit trial_period`,
)
const OPTION_KEYS = permitted('do_not_inherit_add_ons_or_discounts start_immediately paypal')

/** A new subscription, charged at once unless it begins later. A decline leaves none behind. */
export function createSubscription(context: BraintreeContext, fields: Fields): SubscriptionRow {
  const { row, takeMethod } = readNewSubscription(context, fields)
  row.paymentMethodToken = takeMethod()
  if (row.firstBillingDate > today(context)) {
    setSubscriptionStatus(context, row, row.trialPeriod ? 'Active' : 'Pending', 'api')
    return row
  }
  beginFirstCycle(context, row)
  return row
}

function beginFirstCycle(context: BraintreeContext, row: SubscriptionRow): void {
  const secondBillingDate = row.nextBillingDate
  beginCycle(row, row.firstBillingDate)
  if (secondBillingDate !== row.firstBillingDate) {
    row.nextBillingDate = secondBillingDate
    row.billingPeriodEnd = addDaysTo(secondBillingDate, -1)
  }
  const transaction = chargeBalance(context, row)
  if (transaction && !wentThrough(transaction)) {
    transaction.subscriptionId = null
    context.tables.transactions.set(transaction.id, transaction)
    throw declined(context, transaction)
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
  fields: Fields,
): { row: SubscriptionRow; takeMethod: () => string } {
  fields.permit(KEYS)
  fields.object('options').permit(OPTION_KEYS)
  const errors = new ErrorCollector()
  const { subscriptions } = context.tables
  const id = readSubscriptionId(context, fields, null, errors)
  const source = readPaymentSource(context, fields, errors)
  if (!source && errors.isEmpty) errors.add(PATH, 'payment_method_token', '91903')
  const account = readMerchantAccount(context, fields, errors)
  const plan = readPlan(context, fields, account, errors)
  if (!plan || !account) throw new Refused({ errors })
  const terms = readTerms(context, fields, plan, errors)
  if (!source || !errors.isEmpty) throw new Refused({ errors })
  const row: SubscriptionRow = {
    ...blankSubscription(context),
    ...terms,
    id: id ?? freshId(context, 6, (taken) => subscriptions.has(taken)),
    planId: plan.id,
    currency: plan.currency,
    merchantAccountId: account.id,
    customerId: source.customerId,
    billingFrequency: plan.billingFrequency,
    description: fields.object('options').object('paypal').text('description'),
  }
  return { row, takeMethod: () => source.take().token }
}

function readPlan(
  context: BraintreeContext,
  fields: Fields,
  account: MerchantAccountRow | null,
  errors: ErrorCollector,
): PlanRow | null {
  const plan = context.tables.plans.get(fields.text('plan_id') ?? '')
  if (!plan) errors.add(PATH, 'plan_id', '91904')
  else if (account && plan.currency !== account.currency) errors.add(PATH, 'plan_id', '91923')
  return plan ?? null
}

/** Price, dates, length, add-ons and discounts: what the call says, or the plan. */
function readTerms(
  context: BraintreeContext,
  fields: Fields,
  plan: PlanRow,
  errors: ErrorCollector,
): Partial<SubscriptionRow> {
  const { numberOfBillingCycles } = plan
  const neverExpires = numberOfBillingCycles === null
  const ofPlan = { numberOfBillingCycles, neverExpires, currentBillingCycle: 0 }
  const start = readStart(context, fields, plan, errors)
  const { firstBillingDate, billingDayOfMonth } = start
  const descriptor = readDescriptor(fields, PATH, errors)
  return {
    price: readPrice(fields, plan.currency, errors) ?? plan.price,
    ...readCycles(fields, ofPlan, errors),
    ...readModifications(context, fields, plan, errors),
    ...start.trial,
    firstBillingDate,
    billingDayOfMonth,
    nextBillingDate: start.secondBillingDate ?? firstBillingDate,
    ...(descriptor ? { descriptor } : {}),
  }
}

function blankSubscription(context: BraintreeContext): SubscriptionRow {
  const now = context.clock.nowMs()
  return {
    id: '',
    planId: '',
    price: 0,
    currency: '',
    merchantAccountId: '',
    customerId: '',
    paymentMethodToken: '',
    status: 'Pending',
    balance: 0,
    billingFrequency: 1,
    billingDayOfMonth: 1,
    firstBillingDate: today(context),
    nextBillingDate: today(context),
    billingPeriodStart: null,
    billingPeriodEnd: null,
    paidThrough: null,
    currentBillingCycle: 0,
    numberOfBillingCycles: null,
    neverExpires: true,
    failureCount: 0,
    pastDueSince: null,
    retriesMade: 0,
    retryOn: null,
    trialPeriod: false,
    trialDuration: null,
    trialDurationUnit: null,
    addOns: [],
    discounts: [],
    descriptor: { name: null, phone: null, url: null },
    description: null,
    transactionIds: [],
    statusHistory: [],
    createdAt: now,
    updatedAt: now,
  }
}

function readModifications(
  context: BraintreeContext,
  fields: Fields,
  plan: PlanRow,
  errors: ErrorCollector,
): { addOns: AppliedModification[]; discounts: AppliedModification[] } {
  const inherits = !fields.object('options').flag('do_not_inherit_add_ons_or_discounts')
  const { currency } = plan
  const inherited = (ids: readonly string[]) =>
    (inherits ? ids : [])
      .map((id) => context.tables.modifications.get(id))
      .filter((row) => row !== undefined)
      .map(inherit)
  const changes = (kind: 'add_on' | 'discount', key: string, ids: readonly string[]) =>
    applyChanges(
      context,
      { fields: fields.object(key), kind, currency, present: inherited(ids) },
      errors,
    )
  return {
    addOns: changes('add_on', 'add_ons', plan.addOnIds),
    discounts: changes('discount', 'discounts', plan.discountIds),
  }
}
