import { NewestFirstRows } from '../../core/store/newest-first.ts'
import {
  createBelowOneFault,
  createInvalidRequestFault,
  createNoSuchObjectFault,
} from '../wire/errors.ts'
import type { WireObject } from '../wire/wire-object.ts'

export interface ListResponse {
  object: 'list' | 'search_result'
  data: WireObject[]
  has_more: boolean
  url: string
  [field: string]: unknown
}

interface PageParams {
  readonly limit?: number | undefined
  readonly starting_after?: string | undefined
  readonly ending_before?: string | undefined
}

/**
 * Returns one page of rows that are sorted newest first.
 * @throws {StripeFault} If `limit` or a cursor is invalid.
 */
export function listPage<R extends { id: string }>(
  rows: Iterable<R>,
  params: PageParams,
  url: string,
  toWire: (row: R) => WireObject,
): ListResponse {
  const limit = readLimit(params.limit)
  const { starting_after: after, ending_before: before } = params
  if (after !== undefined && before !== undefined) {
    throw createInvalidRequestFault('You cannot specify both starting_after and ending_before.')
  }
  const cursor = after ?? before
  const side = before === undefined ? 'after' : 'before'
  const wanted = cursor === undefined ? rows : listRowsBeyond(rows, cursor, side)
  if (wanted === null) {
    throw createNoSuchObjectFault(
      'object',
      cursor ?? '',
      side === 'after' ? 'starting_after' : 'ending_before',
    )
  }
  const { page, hasMore } = takePage(wanted, limit)
  if (side === 'before') page.reverse()
  const response: ListResponse = { object: 'list', data: page.map(toWire), has_more: hasMore, url }
  ROWS.set(response, rows)
  return response
}

/**
 * Takes `limit` rows after skipping the first `skipped`. `hasMore` tells whether more rows follow.
 */
export function takePage<R>(
  rows: Iterable<R>,
  limit: number,
  skipped = 0,
): { page: R[]; hasMore: boolean } {
  const page: R[] = []
  let at = 0
  for (const row of rows) {
    if (page.length === limit) return { page, hasMore: true }
    if (at++ >= skipped) page.push(row)
  }
  return { page, hasMore: false }
}

/** All rows of a list, by the response that contains one page of them. */
const ROWS = new WeakMap<object, Iterable<unknown>>()

/** Returns the number of rows on all pages of a list. */
export function countAllRows(list: object): number {
  let total = 0
  for (const _row of ROWS.get(list) ?? []) total++
  return total
}

function readLimit(limit: number | undefined): number {
  if (limit === undefined) return 10
  if (limit < 1) throw createBelowOneFault('limit')
  if (limit > 100) {
    throw createInvalidRequestFault(
      'This value must be less than or equal to 100.',
      'limit',
      'parameter_invalid_integer',
    )
  }
  return limit
}

/** Returns the rows beyond a cursor, nearest first. `null` if the cursor is not in the list. */
function listRowsBeyond<R extends { id: string }>(
  rows: Iterable<R>,
  cursor: string,
  side: 'after' | 'before',
): Iterable<R> | null {
  if (rows instanceof NewestFirstRows) return (rows as NewestFirstRows<R>)[side](cursor)
  const all = [...rows]
  const at = all.findIndex((row) => row.id === cursor)
  if (at < 0) return null
  return side === 'after' ? all.slice(at + 1) : all.slice(0, at).reverse()
}

export type NumberFilter = number | { gt?: number; gte?: number; lt?: number; lte?: number }

export function isInRange(value: number, range: NumberFilter | undefined): boolean {
  if (range === undefined) return true
  if (typeof range === 'number') return value === range
  return (
    (range.gt === undefined || value > range.gt) &&
    (range.gte === undefined || value >= range.gte) &&
    (range.lt === undefined || value < range.lt) &&
    (range.lte === undefined || value <= range.lte)
  )
}

/** Returns the rows that were created in a time range. */
export function filterByCreated<R extends { created: number }>(
  rows: Iterable<R>,
  range: NumberFilter | undefined,
): Iterable<R> {
  if (range === undefined) return rows
  return rows instanceof NewestFirstRows
    ? (rows as NewestFirstRows<R>).where('created', (created) => isInRange(Number(created), range))
    : filterRows(rows, ({ created }) => isInRange(created, range))
}

export function filterRows<R>(rows: Iterable<R>, keep: (row: R) => boolean): Iterable<R> {
  return rows instanceof NewestFirstRows
    ? (rows as NewestFirstRows<R>).filter(keep)
    : { [Symbol.iterator]: () => filtered(rows, keep) }
}

function* filtered<R>(rows: Iterable<R>, keep: (row: R) => boolean): Generator<R> {
  for (const row of rows) if (keep(row)) yield row
}
