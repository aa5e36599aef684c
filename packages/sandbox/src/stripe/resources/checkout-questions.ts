import { addTaxId, type NewTaxId, verifyTaxId } from '../payments/tax-ids.ts'
import type { CheckoutSessionRow, CustomerRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createMissingParamFault } from '../wire/errors.ts'
import type { CheckoutParams } from './checkout-rules.ts'

/** Questions of a session apart from payment: custom fields, a tax id, the terms of service. */

type Field = CheckoutSessionRow['custom_fields'][number]
type FieldParams = NonNullable<CheckoutParams['custom_fields']>[number]

export interface CheckoutAnswers {
  /** The customer's answers to `custom_fields`, by the `key` of the field. */
  readonly fields?: Readonly<Record<string, string>>
  readonly taxId?: { readonly type: string; readonly value: string }
  /**
   * Whether the customer ticked the checkbox for the terms. `undefined` if the form was not
   * submitted by a page.
   */
  readonly acceptsTerms?: boolean
}

export function parseCheckoutQuestions(
  params: CheckoutParams,
): Pick<CheckoutSessionRow, 'custom_fields' | 'consent_collection' | 'tax_id_collection'> {
  return {
    custom_fields: readFields(params.custom_fields ?? []),
    consent_collection: readConsent(params),
    ...(params.tax_id_collection ? { tax_id_collection: readTaxIds(params) } : {}),
  }
}

function readFields(params: readonly FieldParams[]): Field[] {
  if (params.length > 3)
    throw createInvalidRequestFault('You may pass up to 3 fields.', 'custom_fields')
  return params.map((field, at) => {
    const path = `custom_fields[${at}]`
    if (!/^[A-Za-z0-9]{1,200}$/.test(field.key)) {
      throw createInvalidRequestFault('A key has up to 200 letters and digits.', `${path}[key]`)
    }
    if (params.findIndex(({ key }) => key === field.key) !== at) {
      throw createInvalidRequestFault('Each field needs a key of its own.', `${path}[key]`)
    }
    const { key, label, optional = false, type } = field
    return { key, label: { ...label }, optional, type, ...readKind(field, path) }
  })
}

function readKind(field: FieldParams, path: string): Partial<Field> {
  if (field.type === 'dropdown') {
    const { dropdown } = field
    if (!dropdown || dropdown.options.length === 0)
      throw createMissingParamFault(`${path}[dropdown][options]`)
    const { default_value = null, options } = dropdown
    return {
      dropdown: { default_value, options: options.map((each) => ({ ...each })), value: null },
    }
  }
  const kind = field.type === 'numeric' ? 'numeric' : 'text'
  const { default_value = null, maximum_length = null, minimum_length = null } = field[kind] ?? {}
  return { [kind]: { default_value, maximum_length, minimum_length, value: null } }
}

function readConsent(params: CheckoutParams): CheckoutSessionRow['consent_collection'] {
  const wanted = params.consent_collection
  if (!wanted) return null
  return {
    payment_method_reuse_agreement: null,
    promotions: wanted.promotions ?? null,
    terms_of_service: wanted.terms_of_service ?? null,
  }
}

function readTaxIds(params: CheckoutParams): { enabled: boolean; required: 'never' } {
  const enabled = params.tax_id_collection?.enabled ?? false
  if (enabled && params.customer !== undefined && params.customer_update?.name !== 'auto') {
    throw createInvalidRequestFault(
      'Tax ID collection requires updating business name on the customer. To enable tax ID collection for an existing customer, please set `customer_update[name]` to `auto`.',
      'tax_id_collection[enabled]',
    )
  }
  return { enabled, required: 'never' }
}

/**
 * Stores a customer's answers to the additional fields of a checkout session.
 * @throws {StripeFault} If a required answer is missing or invalid.
 */
export function answerQuestions(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  customer: CustomerRow | null,
  answers: CheckoutAnswers,
): void {
  session.custom_fields = session.custom_fields.map((field) =>
    fillField(field, answers.fields?.[field.key]?.trim() || null),
  )
  if (session.consent_collection?.terms_of_service === 'required') {
    if (answers.acceptsTerms === false) {
      throw createInvalidRequestFault('Please accept the terms of service.', 'consent')
    }
    session.consent = { promotions: null, terms_of_service: 'accepted' }
  }
  const taxId = readEnteredTaxId(session, answers)
  if (!taxId) return
  if (customer) verifyTaxId(work, addTaxId(work, customer, taxId))
  const details = session.customer_details
  if (!details) return
  const tax_ids = [taxId as NonNullable<typeof details.tax_ids>[number]]
  session.customer_details = { ...details, tax_ids }
}

/**
 * Returns the tax id that the customer entered. `undefined` if the checkout session collects none,
 * or none was entered.
 */
export function readEnteredTaxId(
  session: CheckoutSessionRow,
  { taxId }: CheckoutAnswers,
): NewTaxId | undefined {
  if (!taxId || !session.tax_id_collection?.enabled) return undefined
  return taxId as NewTaxId
}

/** Sets the value of a field, or its default value if nothing was entered. */
function fillField(field: Field, typed: string | null): Field {
  const part = field.dropdown ?? field.numeric ?? field.text
  if (!part) return field
  const value = typed ?? part.default_value
  const name = field.label.custom ?? field.key
  if (value === null) {
    if (field.optional) return field
    throw createInvalidRequestFault(`Please fill in “${name}”.`, field.key)
  }
  const { dropdown, numeric } = field
  if (dropdown && !dropdown.options.some((option) => option.value === value)) {
    throw createInvalidRequestFault(`“${name}” is one of a list.`, field.key)
  }
  if (numeric && !/^\d+$/.test(value))
    throw createInvalidRequestFault(`“${name}” is a number.`, field.key)
  const { minimum_length: least = null, maximum_length: most = null } = numeric ?? field.text ?? {}
  if ((least !== null && value.length < least) || (most !== null && value.length > most)) {
    throw createInvalidRequestFault(`“${name}” is too short or too long.`, field.key)
  }
  if (dropdown) return { ...field, dropdown: { ...dropdown, value } }
  if (numeric) return { ...field, numeric: { ...numeric, value } }
  return field.text ? { ...field, text: { ...field.text, value } } : field
}
