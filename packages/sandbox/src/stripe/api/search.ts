import type { StoreTable } from '../../core/store/table.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { createFieldReader, getOwnField } from '../wire/fields.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { splitWords } from '../wire/words.ts'
import { type ListResponse, takePage } from './lists.ts'

const MAX_CLAUSES = 10

interface Clause {
  /** Path of the field in the object. */
  readonly path: string
  readonly key: string | null
  readonly operator: ':' | '~' | '>' | '<' | '>=' | '<='
  readonly value: string | null
  readonly negated: boolean
}

/**
 * A quoted string. It may contain the other kind of quote, and a backslash escapes the next
 * character.
 */
const QUOTED = String.raw`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`
const CLAUSE = new RegExp(
  String.raw`^(-)?([a-z][a-z0-9_.]*)(?:\[(?:${QUOTED})\])?(:|~|>=|<=|>|<)(?:${QUOTED}|(null|-?\d+))`,
)

interface SearchParams {
  readonly query: string
  readonly limit?: number | undefined
  readonly page?: string | undefined
}

/**
 * Runs a search in Stripe's query language, such as `email:"a@b.c" AND metadata["k"]:"v" AND
 * created>1`. A query uses either AND or OR. Fields are compared by the columns of the table, so
 * that only the rows of the returned page are read.
 */
export function searchPage<R extends object>(
  table: StoreTable<R>,
  params: SearchParams,
  url: string,
  { keep = () => true, toWire }: { keep?: (row: R) => boolean; toWire: (row: R) => WireObject },
): ListResponse {
  const { clauses, any } = parseQuery(params.query, resourceIn(url))
  const limit = params.limit ?? 10
  if (limit < 1 || limit > 100) {
    throw createInvalidRequestFault(
      'This value must be between 1 and 100.',
      'limit',
      'parameter_invalid_integer',
    )
  }
  const from = params.page === undefined ? 0 : Number(params.page)
  if (!Number.isInteger(from) || from < 0) throw createInvalidRequestFault('Invalid page.', 'page')
  const tests = clauses.map((clause) => createPlaceFilter(table, clause))
  const isHit = any
    ? (place: number) => tests.some((test) => test(place))
    : (place: number) => tests.every((test) => test(place))
  const { page, hasMore } = takePage(table.newestAt(isHit).filter(keep), limit, from)
  return {
    object: 'search_result',
    data: page.map(toWire),
    has_more: hasMore,
    next_page: hasMore ? String(from + limit) : null,
    url,
  }
}

/** Returns the resource name: `/v1/products/search` → `products`. */
function resourceIn(url: string): string {
  return url.split('/').at(-2) ?? ''
}

function parseQuery(query: string, resource: string): { clauses: Clause[]; any: boolean } {
  const clauses: Clause[] = []
  let joiner: string | null = null
  let rest = query.trim()
  while (rest !== '') {
    const match = CLAUSE.exec(rest)
    if (!match)
      throw createInvalidRequestFault(
        `We were unable to parse your search query: ${query}`,
        'query',
      )
    const [whole, minus, field = '', ...parts] = match
    const key = readQuotedText(parts[0], parts[1])
    const operator = (parts[2] ?? ':') as Clause['operator']
    const bare = parts[5] === 'null' ? null : (parts[5] ?? '')
    const value = readQuotedText(parts[3], parts[4]) ?? bare
    const path = readField(resource, field, { key, operator, value })
    clauses.push({ negated: minus === '-', path, key, operator, value })
    rest = rest.slice(whole.length).trim()
    if (rest === '') break
    const next = /^(AND|OR)\s+/i.exec(rest)
    const word = next?.[1]?.toUpperCase() ?? 'AND'
    if (joiner !== null && joiner !== word) {
      throw createInvalidRequestFault(
        'You cannot combine AND and OR in the same search query.',
        'query',
      )
    }
    joiner = word
    if (next) rest = rest.slice(next[0].length)
  }
  if (clauses.length === 0) throw createInvalidRequestFault('Your search query is empty.', 'query')
  if (clauses.length > MAX_CLAUSES) {
    throw createInvalidRequestFault(
      `You can combine up to ${MAX_CLAUSES} query clauses in a search.`,
      'query',
    )
  }
  return { clauses, any: joiner === 'OR' }
}

/** Returns the text inside double or single quotes. `null` if the value is not quoted. */
function readQuotedText(double: string | undefined, single: string | undefined): string | null {
  return (double ?? single)?.replaceAll(/\\(.)/g, '$1') ?? null
}

const OPERATORS: Readonly<Record<FieldType, readonly Clause['operator'][]>> = {
  token: [':'],
  string: [':', '~'],
  numeric: [':', '>', '<', '>=', '<='],
}

function readField(
  resource: string,
  name: string,
  { key, operator, value }: Pick<Clause, 'key' | 'operator' | 'value'>,
): string {
  const field = findSearchField(resource, name)
  if (!field || (name === 'metadata') !== (key !== null)) {
    const anchor = resource.replaceAll('_', '')
    throw createInvalidRequestFault(
      `Field \`${name}\` is an unsupported search field for resource \`${resource}\`. See https://docs.stripe.com/search#query-fields-for-${anchor} for a list of supported fields.`,
      'query',
    )
  }
  if (!OPERATORS[field.type].includes(operator)) {
    throw createInvalidRequestFault(
      `Operator \`${operator}\` is not supported for field \`${name}\`.`,
      'query',
    )
  }
  const isComparable = value === null ? operator === ':' : /^-?\d+$/.test(value)
  if (field.type === 'numeric' && !isComparable) {
    throw createInvalidRequestFault(
      `Field \`${name}\` is numeric, and \`${value}\` cannot be compared with it by \`${operator}\`: use a whole number.`,
      'query',
    )
  }
  return field.path
}

/** Returns a filter for the places of rows that match a clause. */
function createPlaceFilter<R extends object>(
  table: StoreTable<R>,
  clause: Clause,
): (place: number) => boolean {
  const { path, key, negated } = clause
  const compare = createComparison(clause)
  const column = table.columnBy(path, createFieldReader(path))
  return column.where(
    (value) => compare(key === null ? value : getOwnField(value, key)) !== negated,
  )
}

function createComparison({ operator, value: wanted }: Clause): (value: unknown) => boolean {
  if (wanted === null) return (value) => value === null || value === undefined
  const [text, number] = [wanted.toLowerCase(), Number(wanted)]
  const compare = {
    '~': (value: unknown) => String(value).toLowerCase().includes(text),
    ':': (value: unknown) => String(value).toLowerCase() === text,
    '>': (value: unknown) => Number(value) > number,
    '<': (value: unknown) => Number(value) < number,
    '>=': (value: unknown) => Number(value) >= number,
    '<=': (value: unknown) => Number(value) <= number,
  }[operator]
  return (value) => value !== null && value !== undefined && compare(value)
}

/**
 * Type of a search field: tokens match exactly, strings also by substring, numbers also by
 * comparison.
 */
type FieldType = 'token' | 'string' | 'numeric'

interface SearchField {
  readonly type: FieldType
  /** Path of the field in the object. */
  readonly path: string
}

type Fields = Readonly<Record<string, SearchField>>

/**
 * Defines search fields by type. A field with another path in the object is written `name=path`.
 */
function fields(names: Partial<Record<FieldType, string>>): Fields {
  const all = Object.entries(names).flatMap(([type, text]) =>
    splitWords(text).map((word): [string, SearchField] => {
      const [name = '', path = name] = word.split('=')
      return [name, { type: type as FieldType, path }]
    }),
  )
  return Object.fromEntries(all)
}

/**
 * Card and bank fields of a charge: `payment_method_details.card.last4`,
 * `payment_method_details.sepa_debit.last4`.
 */
const METHOD_DETAILS_PATH = /^payment_method_details\.[a-z][a-z0-9_]*\.([a-z0-9_]+)$/
const METHOD_DETAILS_FIELDS = fields({
  token: 'brand fingerprint last4',
  numeric: 'exp_month exp_year',
})

/**
 * Search fields by resource, the last part of its URL.
 * https://docs.stripe.com/search#query-fields-for-charges and the following sections.
 */
const FIELDS: Readonly<Record<string, Fields>> = {
  charges: fields({
    token:
      'billing_details.address.postal_code currency customer disputed metadata refunded status',
    numeric: 'amount created',
  }),
  customers: fields({ token: 'metadata', string: 'email name phone', numeric: 'created' }),
  invoices: fields({
    token: `
      currency customer metadata number receipt_number status
      last_finalization_error_code=last_finalization_error.code
      last_finalization_error_type=last_finalization_error.type
      subscription=parent.subscription_details.subscription
    `,
    numeric: 'created total',
  }),
  payment_intents: fields({
    token: 'currency customer metadata status',
    numeric: 'amount created',
  }),
  prices: fields({ token: 'active currency lookup_key metadata product type' }),
  products: fields({ token: 'active metadata shippable', string: 'description name url' }),
  subscriptions: fields({ token: 'metadata status', numeric: 'canceled_at created' }),
}

/** Finds a search field. `undefined` if the resource cannot be searched by it. */
function findSearchField(resource: string, name: string): SearchField | undefined {
  const ofSource = resource === 'charges' ? METHOD_DETAILS_PATH.exec(name)?.[1] : undefined
  if (ofSource === undefined) return getOwnField(FIELDS[resource], name) as SearchField | undefined
  const field = getOwnField(METHOD_DETAILS_FIELDS, ofSource) as SearchField | undefined
  return field && { ...field, path: name }
}
