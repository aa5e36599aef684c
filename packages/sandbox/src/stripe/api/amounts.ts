import type { Kind } from '../state/rows.ts'
import type { Tables } from '../state/tables.ts'
import { checkThirdDecimal } from '../wire/money.ts'

/** Names of amounts, whole or with decimals. What is not for money is named otherwise. */
const AMOUNT = /^(?:balance|amount_off|amount_to_capture|(?:[a-z_]+_)?amount(?:_decimal)?)$/
/** Texts of the caller, by names of the caller. */
const NOT_OURS = new Set(['metadata', 'payload'])
/** Objects whose currency holds for a call that names none: the one of the path, or of such a parameter. */
const SUBJECTS = ['charge', 'payment_intent', 'invoice', 'customer'] as const
const KINDS: readonly Kind[] = [...SUBJECTS, 'invoiceitem', 'coupon', 'price']

/**
 * Refuses every amount of a call whose currency has three decimals and whose last one is not 0: card networks have two.
 * The currency stands beside an amount, above it, or is that of the object the call is about.
 */
export function checkAmounts(
  params: Readonly<Record<string, unknown>>,
  ids: readonly string[],
  tables: Tables,
): void {
  check(params, '', null, () =>
    currencyOf(tables, [...ids, ...SUBJECTS.map((name) => params[name])]),
  )
}

function check(
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
      if (NOT_OURS.has(name)) continue
      const isByCurrency = path.endsWith('currency_options') || path.endsWith('[currency_options]')
      check(each, param, isByCurrency ? name.toLowerCase() : inside, ofSubject)
    } else if (AMOUNT.test(name) && (typeof each === 'number' || typeof each === 'string')) {
      checkThirdDecimal(each, inside ?? ofSubject(), param)
    }
  }
}

function currencyOf(tables: Tables, ids: readonly unknown[]): string | null {
  for (const id of ids) {
    if (typeof id !== 'string') continue
    for (const kind of KINDS) {
      const row = tables[kind].get(id) as { readonly currency?: string | null } | undefined
      if (row?.currency) return row.currency
    }
  }
  return null
}
