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
  return { object: 'list', data: page.map(toWire), has_more: hasMore, url }
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

function pageAfter<R extends { id: string }>(
  rows: Iterable<R>,
  cursor: string | undefined,
  limit: number,
): { page: R[]; hasMore: boolean } {
  const page: R[] = []
  let started = cursor === undefined
  for (const row of rows) {
    if (!started) started = row.id === cursor
    else if (page.length === limit) return { page, hasMore: true }
    else page.push(row)
  }
  if (!started) throw noSuch('object', cursor ?? '', 'starting_after')
  return { page, hasMore: false }
}

function pageBefore<R extends { id: string }>(
  rows: Iterable<R>,
  cursor: string,
  limit: number,
): { page: R[]; hasMore: boolean } {
  const before: R[] = []
  for (const row of rows) {
    if (row.id === cursor) {
      return { page: before.slice(-limit), hasMore: before.length > limit }
    }
    before.push(row)
  }
  throw noSuch('object', cursor, 'ending_before')
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

export function* filterRows<R>(rows: Iterable<R>, keep: (row: R) => boolean): Iterable<R> {
  for (const row of rows) if (keep(row)) yield row
}
