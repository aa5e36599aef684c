import type { NewestFirst } from '../../core/store/newest-first.ts'
import { invalidRequest } from '../wire/errors.ts'

/** Rows on a page unless told, and at most. */
const USUAL = 20
const MOST = 100

export interface PageParamsV2 {
  readonly limit?: number
  readonly page?: string
}

/** The parameters of every list of `/v2`. */
export const PAGE_PARAMS = { limit: 'n', page: 's' } as const

export interface ListV2 {
  readonly data: readonly object[]
  readonly next_page_url: string | null
  readonly previous_page_url: string | null
}

/**
 * One page of a list of `/v2`. A page is known by the row beside it, so that what is made meanwhile moves no row to
 * another page. `address` holds the list's filters.
 */
export function listV2<R extends { readonly id: string }>(
  rows: NewestFirst<R>,
  { limit = USUAL, page }: PageParamsV2,
  address: string,
  toWire: (row: R) => object,
): ListV2 {
  if (limit < 1 || limit > MOST) {
    throw invalidRequest(`\`limit\` must be from 1 to ${MOST}.`, 'limit')
  }
  const { side, from } = readPage(rows, page)
  const found: R[] = []
  let isMore = false
  for (const row of from) {
    isMore = found.length === limit
    if (isMore) break
    found.push(row)
  }
  if (side === 'before') found.reverse()
  const separator = address.includes('?') ? '&' : '?'
  const url = (to: Side, row: R | undefined) =>
    row ? `${address}${separator}limit=${limit}&page=${tokenOf(to, row.id)}` : null
  const hasOlder = side === 'before' || isMore
  const hasNewer = side === 'after' || (side === 'before' && isMore)
  return {
    data: found.map(toWire),
    next_page_url: hasOlder ? url('after', found.at(-1)) : null,
    previous_page_url: hasNewer ? url('before', found[0]) : null,
  }
}

type Side = 'after' | 'before'

function tokenOf(side: Side, id: string): string {
  return Buffer.from(`${side} ${id}`).toString('base64url')
}

function readPage<R>(
  rows: NewestFirst<R>,
  page: string | undefined,
): { side: Side | 'start'; from: Iterable<R> } {
  if (page === undefined) return { side: 'start', from: rows }
  const [side, id = ''] = Buffer.from(page, 'base64url').toString('utf8').split(' ')
  const from = side === 'after' ? rows.after(id) : side === 'before' ? rows.before(id) : null
  if (from === null) throw invalidRequest('No such page.', 'page')
  return { side: side as Side, from }
}
