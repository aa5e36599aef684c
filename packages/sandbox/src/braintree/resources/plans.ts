import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import {
  type BraintreeContext,
  findMerchantAccount,
  freshId,
  requireDefaultMerchantAccount,
} from '../state/context.ts'
import type { ModificationRow, PlanRow } from '../state/rows/subscriptions.ts'
import { ErrorCollector, NotFound } from '../wire/errors.ts'
import { formatAmount } from '../wire/money.ts'
import { Fields, isId, permitted, readAmount } from '../wire/validation.ts'
import { XmlList, type XmlObject } from '../wire/xml.ts'

const PATH = ['plan']
const KEYS = permitted(
  `billing_day_of_month billing_frequency currency_iso_code description id merchant_id name
   number_of_billing_cycles price trial_duration trial_duration_unit trial_period`,
)
const PRICE_CODES = { invalid: '81904', negative: '81904', 'too-large': '81923' }

function all({ context }: Call): OperationResponse {
  const rows = [...context.tables.plans.values()]
  const value = new XmlList(
    'plan',
    rows.map((row) => planXml(context, row)),
  )
  return { root: 'plans', value }
}

function find({ context, params }: Call): OperationResponse {
  const row = context.tables.plans.get(params.id ?? '')
  if (!row) throw new NotFound('No such plan')
  return { root: 'plan', value: planXml(context, row) }
}

function create({ context, body }: Call): OperationResponse {
  const now = context.clock.nowMs()
  const blank: PlanRow = {
    id: freshId(context, 4, (id) => context.tables.plans.has(id)),
    name: '',
    description: null,
    price: 0,
    currency: requireDefaultMerchantAccount(context).currency,
    billingFrequency: 1,
    billingDayOfMonth: null,
    numberOfBillingCycles: null,
    trialPeriod: false,
    trialDuration: null,
    trialDurationUnit: null,
    addOnIds: [],
    discountIds: [],
    createdAt: now,
    updatedAt: now,
  }
  const fields = new Fields(body).object('plan')
  const errors = new ErrorCollector()
  if (fields.isBlank('price')) errors.add(PATH, 'price', '81903')
  const row = readPlan(context, fields, blank, errors)
  context.tables.plans.set(row.id, row)
  return { root: 'plan', value: planXml(context, row), status: 201 }
}

function update({ context, body, params }: Call): OperationResponse {
  const before = context.tables.plans.get(params.id ?? '')
  if (!before) throw new NotFound('No such plan')
  const row = readPlan(context, new Fields(body).object('plan'), before, new ErrorCollector())
  row.updatedAt = context.clock.nowMs()
  if (row.id !== before.id) context.tables.plans.delete(before.id)
  context.tables.plans.set(row.id, row)
  return { root: 'plan', value: planXml(context, row) }
}

/** Braintree publishes no codes for plans: those of the same field of a subscription stand in. */
function readPlan(
  context: BraintreeContext,
  fields: Fields,
  before: PlanRow,
  errors: ErrorCollector,
): PlanRow {
  fields.permit(KEYS)
  const row = { ...before }
  row.id = fields.text('id') ?? before.id
  if (!isId(row.id)) errors.add(PATH, 'id', '81906')
  else if (row.id !== before.id && context.tables.plans.has(row.id)) errors.add(PATH, 'id', '81902')
  row.name = fields.text('name') ?? before.name
  if (fields.has('description')) row.description = fields.text('description')
  row.currency = fields.text('currency_iso_code') ?? before.currency
  if (!hasAccountFor(context, row.currency)) errors.add(PATH, 'currency_iso_code', '91923')
  if (!fields.isBlank('price')) {
    const rules = { path: PATH, attribute: 'price', codes: PRICE_CODES, currency: row.currency }
    row.price = readAmount(fields.value('price'), rules, errors)
  }
  readCycles(fields, row, errors)
  errors.throwIfAny()
  return row
}

function readCycles(fields: Fields, row: PlanRow, errors: ErrorCollector): void {
  row.billingFrequency = fields.integer('billing_frequency') ?? row.billingFrequency
  if (!(row.billingFrequency > 0)) errors.add(PATH, 'billing_frequency', '91921')
  if (fields.has('number_of_billing_cycles')) {
    row.numberOfBillingCycles = fields.integer('number_of_billing_cycles')
    if (Number.isNaN(row.numberOfBillingCycles))
      errors.add(PATH, 'number_of_billing_cycles', '91906')
    else if (row.numberOfBillingCycles !== null && row.numberOfBillingCycles < 1)
      errors.add(PATH, 'number_of_billing_cycles', '91907')
  }
  if (fields.has('billing_day_of_month')) {
    const day = fields.integer('billing_day_of_month')
    if (day !== null && !(day === 31 || (day >= 1 && day <= 28)))
      errors.add(PATH, 'billing_day_of_month', Number.isNaN(day) ? '91913' : '91914')
    row.billingDayOfMonth = day
  }
  row.trialPeriod = fields.flag('trial_period') ?? row.trialPeriod
  if (!row.trialPeriod) return
  row.trialDuration = fields.integer('trial_duration') ?? row.trialDuration
  const unit = fields.text('trial_duration_unit') ?? row.trialDurationUnit
  if (row.trialDuration === null) errors.add(PATH, 'trial_duration', '81908')
  else if (!(row.trialDuration >= 0)) errors.add(PATH, 'trial_duration', '81907')
  if (unit === 'day' || unit === 'month') row.trialDurationUnit = unit
  else errors.add(PATH, 'trial_duration_unit', '81909')
}

function hasAccountFor(context: BraintreeContext, currency: string): boolean {
  if (findMerchantAccount(context, null)?.currency === currency) return true
  return [...context.tables.merchantAccounts.values()].some((row) => row.currency === currency)
}

export function planXml(context: BraintreeContext, row: PlanRow): XmlObject {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    price: formatAmount(row.price, row.currency),
    currency_iso_code: row.currency,
    billing_frequency: row.billingFrequency,
    billing_day_of_month: row.billingDayOfMonth,
    number_of_billing_cycles: row.numberOfBillingCycles,
    trial_period: row.trialPeriod,
    trial_duration: row.trialDuration,
    trial_duration_unit: row.trialDurationUnit,
    add_ons: inheritedXml(context, 'add_on', row.addOnIds),
    discounts: inheritedXml(context, 'discount', row.discountIds),
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.updatedAt),
  }
}

function inheritedXml(
  context: BraintreeContext,
  name: 'add_on' | 'discount',
  ids: readonly string[],
): XmlList {
  const rows = ids.map((id) => context.tables.modifications.get(id))
  return new XmlList(name, rows.filter((row) => row !== undefined).map(modificationXml))
}

export function modificationXml(row: ModificationRow): XmlObject {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    description: row.description,
    amount: formatAmount(row.amount, row.currency),
    // Only what is attached to a subscription counts.
    quantity: null,
    current_billing_cycle: null,
    number_of_billing_cycles: row.numberOfBillingCycles,
    never_expires: row.neverExpires,
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.updatedAt),
  }
}

function listOf(kind: ModificationRow['kind']): Operations {
  return {
    'GET /': ({ context }) => {
      const rows = [...context.tables.modifications.values()].filter((row) => row.kind === kind)
      const value = new XmlList('modification', rows.map(modificationXml))
      return { root: `${kind}s`, value }
    },
  }
}

export const plans: Operations = {
  'GET /': all,
  'GET /:id': find,
  'POST /': create,
  // Braintree's own test gateway has this URL as well.
  'POST /create_plan_for_tests': create,
  'PUT /:id': update,
}

export const addOns: Operations = listOf('add_on')

export const discounts: Operations = listOf('discount')
