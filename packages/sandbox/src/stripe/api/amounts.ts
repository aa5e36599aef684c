import type { RowKind } from '../state/rows.ts'
import type { StripeTables } from '../state/tables.ts'
import { checkThirdDecimal } from '../wire/money.ts'

/**
 * Parameters that hold amounts of money, as integers or decimals. Other numbers have other names.
 */
const AMOUNT = /^(?:balance|amount_off|amount_to_capture|(?:[a-z_]+_)?amount(?:_decimal)?)$/
/** Parameters whose contents are free text under keys chosen by the caller. */
const FREE_TEXT = new Set(['metadata', 'payload'])
/**
 * Objects that determine the currency if a call names none: the one in the path, or in one of these
 * parameters.
 */
const SUBJECTS = ['charge', 'payment_intent', 'invoice', 'customer'] as const
const KINDS: readonly RowKind[] = [...SUBJECTS, 'invoiceitem', 'coupon', 'price']

/**
 * Rejects amounts with a non-zero third decimal in three-decimal currencies, because card networks
 * support only two decimals. The currency is found beside the amount, in an enclosing object, or on
 * the object that the call changes.
 */
export function checkAmounts(
  params: Readonly<Record<string, unknown>>,
  ids: readonly string[],
  tables: StripeTables,
): void {
  checkNestedAmounts(params, '', null, () =>
    currencyOf(tables, [...ids, ...SUBJECTS.map((name) => params[name])]),
  )
}

function checkNestedAmounts(
  value: object,
  path: string,
  scope: string | null,
  ofSubject: () => string | null,
): void {
  const { currency, minimum_amount_currency: least } = value as Record<string, unknown>
  const own = [currency, least].find((each) => typeof each === 'string') as string | undefined
  const inside = own?.toLowerCase() ?? scope
  for (const [name, each] of Object.entries(value)) {
    const param = path === '' ? name : `${path}[${name}]`
    if (typeof each === 'object' && each !== null) {
      if (FREE_TEXT.has(name)) continue
      const isByCurrency = path.endsWith('currency_options') || path.endsWith('[currency_options]')
      checkNestedAmounts(each, param, isByCurrency ? name.toLowerCase() : inside, ofSubject)
    } else if (AMOUNT.test(name) && (typeof each === 'number' || typeof each === 'string')) {
      checkThirdDecimal(each, inside ?? ofSubject(), param)
    }
  }
}

function currencyOf(tables: StripeTables, ids: readonly unknown[]): string | null {
  for (const id of ids) {
    if (typeof id !== 'string') continue
    for (const kind of KINDS) {
      const row = tables[kind].get(id) as { readonly currency?: string | null } | undefined
      if (row?.currency) return row.currency
    }
  }
  return null
}
