import {
  type BraintreeApiCall,
  type BraintreeOperations,
  type OperationResponse,
  requireRow,
} from '../api/operation.ts'
import {
  type BraintreeContext,
  createUnusedId,
  findMerchantAccount,
  requireDefaultMerchantAccount,
} from '../state/context.ts'
import type { ModificationRow, PlanRow } from '../state/rows/subscriptions.ts'
import { formatAmount } from '../wire/money.ts'
import { isValidId, parsePermittedKeys, RequestFields } from '../wire/validation.ts'
import { XmlList, type XmlObject } from '../wire/xml.ts'

const KEYS = parsePermittedKeys(
  `billing_day_of_month billing_frequency currency_iso_code description id merchant_id name
   number_of_billing_cycles price trial_duration trial_duration_unit trial_period`,
)
const PRICE_CODES = { invalid: '81904', negative: '81904', 'too-large': '81923' }

function listAllPlans({ context }: BraintreeApiCall): OperationResponse {
  const rows = [...context.tables.plans.values()]
  const value = new XmlList(
    'plan',
    rows.map((row) => toPlanXml(context, row)),
  )
  return { root: 'plans', value }
}

function find({ context, params }: BraintreeApiCall): OperationResponse {
  const row = requireRow(context.tables.plans, params.id)
  return { root: 'plan', value: toPlanXml(context, row) }
}

function create({ context, body }: BraintreeApiCall): OperationResponse {
  const now = context.clock.nowMs()
  const blank: PlanRow = {
    id: createUnusedId(context, 4, (id) => context.tables.plans.has(id)),
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
  const fields = new RequestFields(body).object('plan')
  if (fields.isBlank('price')) fields.addError('price', '81903')
  const row = readPlan(context, fields, blank)
  context.tables.plans.set(row.id, row)
  return { root: 'plan', value: toPlanXml(context, row), status: 201 }
}

function update({ context, body, params }: BraintreeApiCall): OperationResponse {
  const before = requireRow(context.tables.plans, params.id)
  const row = readPlan(context, new RequestFields(body).object('plan'), before)
  row.updatedAt = context.clock.nowMs()
  if (row.id !== before.id) context.tables.plans.delete(before.id)
  context.tables.plans.set(row.id, row)
  return { root: 'plan', value: toPlanXml(context, row) }
}

/**
 * Reads a plan. Braintree documents no error codes for plans, so the codes of a subscription's same
 * field are used.
 */
function readPlan(context: BraintreeContext, fields: RequestFields, planBefore: PlanRow): PlanRow {
  fields.permit(KEYS)
  const row = { ...planBefore }
  row.id = fields.text('id') ?? planBefore.id
  if (!isValidId(row.id)) fields.addError('id', '81906')
  else if (row.id !== planBefore.id && context.tables.plans.has(row.id))
    fields.addError('id', '81902')
  row.name = fields.text('name') ?? planBefore.name
  if (fields.has('description')) row.description = fields.text('description')
  row.currency = fields.text('currency_iso_code') ?? planBefore.currency
  if (!hasAccountFor(context, row.currency)) fields.addError('currency_iso_code', '91923')
  if (!fields.isBlank('price')) {
    row.price = fields.amount('price', { codes: PRICE_CODES, currency: row.currency })
  }
  readCycles(fields, row)
  fields.throwIfAny()
  return row
}

function readCycles(fields: RequestFields, row: PlanRow): void {
  row.billingFrequency = fields.integer('billing_frequency') ?? row.billingFrequency
  if (!(row.billingFrequency > 0)) fields.addError('billing_frequency', '91921')
  if (fields.has('number_of_billing_cycles')) {
    row.numberOfBillingCycles = fields.integer('number_of_billing_cycles')
    if (Number.isNaN(row.numberOfBillingCycles))
      fields.addError('number_of_billing_cycles', '91906')
    else if (row.numberOfBillingCycles !== null && row.numberOfBillingCycles < 1)
      fields.addError('number_of_billing_cycles', '91907')
  }
  if (fields.has('billing_day_of_month')) {
    const day = fields.integer('billing_day_of_month')
    if (day !== null && !(day === 31 || (day >= 1 && day <= 28)))
      fields.addError('billing_day_of_month', Number.isNaN(day) ? '91913' : '91914')
    row.billingDayOfMonth = day
  }
  row.trialPeriod = fields.flag('trial_period') ?? row.trialPeriod
  if (!row.trialPeriod) return
  row.trialDuration = fields.integer('trial_duration') ?? row.trialDuration
  const unit = fields.text('trial_duration_unit') ?? row.trialDurationUnit
  if (row.trialDuration === null) fields.addError('trial_duration', '81908')
  else if (!(row.trialDuration >= 0)) fields.addError('trial_duration', '81907')
  if (unit === 'day' || unit === 'month') row.trialDurationUnit = unit
  else fields.addError('trial_duration_unit', '81909')
}

function hasAccountFor(context: BraintreeContext, currency: string): boolean {
  if (findMerchantAccount(context, null)?.currency === currency) return true
  return [...context.tables.merchantAccounts.values()].some((row) => row.currency === currency)
}

export function toPlanXml(context: BraintreeContext, row: PlanRow): XmlObject {
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
  return new XmlList(name, rows.filter((row) => row !== undefined).map(renderModificationXml))
}

export function renderModificationXml(row: ModificationRow): XmlObject {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    description: row.description,
    amount: formatAmount(row.amount, row.currency),
    // The quantity exists only on add-ons and discounts of a subscription.
    quantity: null,
    current_billing_cycle: null,
    number_of_billing_cycles: row.numberOfBillingCycles,
    never_expires: row.neverExpires,
    created_at: new Date(row.createdAt),
    updated_at: new Date(row.updatedAt),
  }
}

function createModificationList(kind: ModificationRow['kind']): BraintreeOperations {
  return {
    'GET /': ({ context }) => {
      const rows = [...context.tables.modifications.values()].filter((row) => row.kind === kind)
      const value = new XmlList('modification', rows.map(renderModificationXml))
      return { root: `${kind}s`, value }
    },
  }
}

export const planOperations: BraintreeOperations = {
  'GET /': listAllPlans,
  'GET /:id': find,
  'POST /': create,
  // Braintree's own test gateway has this URL as well.
  'POST /create_plan_for_tests': create,
  'PUT /:id': update,
}

export const addOnOperations: BraintreeOperations = createModificationList('add_on')

export const discountOperations: BraintreeOperations = createModificationList('discount')
