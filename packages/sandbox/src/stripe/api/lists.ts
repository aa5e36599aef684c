import { NewestFirst } from '../../core/store/newest-first.ts'
import { invalidRequest, noSuch } from '../wire/errors.ts'
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

/** One page of rows that come newest first. */
export function listPage<R extends { id: string }>(
  rows: Iterable<R>,
  params: PageParams,
  url: string,
  toWire: (row: R) => WireObject,
): ListResponse {
  const limit = readLimit(params.limit)
  if (params.starting_after !== undefined && params.ending_before !== undefined) {
    throw invalidRequest('You cannot specify both starting_after and ending_before.')
  }
  const { page, hasMore } =
    params.ending_before === undefined
      ? pageAfter(rows, params.starting_after, limit)
      : pageBefore(rows, params.ending_before, limit)
  const response: ListResponse = {
    object: 'list',
    data: page.map(toWire),
    has_more: hasMore,
    url,
  }
  ROWS.set(response, rows)
  return response
}

/** What the pages were taken from. */
const ROWS = new WeakMap<object, Iterable<unknown>>()

/** How many rows there are on all pages of a list. */
export function totalOf(list: object): number {
  let total = 0
  for (const _row of ROWS.get(list) ?? []) total++
  return total
}

function readLimit(limit: number | undefined): number {
  if (limit === undefined) return 10
  if (limit < 1) {
    throw invalidRequest(
      'This value must be greater than or equal to 1.',
      'limit',
      'parameter_invalid_integer',
    )
  }
  if (limit > 100) {
    throw invalidRequest(
      'This value must be less than or equal to 100.',
      'limit',
      'parameter_invalid_integer',
    )
  }
  return limit
}

interface Page<R> {
  readonly page: R[]
  readonly hasMore: boolean
}

function pageAfter<R extends { id: string }>(
  rows: Iterable<R>,
  cursor: string | undefined,
  limit: number,
): Page<R> {
  const older = cursor === undefined ? rows : olderThan(rows, cursor)
  if (older === null) throw noSuch('object', cursor ?? '', 'starting_after')
  return takeFirst(older, limit)
}

function pageBefore<R extends { id: string }>(
  rows: Iterable<R>,
  cursor: string,
  limit: number,
): Page<R> {
  const newer = newerThan(rows, cursor)
  if (newer === null) throw noSuch('object', cursor, 'ending_before')
  const { page, hasMore } = takeFirst(newer, limit)
  return { page: page.reverse(), hasMore }
}

function takeFirst<R>(rows: Iterable<R>, limit: number): Page<R> {
  const page: R[] = []
  for (const row of rows) {
    if (page.length === limit) return { page, hasMore: true }
    page.push(row)
  }
  return { page, hasMore: false }
}

/** Null when the cursor is not in the list. */
function olderThan<R extends { id: string }>(
  rows: Iterable<R>,
  cursor: string,
): Iterable<R> | null {
  if (rows instanceof NewestFirst) return (rows as NewestFirst<R>).after(cursor)
  const all = [...rows]
  const at = all.findIndex((row) => row.id === cursor)
  return at < 0 ? null : all.slice(at + 1)
}

/** The nearest first; null when the cursor is not in the list. */
function newerThan<R extends { id: string }>(
  rows: Iterable<R>,
  cursor: string,
): Iterable<R> | null {
  if (rows instanceof NewestFirst) return (rows as NewestFirst<R>).before(cursor)
  const all = [...rows]
  const at = all.findIndex((row) => row.id === cursor)
  return at < 0 ? null : all.slice(0, at).reverse()
}

export type Range = number | { gt?: number; gte?: number; lt?: number; lte?: number }

export function inRange(value: number, range: Range | undefined): boolean {
  if (range === undefined) return true
  if (typeof range === 'number') return value === range
  return (
    (range.gt === undefined || value > range.gt) &&
    (range.gte === undefined || value >= range.gte) &&
    (range.lt === undefined || value < range.lt) &&
    (range.lte === undefined || value <= range.lte)
  )
}

/** The rows that were made in a span of time. Where time went straight on, no others are looked at. */
export function createdIn<R extends { created: number }>(
  rows: Iterable<R>,
  range: Range | undefined,
): Iterable<R> {
  if (range === undefined) return rows
  const { gt, gte, lt, lte } = typeof range === 'number' ? { gte: range, lte: range } : range
  const near =
    rows instanceof NewestFirst
      ? (rows as NewestFirst<R>).between(
          gt ?? gte ?? Number.NEGATIVE_INFINITY,
          lt ?? lte ?? Number.POSITIVE_INFINITY,
        )
      : rows
  return filterRows(near, (row) => inRange(row.created, range))
}

export function filterRows<R>(rows: Iterable<R>, keep: (row: R) => boolean): Iterable<R> {
  return rows instanceof NewestFirst
    ? (rows as NewestFirst<R>).filter(keep)
    : { [Symbol.iterator]: () => filtered(rows, keep) }
}

function* filtered<R>(rows: Iterable<R>, keep: (row: R) => boolean): Generator<R> {
  for (const row of rows) if (keep(row)) yield row
}
