import { copyJson } from '../../core/store/copy-json.ts'
import { isApprovedTransaction } from '../sales/charging.ts'
import { readDescriptor } from '../sales/descriptor.ts'
import { type BraintreeContext, readMerchantSettings } from '../state/context.ts'
import { countModificationCycle } from '../state/cycle-amount.ts'
import type { AppliedModification, SubscriptionRow } from '../state/rows/subscriptions.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { saveSubscription } from '../state/subscription-status.ts'
import { renderSubscriptionXml } from '../state/subscription-xml.ts'
import { renderTransactionXml } from '../state/transaction-xml.ts'
import { describeProcessorDecision, type ProcessorDecision } from '../vault/processor.ts'
import { ValidationRefused } from '../wire/errors.ts'
import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'
import { retryBalance } from './billing-cycle.ts'
import { applyModificationChanges } from './modifications.ts'
import { chargeProration, computeProratedDifference, notifyProration } from './proration.ts'
import {
  type PaymentSource,
  parseCycleLimit,
  readMerchantAccount,
  readPaymentSource,
  readPrice,
  readSubscriptionId,
} from './subscription-params.ts'

const KEYS = parsePermittedKeys(
  `add_ons descriptor discounts id merchant_account_id never_expires number_of_billing_cycles options
   payment_method_nonce payment_method_token plan_id price first_billing_date billing_day_of_month`,
)
const OPTION_KEYS = parsePermittedKeys(
  'prorate_charges replace_all_add_ons_and_discounts revert_subscription_on_proration_failure paypal',
)
/** Parameters that change the price. They are rejected while the subscription is past due. */
const PRICE_CHANGING = ['price', 'plan_id', 'number_of_billing_cycles', 'never_expires']

export function updateSubscription(
  context: BraintreeContext,
  rowBefore: SubscriptionRow,
  fields: RequestFields,
): SubscriptionRow {
  fields.permit(KEYS)
  const options = fields.object('options')
  options.permit(OPTION_KEYS)
  checkStatus(rowBefore, fields)
  const source = readPaymentSource(context, fields)
  if (source && source.customerId !== rowBefore.customerId)
    fields.addError('payment_method_token', '91905')
  const after = readChanges(context, rowBefore, fields)
  fields.throwIfAny()
  const prorates = options.flag('prorate_charges') ?? readMerchantSettings(context).prorate
  const changedMethod = switchMethod(after, source)
  const transaction = prorates ? prorateChange(context, rowBefore, after, options) : null
  replace(context, rowBefore, after)
  if (transaction) notifyProration(context, after, transaction)
  if (changedMethod && prorates && after.status === 'Past Due') retryBalance(context, after)
  return after
}

function checkStatus(row: SubscriptionRow, fields: RequestFields): void {
  if (row.status === 'Canceled') fields.refuse('base', '81901')
  if (row.status === 'Expired') fields.refuse('base', '81910')
  if (row.status !== 'Past Due') return
  if (PRICE_CHANGING.some((key) => fields.has(key))) fields.addError('base', '91920')
  const replaces = fields.object('options').flag('replace_all_add_ons_and_discounts') ?? false
  for (const key of ['add_ons', 'discounts']) {
    if (replaces || !fields.isBlank(key)) fields.object(key).addError('base', '92022')
  }
  fields.throwIfAny()
}

/** Returns the subscription after the changes. Nothing is stored or charged yet. */
function readChanges(
  context: BraintreeContext,
  before: SubscriptionRow,
  fields: RequestFields,
): SubscriptionRow {
  const after = copyJson(before)
  if (!fields.isBlank('first_billing_date')) fields.addError('first_billing_date', '91919')
  if (!fields.isBlank('billing_day_of_month')) fields.addError('billing_day_of_month', '91918')
  after.id = readSubscriptionId(context, fields, before.id) ?? before.id
  if (!fields.isBlank('merchant_account_id')) {
    const account = readMerchantAccount(context, fields)
    if (account) {
      after.merchantAccountId = account.id
      after.currency = account.currency
    }
  }
  if (fields.has('plan_id')) readPlan(context, after, fields)
  if (after.currency !== before.currency) fields.addError('merchant_account_id', '91923')
  after.price = readPrice(fields, after.currency) ?? before.price
  Object.assign(after, parseCycleLimit(fields, before))
  after.descriptor = readDescriptor(fields) ?? before.descriptor
  const paypal = fields.object('options').object('paypal')
  after.description = paypal.text('description') ?? before.description
  const replaces = fields.object('options').flag('replace_all_add_ons_and_discounts') ?? false
  const changes = (kind: 'add_on' | 'discount', key: string, rows: SubscriptionRow['addOns']) =>
    applyModificationChanges(context, {
      fields: fields.object(key),
      kind,
      currency: after.currency,
      present: replaces ? [] : rows,
    })
  after.addOns = changes('add_on', 'add_ons', before.addOns)
  after.discounts = changes('discount', 'discounts', before.discounts)
  return after
}

/** Reads a new plan. Price, add-ons and dates stay the same; the billing frequency must match. */
function readPlan(context: BraintreeContext, after: SubscriptionRow, fields: RequestFields): void {
  const plan = context.tables.plans.get(fields.text('plan_id') ?? '')
  if (!plan) {
    fields.addError('plan_id', '91904')
    return
  }
  if (plan.billingFrequency !== after.billingFrequency) fields.addError('plan_id', '91922')
  if (plan.currency !== after.currency) fields.addError('plan_id', '91923')
  after.planId = plan.id
}

function switchMethod(after: SubscriptionRow, source: PaymentSource | null): boolean {
  if (!source) return false
  const { token } = source.take()
  if (token === after.paymentMethodToken) return false
  after.paymentMethodToken = token
  return true
}

/** Charges or credits the rest of the cycle. A decline may undo the whole update. */
function prorateChange(
  context: BraintreeContext,
  before: SubscriptionRow,
  rowAfter: SubscriptionRow,
  options: RequestFields,
): TransactionRow | null {
  if (before.status !== 'Active' || before.currentBillingCycle === 0) return null
  countModificationCycle(rowAfter, listCurrentModifications(before, rowAfter))
  const change = computeProratedDifference(context, before, rowAfter)
  const transaction = chargeProration(context, rowAfter, change)
  const reverts = options.flag('revert_subscription_on_proration_failure') ?? true
  if (!transaction || isApprovedTransaction(transaction) || !reverts) return transaction
  transaction.subscriptionId = before.id
  before.transactionIds.push(transaction.id)
  saveSubscription(context, before)
  throw createRevertedUpdateError(context, before, transaction)
}

/**
 * Returns the add-ons and discounts that apply to the current cycle: all except those that were
 * added by earlier updates and apply from the next cycle on.
 */
function listCurrentModifications(
  before: SubscriptionRow,
  after: SubscriptionRow,
): AppliedModification[] {
  const waiting = new Set<string>()
  for (const applied of [...before.addOns, ...before.discounts]) {
    if (applied.countedInCycle !== before.currentBillingCycle) waiting.add(applied.id)
  }
  return [...after.addOns, ...after.discounts].filter((applied) => !waiting.has(applied.id))
}

function createRevertedUpdateError(
  context: BraintreeContext,
  row: SubscriptionRow,
  transaction: TransactionRow,
): ValidationRefused {
  const { responseCode, gatewayRejectionReason } = transaction
  const status = transaction.status as ProcessorDecision['status']
  return new ValidationRefused({
    message: describeProcessorDecision({ status, responseCode, gatewayRejectionReason }),
    extras: {
      transaction: renderTransactionXml(transaction),
      subscription: renderSubscriptionXml(context, row),
    },
  })
}

/** Stores the updated subscription under its id, which the update may have changed. */
function replace(context: BraintreeContext, before: SubscriptionRow, after: SubscriptionRow): void {
  if (after.id !== before.id) {
    context.tables.subscriptions.delete(before.id)
    for (const id of after.transactionIds) {
      const transaction = context.tables.transactions.get(id)
      if (!transaction) continue
      transaction.subscriptionId = after.id
      context.tables.transactions.set(id, transaction)
    }
  }
  saveSubscription(context, after)
}
