import { copyJson } from '../../core/store/copy-json.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { AppliedModification, ModificationRow } from '../state/rows/subscriptions.ts'
import type { ErrorCollector, ErrorPath } from '../wire/errors.ts'
import { largestAmount } from '../wire/money.ts'
import { Fields, permitted, readAmount } from '../wire/validation.ts'

type Kind = ModificationRow['kind']

const LISTS = permitted('add update remove')
const ADD_KEYS = permitted(
  'amount inherited_from_id never_expires number_of_billing_cycles quantity',
)
const UPDATE_KEYS = permitted('amount existing_id never_expires number_of_billing_cycles quantity')
const AMOUNT_CODES = { invalid: '92002', negative: '92002', 'too-large': '92023' }

/** The modification as the control panel has it, on a subscription that has not counted it yet. */
export function inherit(row: ModificationRow): AppliedModification {
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
  readonly fields: Fields
  readonly kind: Kind
  readonly currency: string
  /** Those the subscription has, or inherits from its plan. */
  readonly present: readonly AppliedModification[]
}

/** The add-ons or discounts after `add`, `update` and `remove`. Changes nothing it is given. */
export function applyChanges(
  context: BraintreeContext,
  request: ModificationRequest,
  errors: ErrorCollector,
): AppliedModification[] {
  const list = request.kind === 'add_on' ? 'add_ons' : 'discounts'
  const path = ['subscription', list]
  request.fields.permit(LISTS)
  let applied = copyJson([...request.present])
  const updated = new Set<string>()
  for (const [i, item] of request.fields.list('update').entries()) {
    const at = [...path, 'update', `index_${i}`]
    const id = updateOne(context, new Fields(item), { ...request, applied, path: at }, errors)
    if (id !== null) updated.add(id)
  }
  for (const [i, item] of request.fields.list('remove').entries()) {
    const at = [...path, 'remove', `index_${i}`]
    const id = String(item)
    if (checkRemoval(context, id, { ...request, applied, updated, path: at }, errors)) {
      applied = applied.filter((row) => row.id !== id)
    }
  }
  for (const [i, item] of request.fields.list('add').entries()) {
    const at = [...path, 'add', `index_${i}`]
    const added = addOne(context, new Fields(item), { ...request, path: at }, errors)
    if (!added) continue
    if (applied.some((row) => row.id === added.id)) errors.add(['subscription'], 'base', '91911')
    else applied.push(added)
  }
  return applied
}

interface Place {
  readonly kind: Kind
  readonly currency: string
  readonly path: ErrorPath
}

function addOne(
  context: BraintreeContext,
  fields: Fields,
  place: Place,
  errors: ErrorCollector,
): AppliedModification | null {
  fields.permit(ADD_KEYS)
  const id = fields.text('inherited_from_id')
  if (id === null) {
    errors.add(place.path, 'inherited_from_id', '92014')
    return null
  }
  const row = context.tables.modifications.get(id)
  if (row?.kind !== place.kind) {
    errors.add(place.path, 'inherited_from_id', '92013')
    return null
  }
  const applied = inherit(row)
  readTerms(fields, applied, place, errors)
  return applied
}

function updateOne(
  context: BraintreeContext,
  fields: Fields,
  place: Place & { applied: AppliedModification[] },
  errors: ErrorCollector,
): string | null {
  fields.permit(UPDATE_KEYS)
  const id = fields.text('existing_id')
  if (id === null) {
    errors.add(place.path, 'existing_id', '92012')
    return null
  }
  const applied = place.applied.find((row) => row.id === id)
  if (!applied) {
    const kind = context.tables.modifications.get(id)?.kind
    errors.add(place.path, 'existing_id', kind && kind !== place.kind ? '92020' : '92011')
    return null
  }
  readTerms(fields, applied, place, errors)
  return id
}

function checkRemoval(
  context: BraintreeContext,
  id: string,
  place: Place & { applied: AppliedModification[]; updated: ReadonlySet<string> },
  errors: ErrorCollector,
): boolean {
  const row = context.tables.modifications.get(id)
  const code = !row
    ? '92025'
    : row.kind !== place.kind
      ? '92021'
      : place.updated.has(id)
        ? '92015'
        : place.applied.some((applied) => applied.id === id)
          ? null
          : '92016'
  if (code) errors.add(place.path, 'base', code)
  return code === null
}

/** Amount, quantity and how long it lasts. */
function readTerms(
  fields: Fields,
  applied: AppliedModification,
  place: Place,
  errors: ErrorCollector,
): void {
  const { path, currency } = place
  if (fields.has('amount')) {
    const rules = { path, attribute: 'amount', codes: AMOUNT_CODES, currency }
    if (fields.isBlank('amount')) errors.add(path, 'amount', '92003')
    else applied.amount = readAmount(fields.value('amount'), rules, errors)
  }
  if (fields.has('quantity')) {
    const quantity = fields.integer('quantity')
    if (quantity === null) errors.add(path, 'quantity', '92004')
    else if (!(quantity >= 0)) errors.add(path, 'quantity', '92001')
    else if (quantity === 0) errors.add(path, 'quantity', '92010')
    else applied.quantity = quantity
  }
  if (applied.amount * applied.quantity > largestAmount(currency))
    errors.add(path, 'amount', '92023')
  readDuration(fields, applied, path, errors)
}

function readDuration(
  fields: Fields,
  applied: AppliedModification,
  path: ErrorPath,
  errors: ErrorCollector,
): void {
  const neverExpires = fields.flag('never_expires')
  const cycles = fields.integer('number_of_billing_cycles')
  if (cycles === null) {
    if (neverExpires === true) {
      applied.neverExpires = true
      applied.numberOfBillingCycles = null
    } else if (neverExpires === false && applied.numberOfBillingCycles === null) {
      errors.add(path, 'number_of_billing_cycles', '92017')
    }
    return
  }
  if (neverExpires === true) errors.add(path, 'number_of_billing_cycles', '92018')
  else if (Number.isNaN(cycles)) errors.add(path, 'number_of_billing_cycles', '92005')
  else if (cycles < 1) errors.add(path, 'number_of_billing_cycles', '92019')
  else {
    applied.neverExpires = false
    applied.numberOfBillingCycles = cycles
  }
}
