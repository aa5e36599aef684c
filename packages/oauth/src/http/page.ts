import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { InvalidRequest } from '../errors.ts'
import { noStoreJsonResponse } from './responses.ts'

/**
 * Position of an entry in a paginated list. The list is sorted by the member `by`; entries with the
 * same `by` are sorted by `id`.
 */
export interface ListPosition {
  readonly by: string | number
  readonly id: string
}

export type SortOrder = 'ascending' | 'descending'

const MAX_PAGE_SIZE = 1000
const MAX_CURSOR_LENGTH = 2000

/**
 * Responds with a list as a JSON array. With the query parameters `limit` and `after`, responds
 * with one page of it and a `Link` header to the next page. `entries` must be limited to those that
 * the caller may see. The cursor in `after` is a position, so it stays valid if its entry is
 * deleted.
 */
export function createPaginatedResponse<T>(
  request: HttpRequest,
  entries: readonly T[],
  {
    at,
    order,
    toJson,
  }: { at(entry: T): ListPosition; order: SortOrder; toJson(entry: T): unknown },
): HttpResponse {
  const { limit, after } = readPagination(request.query)
  const sorted = [...entries].sort((a, b) => compare(at(a), at(b), order))
  const rest = after ? sorted.filter((entry) => compare(at(entry), after, order) > 0) : sorted
  const page = limit === null ? rest : rest.slice(0, limit)
  const last = page.at(-1)
  if (limit === null || last === undefined || page.length === rest.length) {
    return noStoreJsonResponse(page.map(toJson))
  }
  const query = `limit=${limit}&after=${encodeCursor(at(last))}`
  return noStoreJsonResponse(page.map(toJson), 200, {
    link: `<${request.path}?${query}>; rel="next"`,
  })
}

interface Page {
  readonly limit: number | null
  readonly after: ListPosition | null
}

export function readPagination(query: string): Page {
  const params = new URLSearchParams(query)
  for (const name of ['limit', 'after']) {
    if (params.getAll(name).length > 1) throw new InvalidRequest(`Send ${name} only once`)
  }
  const limit = params.get('limit')
  if (limit !== null && !(/^[1-9]\d{0,3}$/.test(limit) && Number(limit) <= MAX_PAGE_SIZE)) {
    throw new InvalidRequest(`limit must be a whole number from 1 to ${MAX_PAGE_SIZE}`)
  }
  const after = params.get('after')
  return {
    limit: limit === null ? null : Number(limit),
    after: after === null ? null : requirePosition(after),
  }
}

export function encodeCursor({ by, id }: ListPosition): string {
  return Buffer.from(JSON.stringify([by, id])).toString('base64url')
}

/** Decodes a cursor. `null` if `encodeCursor()` cannot have returned it. */
export function decodeCursor(text: string): ListPosition | null {
  if (text.length > MAX_CURSOR_LENGTH || !/^[\w-]+$/.test(text)) return null
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return null
  }
  if (!Array.isArray(parsed) || parsed.length !== 2) return null
  const [by, id]: unknown[] = parsed
  if ((typeof by !== 'string' && typeof by !== 'number') || typeof id !== 'string') return null
  return { by, id }
}

function requirePosition(text: string): ListPosition {
  const position = decodeCursor(text)
  if (position) return position
  throw new InvalidRequest('after must be the value from the Link header of the previous page')
}

/**
 * Compares two positions by bytes, as the databases do. A cursor whose `by` has another type than
 * the list is compared as text.
 */
function compare(a: ListPosition, b: ListPosition, order: SortOrder): number {
  const rising = compareValues(a.by, b.by) || compareValues(a.id, b.id)
  return order === 'ascending' ? rising : -rising
}

function compareValues(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}
