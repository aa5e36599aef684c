import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { InvalidRequest } from '../errors.ts'
import { noStoreJson } from './responses.ts'

/** Position of an entry in its list. Entries with the same `by` are ordered by id. */
export interface Position {
  readonly by: string | number
  readonly id: string
}

export type Order = 'rising' | 'falling'

const MAX_PAGE_SIZE = 1000
const MAX_CURSOR_LENGTH = 2000

/**
 * Responds with a list as a JSON array. With `?limit` and `?after` it is a part of the list, with a
 * `Link` to the next one. The cursor contains only a position. The entries are already limited to
 * those of the caller, so a cursor from another person's list reveals nothing, and a cursor still
 * works when its entry is deleted.
 */
export function pageResponse<T>(
  request: HttpRequest,
  entries: readonly T[],
  { at, order, toJson }: { at(entry: T): Position; order: Order; toJson(entry: T): unknown },
): HttpResponse {
  const { limit, after } = readPage(request.query)
  const sorted = [...entries].sort((a, b) => compare(at(a), at(b), order))
  const rest = after ? sorted.filter((entry) => compare(at(entry), after, order) > 0) : sorted
  const page = limit === null ? rest : rest.slice(0, limit)
  const last = page.at(-1)
  if (limit === null || last === undefined || page.length === rest.length) {
    return noStoreJson(page.map(toJson))
  }
  const query = `limit=${limit}&after=${encodeCursor(at(last))}`
  return noStoreJson(page.map(toJson), 200, { link: `<${request.path}?${query}>; rel="next"` })
}

interface Page {
  readonly limit: number | null
  readonly after: Position | null
}

export function readPage(query: string): Page {
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

export function encodeCursor({ by, id }: Position): string {
  return Buffer.from(JSON.stringify([by, id])).toString('base64url')
}

/** Decodes a cursor. `null` if `encodeCursor()` cannot have returned it. */
export function decodeCursor(text: string): Position | null {
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

function requirePosition(text: string): Position {
  const position = decodeCursor(text)
  if (position) return position
  throw new InvalidRequest('after must come from the Link of the page before')
}

/**
 * Compares two positions by bytes, as the databases do. A cursor whose `by` has another type than
 * the list is compared as text.
 */
function compare(a: Position, b: Position, order: Order): number {
  const rising = compareValues(a.by, b.by) || compareValues(a.id, b.id)
  return order === 'rising' ? rising : -rising
}

function compareValues(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}
