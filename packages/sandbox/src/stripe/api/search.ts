import type { Table } from '../../core/store/table.ts'
import { invalidRequest } from '../wire/errors.ts'
import { fieldReader, ownField } from '../wire/fields.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { ListResponse } from './lists.ts'
import { type FieldType, findSearchField } from './search-fields.ts'

const MOST_CLAUSES = 10

interface Clause {
  /** Where the value stands in the object. */
  readonly path: string
  readonly key: string | null
  readonly operator: ':' | '~' | '>' | '<' | '>=' | '<='
  readonly value: string | null
  readonly negated: boolean
}

/** Within one kind of quotes the other is a letter like any; a backslash takes the next as it is. */
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
 * Answers in Stripe's query language: `email:"a@b.c" AND metadata["k"]:"v" AND created>1`, or OR throughout. A field is
 * looked at in its column, so that only the rows of the page are read. Fields are searched as they stand in the rows.
 */
export function searchPage<R extends object>(
  table: Table<R>,
  params: SearchParams,
  url: string,
  { keep = () => true, toWire }: { keep?: (row: R) => boolean; toWire: (row: R) => WireObject },
): ListResponse {
  const { clauses, any } = parseQuery(params.query, resourceIn(url))
  const limit = params.limit ?? 10
  if (limit < 1 || limit > 100) {
    throw invalidRequest(
      'This value must be between 1 and 100.',
      'limit',
      'parameter_invalid_integer',
    )
  }
  const from = params.page === undefined ? 0 : Number(params.page)
  if (!Number.isInteger(from) || from < 0) throw invalidRequest('Invalid page.', 'page')
  const tests = clauses.map((clause) => placesOf(table, clause))
  const isHit = any
    ? (place: number) => tests.some((test) => test(place))
    : (place: number) => tests.every((test) => test(place))
  const { data, more } = takePage(table.newestAt(isHit).filter(keep), from, limit)
  return {
    object: 'search_result',
    data: data.map(toWire),
    has_more: more,
    next_page: more ? String(from + limit) : null,
    url,
  }
}

function takePage<R>(rows: Iterable<R>, from: number, limit: number): { data: R[]; more: boolean } {
  const data: R[] = []
  let at = 0
  for (const row of rows) {
    if (data.length === limit) return { data, more: true }
    if (at++ >= from) data.push(row)
  }
  return { data, more: false }
}

/** `/v1/products/search` → `products` */
function resourceIn(url: string): string {
  return url.split('/').at(-2) ?? ''
}

function parseQuery(query: string, resource: string): { clauses: Clause[]; any: boolean } {
  const clauses: Clause[] = []
  let joiner: string | null = null
  let rest = query.trim()
  while (rest !== '') {
    const match = CLAUSE.exec(rest)
    if (!match) throw invalidRequest(`We were unable to parse your search query: ${query}`, 'query')
    const [whole, minus, field = '', ...parts] = match
    const key = textIn(parts[0], parts[1])
    const operator = (parts[2] ?? ':') as Clause['operator']
    const bare = parts[5] === 'null' ? null : (parts[5] ?? '')
    const value = textIn(parts[3], parts[4]) ?? bare
    const path = readField(resource, field, { key, operator, value })
    clauses.push({ negated: minus === '-', path, key, operator, value })
    rest = rest.slice(whole.length).trim()
    if (rest === '') break
    const next = /^(AND|OR)\s+/i.exec(rest)
    const word = next?.[1]?.toUpperCase() ?? 'AND'
    if (joiner !== null && joiner !== word) {
      throw invalidRequest('You cannot combine AND and OR in the same search query.', 'query')
    }
    joiner = word
    if (next) rest = rest.slice(next[0].length)
  }
  if (clauses.length === 0) throw invalidRequest('Your search query is empty.', 'query')
  if (clauses.length > MOST_CLAUSES) {
    throw invalidRequest(
      `You can combine up to ${MOST_CLAUSES} query clauses in a search.`,
      'query',
    )
  }
  return { clauses, any: joiner === 'OR' }
}

/** What stands in one of two kinds of quotes; null where there are none. */
function textIn(double: string | undefined, single: string | undefined): string | null {
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
    throw invalidRequest(
      `Field \`${name}\` is an unsupported search field for resource \`${resource}\`. See https://docs.stripe.com/search#query-fields-for-${anchor} for a list of supported fields.`,
      'query',
    )
  }
  if (!OPERATORS[field.type].includes(operator)) {
    throw invalidRequest(
      `Operator \`${operator}\` is not supported for field \`${name}\`.`,
      'query',
    )
  }
  const isComparable = value === null ? operator === ':' : /^-?\d+$/.test(value)
  if (field.type === 'numeric' && !isComparable) {
    throw invalidRequest(
      `Field \`${name}\` is numeric, and \`${value}\` cannot be compared with it by \`${operator}\`: use a whole number.`,
      'query',
    )
  }
  return field.path ?? name
}

/** Where the rows are that a clause matches. */
function placesOf<R extends object>(table: Table<R>, clause: Clause): (place: number) => boolean {
  const { path, key, negated } = clause
  const compare = comparison(clause)
  const column = table.columnBy(path, fieldReader(path))
  return column.where((value) => compare(key === null ? value : ownField(value, key)) !== negated)
}

function comparison({ operator, value: wanted }: Clause): (value: unknown) => boolean {
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
