import {
  findCountryName,
  type JurisdictionTax,
  type TaxJurisdiction,
} from '../catalog/tax-by-address.ts'
import { NONTAXABLE_TAX_CODE } from '../catalog/tax-codes.ts'
import { listCustomerTaxIds } from '../payments/tax-ids.ts'
import { createUnknownLocationFault, findTaxLocation } from '../payments/tax-location.ts'
import { createBlankRow } from '../state/blank.ts'
import type { CustomerRow, InvoiceRow, LineRow, TaxRateRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'

/**
 * The field `automatic_tax` of an invoice. Automatic tax computes the taxes of the invoice from the
 * customer's location and the product of each line.
 */

type AutomaticTax = InvoiceRow['automatic_tax']

export type TaxReason = NonNullable<NonNullable<LineRow['taxes']>[number]['taxability_reason']>

/** The tax rates of an invoice line, and the reason for them. */
export interface LineTaxAssessment {
  readonly rates: readonly TaxRateRow[]
  readonly reason: TaxReason
}

/**
 * Value of `automatic_tax` that all invoices without automatic tax share. It is never changed in
 * place.
 */
export const NO_AUTOMATIC_TAX: AutomaticTax = {
  disabled_reason: null,
  enabled: false,
  liability: null,
  provider: null,
  status: null,
}

export const AUTOMATIC_TAX: AutomaticTax = {
  ...NO_AUTOMATIC_TAX,
  enabled: true,
  liability: { type: 'self' },
  provider: 'stripe',
}

/** Reads the parameter `automatic_tax`. Returns `undefined` if the call does not send it. */
export function readAutomaticTaxParam(
  params: { readonly automatic_tax?: { enabled: boolean; liability?: { type: string } } },
  path = 'automatic_tax',
): boolean | undefined {
  const wanted = params.automatic_tax
  if (wanted?.liability && wanted.liability.type !== 'self') {
    throw createInvalidRequestFault(
      'The sandbox has only one account: use `self`.',
      `${path}[liability][type]`,
    )
  }
  return wanted?.enabled
}

export function applyAutomaticTax(
  invoice: InvoiceRow,
  params: Parameters<typeof readAutomaticTaxParam>[0],
): void {
  const wanted = readAutomaticTaxParam(params)
  if (wanted !== undefined) invoice.automatic_tax = wanted ? AUTOMATIC_TAX : NO_AUTOMATIC_TAX
}

/** Rejects a call with manual tax rates, because they cannot be combined with automatic tax. */
export function rejectManualTaxRates(rates: ReadonlyArray<string>, param: string): void {
  if (rates.length === 0) return
  throw createInvalidRequestFault(
    `You cannot set \`${param}\` when \`automatic_tax[enabled]=true\`: tax rates are then worked out from the customer's location.`,
    param,
  )
}

/**
 * Returns a function that determines the automatic tax of each line of an invoice. Returns `null`
 * if automatic tax is off or the location of the customer is unknown; `automatic_tax.status` of the
 * invoice tells which.
 */
export function createLineAssessment(
  work: UnitOfWork,
  invoice: InvoiceRow,
): ((line: LineRow) => LineTaxAssessment) | null {
  if (!invoice.automatic_tax.enabled) return null
  const customer = work.find('customer', invoice.customer ?? '')
  const location = customer ? findTaxLocation(work, customer) : null
  const status = location ? 'complete' : 'requires_location_inputs'
  invoice.automatic_tax = { ...invoice.automatic_tax, status }
  if (!customer || !location) return null
  const { place } = location
  const relief = findExemption(work, customer, place)
  return (line) => {
    const inclusive = findTaxBehavior(work, line, invoice.currency) === 'inclusive'
    const reason =
      findLineTaxCode(work, line) === NONTAXABLE_TAX_CODE
        ? 'not_subject_to_tax'
        : (relief ?? (place.taxes.length === 0 ? 'not_collecting' : 'standard_rated'))
    if (reason === 'standard_rated') {
      const rates = place.taxes.map((tax) => findOrCreateTaxRate(work, place, tax, inclusive))
      return { rates, reason }
    }
    const type = place.taxes[0]?.type ?? (place.country === 'US' ? 'sales_tax' : 'vat')
    const none: JurisdictionTax = { type, percentage: 0, level: 'country' }
    return { rates: [findOrCreateTaxRate(work, place, none, inclusive)], reason }
  }
}

/**
 * Returns why a customer pays no tax, or `null`. As at Stripe, only the format of a tax id counts,
 * not its verification.
 */
function findExemption(
  work: UnitOfWork,
  customer: CustomerRow,
  place: TaxJurisdiction,
): TaxReason | null {
  if (customer.tax_exempt === 'exempt') return 'customer_exempt'
  if (customer.tax_exempt === 'reverse') return 'reverse_charge'
  const { reversedBy } = place
  if (reversedBy === null) return null
  return listCustomerTaxIds(work, customer).some(({ type }) => type === reversedBy)
    ? 'reverse_charge'
    : null
}

function findTaxBehavior(
  work: UnitOfWork,
  line: LineRow,
  currency: string,
): 'inclusive' | 'exclusive' {
  const price = work.find('price', line.$.price ?? '')
  const inCurrency =
    price && price.currency !== currency ? price.$?.currencyOptions?.[currency] : price
  const said = line.$.taxBehavior ?? inCurrency?.tax_behavior
  if (said === 'inclusive' || said === 'exclusive') return said
  // Stripe's setting "inferred by currency".
  return currency === 'usd' || currency === 'cad' ? 'exclusive' : 'inclusive'
}

function findLineTaxCode(work: UnitOfWork, line: LineRow): string | null {
  const product = work.find('product', line.$.product ?? '')
  return line.$.taxCode ?? (product?.tax_code as string | null | undefined) ?? null
}

const TITLES: Readonly<Record<JurisdictionTax['type'], string>> = {
  gst: 'GST',
  hst: 'HST',
  jct: 'JCT',
  pst: 'PST',
  qst: 'QST',
  rst: 'RST',
  sales_tax: 'Sales Tax',
  vat: 'VAT',
}

/**
 * Finds or creates Stripe's own rate for a place, which is archived and shared by all invoices. A
 * new rate is written to the table directly, not in the unit of work, because previews still refer
 * to it after they are rolled back.
 */
function findOrCreateTaxRate(
  work: UnitOfWork,
  place: TaxJurisdiction,
  { type, percentage, level }: JurisdictionTax,
  inclusive: boolean,
): TaxRateRow {
  const state = level === 'state' ? place.state : null
  const where = `${place.country}${state ?? ''}`
  const how = inclusive ? 'inclusive' : 'exclusive'
  const what = `${type.replace('_', '')}${String(percentage).replace('.', 'p')}`
  const id = `txr_1auto${where}${what}${how}`
  const known = work.find('tax_rate', id)
  if (known) return known
  const row: TaxRateRow = {
    ...createBlankRow('tax_rate'),
    id,
    active: false,
    country: place.country,
    created: work.now,
    description: null,
    display_name: TITLES[type],
    effective_percentage: percentage,
    inclusive,
    jurisdiction: state ?? findCountryName(place.country),
    jurisdiction_level: level,
    metadata: {},
    percentage,
    rate_type: 'percentage',
    state,
    tax_type: type,
  }
  work.tables.tax_rate.set(id, row)
  return row
}

/**
 * Handling of an invoice with automatic tax whose customer's location is unknown when the invoice
 * is finalized: the call is rejected, automatic tax is disabled, or the invoice is left unchanged.
 */
export type UnknownLocationHandling = 'refused' | 'disabled' | 'left'

/**
 * Handles an invoice with automatic tax whose customer has no known location, as `handling` says.
 * `disabled` also disables automatic tax of the invoice's subscription. API calls use `refused`,
 * scheduled work uses `disabled`, and Checkout's calculation of amounts uses `left`.
 * @throws {StripeFault} If `handling` is `refused`.
 */
export function handleUnknownLocation(
  work: UnitOfWork,
  invoice: InvoiceRow,
  handling: UnknownLocationHandling,
): void {
  if (invoice.automatic_tax.status !== 'requires_location_inputs' || handling === 'left') return
  if (handling === 'refused') throw createUnknownLocationFault()
  invoice.automatic_tax = {
    ...NO_AUTOMATIC_TAX,
    disabled_reason: 'finalization_requires_location_inputs',
  }
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  if (!subscription) return
  work.edit('subscription', subscription).automatic_tax = {
    disabled_reason: 'requires_location_inputs',
    enabled: false,
    liability: null,
  }
}
