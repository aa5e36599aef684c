import { copyJson } from '../../core/store/copy-json.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { AppliedModification, ModificationRow } from '../state/rows/subscriptions.ts'
import { getLargestAmount } from '../wire/money.ts'
import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'

type Kind = ModificationRow['kind']

const LISTS = parsePermittedKeys('add update remove')
const ADD_KEYS = parsePermittedKeys(
  'amount inherited_from_id never_expires number_of_billing_cycles quantity',
)
const UPDATE_KEYS = parsePermittedKeys(
  'amount existing_id never_expires number_of_billing_cycles quantity',
)
const AMOUNT_CODES = { invalid: '92002', negative: '92002', 'too-large': '92023' }

/**
 * Converts an add-on or discount of the control panel to the form in which a subscription inherits
 * it.
 */
export function inheritModification(row: ModificationRow): AppliedModification {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    amount: row.amount,
    quantity: 1,
    numberOfBillingCycles: row.numberOfBillingCycles,
    neverExpires: row.neverExpires,
    currentBillingCycle: 0,
    countedInCycle: null,
  }
}

export interface ModificationRequest {
  readonly fields: RequestFields
  readonly kind: Kind
  readonly currency: string
  /**
   * Add-ons or discounts that the subscription has before the change, or inherits from its plan.
   */
  readonly present: readonly AppliedModification[]
}

/**
 * Returns a subscription's add-ons or discounts after the changes `add`, `update` and `remove`.
 * Does not change its arguments.
 */
export function applyModificationChanges(
  context: BraintreeContext,
  request: ModificationRequest,
): AppliedModification[] {
  const { fields } = request
  fields.permit(LISTS)
  let applied = copyJson([...request.present])
  const updated = new Set<string>()
  for (const item of fields.objects('update')) {
    const id = updateOne(context, item, request, applied)
    if (id !== null) updated.add(id)
  }
  for (const [i, item] of fields.list('remove').entries()) {
    const id = String(item)
    const code = findRemovalFault(context, id, request, { applied, updated })
    if (code) fields.at(...fields.path, 'remove', `index_${i}`).addError('base', code)
    else applied = applied.filter((row) => row.id !== id)
  }
  for (const item of fields.objects('add')) {
    const added = addOne(context, item, request)
    if (!added) continue
    if (!applied.some((row) => row.id === added.id)) applied.push(added)
    else fields.at('subscription').addError('base', '91911')
  }
  return applied
}

function addOne(
  context: BraintreeContext,
  fields: RequestFields,
  { kind, currency }: ModificationRequest,
): AppliedModification | null {
  fields.permit(ADD_KEYS)
  const id = fields.text('inherited_from_id')
  const row = context.tables.modifications.get(id ?? '')
  if (row?.kind !== kind) {
    fields.addError('inherited_from_id', id === null ? '92014' : '92013')
    return null
  }
  const applied = inheritModification(row)
  readTerms(fields, applied, currency)
  return applied
}

function updateOne(
  context: BraintreeContext,
  fields: RequestFields,
  { kind, currency }: ModificationRequest,
  appliedModifications: readonly AppliedModification[],
): string | null {
  fields.permit(UPDATE_KEYS)
  const id = fields.text('existing_id')
  if (id === null) {
    fields.addError('existing_id', '92012')
    return null
  }
  const applied = appliedModifications.find((row) => row.id === id)
  if (!applied) {
    const known = context.tables.modifications.get(id)?.kind
    fields.addError('existing_id', known && known !== kind ? '92020' : '92011')
    return null
  }
  readTerms(fields, applied, currency)
  return id
}

/** Returns the error code of an invalid removal. */
function findRemovalFault(
  context: BraintreeContext,
  id: string,
  { kind }: ModificationRequest,
  { applied, updated }: { applied: AppliedModification[]; updated: ReadonlySet<string> },
): string | null {
  const row = context.tables.modifications.get(id)
  if (!row) return '92025'
  if (row.kind !== kind) return '92021'
  if (updated.has(id)) return '92015'
  return applied.some((each) => each.id === id) ? null : '92016'
}

/** Reads amount, quantity and number of billing cycles. */
function readTerms(fields: RequestFields, applied: AppliedModification, currency: string): void {
  if (fields.has('amount')) {
    if (fields.isBlank('amount')) fields.addError('amount', '92003')
    else applied.amount = fields.amount('amount', { codes: AMOUNT_CODES, currency })
  }
  if (fields.has('quantity')) {
    const quantity = fields.integer('quantity')
    if (quantity === null) fields.addError('quantity', '92004')
    else if (!(quantity >= 0)) fields.addError('quantity', '92001')
    else if (quantity === 0) fields.addError('quantity', '92010')
    else applied.quantity = quantity
  }
  if (applied.amount * applied.quantity > getLargestAmount(currency))
    fields.addError('amount', '92023')
  readDuration(fields, applied)
}

function readDuration(fields: RequestFields, applied: AppliedModification): void {
  const neverExpires = fields.flag('never_expires')
  const cycles = fields.integer('number_of_billing_cycles')
  if (cycles === null) {
    if (neverExpires === true) {
      applied.neverExpires = true
      applied.numberOfBillingCycles = null
    } else if (neverExpires === false && applied.numberOfBillingCycles === null) {
      fields.addError('number_of_billing_cycles', '92017')
    }
    return
  }
  if (neverExpires === true) fields.addError('number_of_billing_cycles', '92018')
  else if (Number.isNaN(cycles)) fields.addError('number_of_billing_cycles', '92005')
  else if (cycles < 1) fields.addError('number_of_billing_cycles', '92019')
  else {
    applied.neverExpires = false
    applied.numberOfBillingCycles = cycles
  }
}
