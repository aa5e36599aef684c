import {
  type BraintreeApiCall,
  type BraintreeOperations,
  type OperationResponse,
  requireRow,
} from '../api/operation.ts'
import { defineModification } from '../catalog/control-panel.ts'
import { createUnusedId, requireDefaultMerchantAccount } from '../state/context.ts'
import { computeNextCycleAmount } from '../state/cycle-amount.ts'
import { isCanceledOrExpired } from '../state/subscription-status.ts'
import { renderSubscriptionXml } from '../state/subscription-xml.ts'
import { makePastDue } from '../subscriptions/billing-cycle.ts'
import { NotFound, throwValidationError } from '../wire/errors.ts'
import { isValidId, parsePermittedKeys, RequestFields } from '../wire/validation.ts'
import { renderModificationXml } from './plans.ts'

const KEYS = parsePermittedKeys(
  'id kind name description amount plan_id number_of_billing_cycles never_expires',
)
const AMOUNT_CODES = { invalid: '92002', negative: '92002', 'too-large': '92023' }

/**
 * Creates an add-on or discount, which the SDK can only list. Braintree's own test gateway has this
 * URL. It is useful if the sandbox runs in another process, where the handle is not available.
 */
function createModification({ context, body }: BraintreeApiCall): OperationResponse {
  const fields = new RequestFields(body).object('modification')
  fields.permit(KEYS)
  const { modifications, plans } = context.tables
  const id = fields.text('id') ?? createUnusedId(context, 4, (taken) => modifications.has(taken))
  if (!isValidId(id)) fields.addError('id', '81906')
  else if (modifications.has(id)) fields.addError('id', '81902')
  const kind = fields.text('kind')
  if (kind !== 'add_on' && kind !== 'discount') fields.addError('kind', '91921')
  const { currency } = requireDefaultMerchantAccount(context)
  const amount = fields.amount('amount', { codes: AMOUNT_CODES, currency, otherwise: '0' })
  const cycles = fields.integer('number_of_billing_cycles')
  if (cycles !== null && !(cycles > 0)) fields.addError('number_of_billing_cycles', '92019')
  const plan = plans.get(fields.text('plan_id') ?? '')
  if (!plan && !fields.isBlank('plan_id')) fields.addError('plan_id', '91904')
  if ((kind !== 'add_on' && kind !== 'discount') || !fields.errors.isEmpty) throw fields.refusal()
  const row = defineModification(context, kind, {
    id,
    amount,
    name: fields.text('name') ?? id,
    ...(fields.isBlank('description') ? {} : { description: fields.text('description') ?? '' }),
    ...(cycles === null ? {} : { numberOfBillingCycles: cycles }),
  })
  if (plan) {
    const ids = kind === 'add_on' ? plan.addOnIds : plan.discountIds
    ids.push(row.id)
    plans.set(plan.id, plan)
  }
  return { root: 'modification', value: renderModificationXml(row), status: 201 }
}

/**
 * Makes a subscription past due by one billing cycle for a number of days, as Braintree's own tests
 * do.
 */
function pastDue({ context, params, query }: BraintreeApiCall): OperationResponse {
  const row = requireRow(context.tables.subscriptions, params.id)
  const days = Number(query.get('days_past_due') ?? 1)
  if (!Number.isInteger(days) || days < 1) throw new NotFound('No such number of days')
  if (isCanceledOrExpired(row) || computeNextCycleAmount(row) <= 0)
    throwValidationError(['subscription'], 'base', '91921')
  makePastDue(context, row, days)
  return { root: 'subscription', value: renderSubscriptionXml(context, row) }
}

/**
 * Operations of Braintree's test gateway below `/subscriptions`, which make a subscription past
 * due.
 */
export const pastDueTestOperations: BraintreeOperations = {
  'PUT /:id/make_past_due': pastDue,
}

export const modificationTestOperations: BraintreeOperations = {
  'POST /create_modification_for_tests': createModification,
}
