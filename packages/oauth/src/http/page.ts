import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { InvalidRequest } from '../errors.ts'
import { noStoreJson } from './responses.ts'

/** Where an entry stands in its list; entries with the same `by` stand in the order of their ids. */
export interface Position {
  readonly by: string | number
  readonly id: string
}

export type Order = 'rising' | 'falling'

const LARGEST_PAGE = 1000
const LONGEST_CURSOR = 2000

/**
 * A bare array: all of it, or with `?limit` and `?after` a part, and a `Link` to the next one. `after`
 * says a position and nothing more: whose entries these are was decided before, so a cursor of
 * somebody else's list shows nobody's entries, and one of an entry that is gone still works.
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
  if (limit !== null && !(/^[1-9]\d{0,3}$/.test(limit) && Number(limit) <= LARGEST_PAGE)) {
    throw new InvalidRequest(`limit must be a whole number from 1 to ${LARGEST_PAGE}`)
  }
  const after = params.get('after')
  return {
    limit: limit === null ? null : Number(limit),
    after: after === null ? null : decodeCursor(after),
  }
}

export function encodeCursor({ by, id }: Position): string {
  return Buffer.from(JSON.stringify([by, id])).toString('base64url')
}

function decodeCursor(text: string): Position {
  const refusal = new InvalidRequest('after must come from the Link of the page before')
  if (text.length > LONGEST_CURSOR || !/^[\w-]+$/.test(text)) throw refusal
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    throw refusal
  }
  if (!Array.isArray(parsed) || parsed.length !== 2) throw refusal
  const [by, id]: unknown[] = parsed
  if ((typeof by !== 'string' && typeof by !== 'number') || typeof id !== 'string') throw refusal
  return { by, id }
}

/** By bytes, as the databases do; names of another kind than the list's come first. */
function compare(a: Position, b: Position, order: Order): number {
  const rising = compareValues(a.by, b.by) || compareValues(a.id, b.id)
  return order === 'rising' ? rising : -rising
}

function compareValues(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}
