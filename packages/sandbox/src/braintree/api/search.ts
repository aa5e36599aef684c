import type { StoreTable } from '../../core/store/table.ts'
import { hashCardNumber } from '../state/card-numbers.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { CardDetails } from '../state/rows/vault.ts'
import { BadRequest, NotAuthorized } from '../wire/errors.ts'
import { formatAmount } from '../wire/money.ts'
import { isObject, RequestFields } from '../wire/validation.ts'
import { XmlCollection, XmlList, type XmlObject } from '../wire/xml.ts'
import type { BraintreeApiCall, BraintreeOperations, OperationResponse } from './operation.ts'

/**
 * A field by which records can be searched: how to read its value, and whether it is compared as
 * text, with a list of values, or as a range.
 */
export type SearchField<Row> =
  | { readonly text: (row: Row, context: BraintreeContext) => string | null }
  | { readonly anyText: (row: Row, context: BraintreeContext) => readonly string[] }
  | { readonly cards: (row: Row, context: BraintreeContext) => readonly CardDetails[] }
  | { readonly instant: (row: Row, context: BraintreeContext) => number | null }
  | { readonly number: (row: Row, context: BraintreeContext) => number | null }
  | { readonly money: (row: Row) => { minor: number; currency: string } }

export interface SearchFields<Row extends object> {
  /** Name of the root element in the XML of a page of records. */
  readonly root: string
  readonly itemName: string
  readonly table: (context: BraintreeContext) => StoreTable<Row>
  readonly xml: (context: BraintreeContext, row: Row) => XmlObject
  readonly fields: Readonly<Record<string, SearchField<Row>>>
  /** Restricts the search to the rows for which this function returns `true`. */
  readonly only?: (row: Row) => boolean
  /** Names of fields that Braintree can search by, but which are always empty in the sandbox. */
  readonly alwaysBlank?: ReadonlySet<string>
}

const PAGE_SIZE = 50

/**
 * Returns the two operations of a search: one finds the ids of the matching records, the other
 * returns a page of records by their ids.
 */
export function searchOperations<Row extends object>(
  searchFields: SearchFields<Row>,
): BraintreeOperations {
  return {
    'POST /advanced_search_ids': (call) => listMatchingIds(call, searchFields),
    'POST /advanced_search': (call) => searchPage(call, searchFields),
  }
}

/** Returns the ids of all records that match the search criteria, newest first. */
export function listMatchingIds<Row extends object>(
  call: BraintreeApiCall,
  searchFields: SearchFields<Row>,
): OperationResponse {
  const criteria = readCriteria(call, searchFields)
  const ids: string[] = []
  for (const [id, row] of searchFields.table(call.context).entries()) {
    if (searchFields.only?.(row) === false) continue
    if (criteria.every((matches) => matches(row))) ids.push(id)
  }
  ids.reverse()
  const value = { page_size: PAGE_SIZE, ids: new XmlList('item', ids) }
  return { root: 'search_results', value }
}

/**
 * Returns one page of search results: the records with the requested ids. Other criteria are
 * ignored. A record that no longer matches must still be returned, because the SDK waits for as
 * many records as it requested.
 */
export function searchPage<Row extends object>(
  call: BraintreeApiCall,
  searchFields: SearchFields<Row>,
): OperationResponse {
  const ids = new RequestFields(call.body).object('search').list('ids')
  const table = searchFields.table(call.context)
  const found: XmlObject[] = []
  for (const id of ids.slice(0, PAGE_SIZE)) {
    const row = table.get(String(id))
    if (row) found.push(searchFields.xml(call.context, row))
  }
  const paging = { current_page_number: 1, page_size: PAGE_SIZE, total_items: found.length }
  const value = new XmlCollection(paging, new XmlList(searchFields.itemName, found))
  return { root: searchFields.root, value }
}

type Matcher<Row> = (row: Row) => boolean

function readCriteria<Row extends object>(
  call: BraintreeApiCall,
  searchFields: SearchFields<Row>,
): Matcher<Row>[] {
  const search = new RequestFields(call.body).object('search')
  return Object.entries(search.values).map(([name, criterion]) => {
    if (name === 'ids') return matchIds(searchFields, call.context, criterion)
    const field = searchFields.fields[name]
    if (field) return toMatcher(field, criterion, call.context)
    if (searchFields.alwaysBlank?.has(name))
      return toMatcher({ text: () => null }, criterion, call.context)
    throw new NotAuthorized(`No search by ${name}`)
  })
}

function matchIds<Row extends object>(
  searchFields: SearchFields<Row>,
  context: BraintreeContext,
  criterion: unknown,
): Matcher<Row> {
  const table = searchFields.table(context)
  const rows = new Set(asList(criterion).map((id) => table.get(String(id))))
  return (row) => rows.has(row)
}

function toMatcher<Row>(
  field: SearchField<Row>,
  criterion: unknown,
  context: BraintreeContext,
): Matcher<Row> {
  if ('text' in field) {
    const matches = textMatcher(criterion)
    return (row) => matches(field.text(row, context))
  }
  if ('anyText' in field) {
    const matches = textMatcher(criterion)
    return (row) => field.anyText(row, context).some(matches)
  }
  if ('cards' in field) {
    const matches = numberMatcher(criterion)
    return (row) => field.cards(row, context).some(matches)
  }
  if ('money' in field) {
    const matches = rangeMatcher(criterion, parseSearchedAmount)
    return (row) => {
      const { minor, currency } = field.money(row)
      return matches(Number(formatAmount(minor, currency)))
    }
  }
  if ('instant' in field) {
    const matches = rangeMatcher(criterion, parseInstant)
    return (row) => {
      const instant = field.instant(row, context)
      return instant !== null && matches(toWholeSeconds(instant))
    }
  }
  const matches = rangeMatcher(criterion, Number)
  return (row) => {
    const number = field.number(row, context)
    return number !== null && matches(number)
  }
}

function textMatcher(criterion: unknown): (value: string | null) => boolean {
  if (!isObject(criterion)) {
    // The refund criterion is a single value; multiple-value criteria are lists.
    const wanted = new Set((Array.isArray(criterion) ? criterion : [criterion]).map(String))
    return (value) => value !== null && wanted.has(value)
  }
  const tests = Object.entries(criterion).map(([operator, operand]) => {
    const wanted = String(operand ?? '').toLowerCase()
    const test = TEXT_OPERATORS[operator]
    if (!test) throw new BadRequest(`No search operator ${operator}`)
    return (value: string | null) => test((value ?? '').toLowerCase(), wanted)
  })
  return (value) => tests.every((test) => test(value))
}

/**
 * Returns a function that matches card numbers. Compares a complete number by its stored
 * fingerprint, and a partial number by the visible digits.
 */
function numberMatcher(criterion: unknown): (card: CardDetails) => boolean {
  const { is, ...parts } = new RequestFields(isObject(criterion) ? criterion : { is: criterion })
    .values
  const matches = textMatcher(parts)
  const whole = is === undefined ? null : hashCardNumber(String(is))
  return (card) =>
    (whole === null || card.uniqueNumberIdentifier === whole || maskedNumber(card) === is) &&
    matches(maskedNumber(card))
}

function maskedNumber(card: CardDetails): string {
  return `${card.bin}******${card.last4}`
}

function parseSearchedAmount(text: string): number {
  const amount = Number(text)
  if (amount < 0) throw new BadRequest('An amount cannot be negative')
  return amount
}

const TEXT_OPERATORS: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
  is: (value, wanted) => value === wanted,
  is_not: (value, wanted) => value !== wanted,
  starts_with: (value, wanted) => value.startsWith(wanted),
  ends_with: (value, wanted) => value.endsWith(wanted),
  contains: (value, wanted) => value.includes(wanted),
}

function rangeMatcher(
  criterion: unknown,
  parse: (value: string) => number,
): (value: number) => boolean {
  const bounds = new RequestFields(criterion)
  const read = (key: string, otherwise: number) => {
    const text = bounds.text(key)
    if (text === null) return otherwise
    const number = parse(text)
    if (Number.isNaN(number)) throw new BadRequest(`${key} cannot be read`)
    return number
  }
  const exact = read('is', Number.NaN)
  const min = read('min', Number.NEGATIVE_INFINITY)
  const max = read('max', Number.POSITIVE_INFINITY)
  return (value) => (Number.isNaN(exact) ? value >= min && value <= max : value === exact)
}

/** Parses a time to milliseconds, rounded down to whole seconds. A time without a zone is UTC. */
function parseInstant(text: string): number {
  const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(text)
  return toWholeSeconds(Date.parse(zoneless ? `${text}Z` : text))
}

function toWholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadRequest('ids must be a list')
  return value
}
