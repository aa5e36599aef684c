import {
  type BraintreeApiCall,
  type BraintreeOperations,
  type OperationResponse,
  requireRow,
} from '../api/operation.ts'
import { type SearchFields, searchOperations } from '../api/search.ts'
import { type BraintreeContext, getCurrentDay } from '../state/context.ts'
import type { SubscriptionRow } from '../state/rows/subscriptions.ts'
import { cancelSubscriptionRow } from '../state/subscription-status.ts'
import { renderSubscriptionXml } from '../state/subscription-xml.ts'
import { createSubscription } from '../subscriptions/subscription-create.ts'
import { updateSubscription } from '../subscriptions/subscription-update.ts'
import { countDaysBetween, startOfDay } from '../wire/days.ts'
import { throwValidationError } from '../wire/errors.ts'
import { RequestFields } from '../wire/validation.ts'
import { pastDueTestOperations } from './for-tests.ts'

function create({ context, body }: BraintreeApiCall): OperationResponse {
  const row = createSubscription(context, new RequestFields(body).object('subscription'))
  return respond(context, row, 201)
}

function find({ context, params }: BraintreeApiCall): OperationResponse {
  return respond(context, requireRow(context.tables.subscriptions, params.id))
}

function update({ context, params, body }: BraintreeApiCall): OperationResponse {
  const row = requireRow(context.tables.subscriptions, params.id)
  const after = updateSubscription(context, row, new RequestFields(body).object('subscription'))
  return respond(context, after)
}

/** Cancels a subscription immediately, without a refund for the rest of the cycle. */
function cancelNow({ context, params }: BraintreeApiCall): OperationResponse {
  const row = requireRow(context.tables.subscriptions, params.id)
  if (row.status === 'Canceled') throwValidationError(['subscription'], 'status', '81905')
  if (row.status === 'Expired') throwValidationError(['subscription'], 'base', '81910')
  cancelSubscriptionRow(context, row, 'api')
  return respond(context, row)
}

function respond(
  context: BraintreeContext,
  row: SubscriptionRow,
  status: 200 | 201 = 200,
): OperationResponse {
  return { root: 'subscription', value: renderSubscriptionXml(context, row), status }
}

function inTrial(row: SubscriptionRow): boolean {
  return row.trialPeriod && row.currentBillingCycle === 0 && row.status === 'Active'
}

const SEARCH: SearchFields<SubscriptionRow> = {
  root: 'subscriptions',
  itemName: 'subscription',
  table: (context) => context.tables.subscriptions,
  xml: renderSubscriptionXml,
  fields: {
    id: { text: (row) => row.id },
    plan_id: { text: (row) => row.planId },
    status: { text: (row) => row.status },
    merchant_account_id: { text: (row) => row.merchantAccountId },
    in_trial_period: { text: (row) => String(inTrial(row)) },
    transaction_id: { anyText: (row) => row.transactionIds },
    price: { money: (row) => ({ minor: row.price, currency: row.currency }) },
    days_past_due: {
      number: (row, context) =>
        row.pastDueSince === null
          ? null
          : countDaysBetween(row.pastDueSince, getCurrentDay(context)),
    },
    billing_cycles_remaining: {
      number: (row) =>
        row.numberOfBillingCycles === null
          ? null
          : row.numberOfBillingCycles - row.currentBillingCycle,
    },
    next_billing_date: { instant: (row) => startOfDay(row.nextBillingDate) },
    created_at: { instant: (row) => row.createdAt },
  },
}

export const subscriptionOperations: BraintreeOperations = {
  'POST /': create,
  'GET /:id': find,
  'PUT /:id': update,
  'PUT /:id/cancel': cancelNow,
  ...pastDueTestOperations,
  ...searchOperations(SEARCH),
}
