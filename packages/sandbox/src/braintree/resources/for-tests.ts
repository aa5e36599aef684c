import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import { defineModification } from '../catalog/control-panel.ts'
import { freshId, requireDefaultMerchantAccount } from '../state/context.ts'
import { amountOfNextCycle } from '../state/cycle-amount.ts'
import { isOver } from '../state/subscription-status.ts'
import { subscriptionXml } from '../state/subscription-xml.ts'
import { makePastDue } from '../subscriptions/billing-cycle.ts'
import { ErrorCollector, NotFound, Refused, refuse } from '../wire/errors.ts'
import { Fields, isId, permitted, readAmount } from '../wire/validation.ts'
import { modificationXml } from './plans.ts'

const PATH = ['modification']
const KEYS = permitted(
  'id kind name description amount plan_id number_of_billing_cycles never_expires',
)
const AMOUNT_CODES = { invalid: '92002', negative: '92002', 'too-large': '92023' }

/**
 * Add-ons and discounts, which the SDK can only list. Braintree's own test gateway has this URL;
 * it is for a sandbox in a process of its own, where the handle is out of reach.
 */
function createModification({ context, body }: Call): OperationResponse {
  const fields = new Fields(body).object('modification')
  fields.permit(KEYS)
  const errors = new ErrorCollector()
  const { modifications, plans } = context.tables
  const id = fields.text('id') ?? freshId(context, 4, (taken) => modifications.has(taken))
  if (!isId(id)) errors.add(PATH, 'id', '81906')
  else if (modifications.has(id)) errors.add(PATH, 'id', '81902')
  const kind = fields.text('kind')
  if (kind !== 'add_on' && kind !== 'discount') errors.add(PATH, 'kind', '91921')
  const { currency } = requireDefaultMerchantAccount(context)
  const rules = { path: PATH, attribute: 'amount', codes: AMOUNT_CODES, currency }
  const amount = readAmount(fields.value('amount') ?? '0', rules, errors)
  const cycles = fields.integer('number_of_billing_cycles')
  if (cycles !== null && !(cycles > 0)) errors.add(PATH, 'number_of_billing_cycles', '92019')
  const plan = plans.get(fields.text('plan_id') ?? '')
  if (!plan && !fields.isBlank('plan_id')) errors.add(PATH, 'plan_id', '91904')
  if ((kind !== 'add_on' && kind !== 'discount') || !errors.isEmpty) throw new Refused({ errors })
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
  return { root: 'modification', value: modificationXml(row), status: 201 }
}

/** A subscription that owes one cycle since so many days, as Braintree's own tests make them. */
function pastDue({ context, params, query }: Call): OperationResponse {
  const row = context.tables.subscriptions.get(params.id ?? '')
  if (!row) throw new NotFound('No such subscription')
  const days = Number(query.get('days_past_due') ?? 1)
  if (!Number.isInteger(days) || days < 1) throw new NotFound('No such number of days')
  if (isOver(row) || amountOfNextCycle(row) <= 0) refuse(['subscription'], 'base', '91921')
  makePastDue(context, row, days)
  return { root: 'subscription', value: subscriptionXml(context, row) }
}

/** Below `/subscriptions`. */
export const pastDueForTests: Operations = {
  'PUT /:id/make_past_due': pastDue,
}

export const modificationsForTests: Operations = {
  'POST /create_modification_for_tests': createModification,
}
