import type { HttpRequest } from '../../core/http.ts'
import { PathRouter } from '../../core/router.ts'
import type { NewestFirstRows } from '../../core/store/newest-first.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, StripeFault } from '../wire/errors.ts'
import type { FormObject, FormValue } from '../wire/form.ts'
import { takePage } from './lists.ts'
import { parseForm, readParameters, type SchemaNode } from './parameters.ts'
import { listPathIds } from './routes.ts'

/** A validated call of the `/v2` API, whose bodies are JSON. */
export interface StripeV2Call {
  readonly work: UnitOfWork
  readonly ids: readonly string[]
}

export interface StripeV2Operation {
  readonly params: SchemaNode
  readonly run: (params: never, call: StripeV2Call) => object
  /**
   * Set for operations that are authenticated by the token of a meter event session instead of an
   * API key.
   */
  readonly isStream?: true
}

/** Operations of the `/v2` API by method and path, such as `'GET /v2/core/events/:id'`. */
export type StripeV2Operations = Readonly<Record<string, StripeV2Operation>>

/** TypeScript type of the values that a parameter type of the contract describes. */
export type NodeValue<N> = N extends 's' | 'd'
  ? string
  : N extends 'n'
    ? number
    : N extends { readonly e: readonly (infer E)[] }
      ? E
      : N extends { readonly a: infer A }
        ? readonly NodeValue<A>[]
        : N extends { readonly m: infer M }
          ? Readonly<Record<string, NodeValue<M>>>
          : N extends { readonly z: infer Z }
            ? NodeValue<Z>
            : N extends { readonly o: infer O; readonly r: readonly (infer R)[] }
              ? ReadObject<O, R>
              : N extends { readonly o: infer O }
                ? ReadObject<O, never>
                : never

type ReadObject<O, R> = { readonly [K in Extract<keyof O, R>]: NodeValue<O[K]> } & {
  readonly [K in Exclude<keyof O, R>]?: NodeValue<O[K]>
}

/** Defines an operation of the `/v2` API, whose parameters have the type `params`. */
export function defineStripeV2Operation<const N extends SchemaNode>(
  params: N,
  run: (params: NodeValue<N>, call: StripeV2Call) => object,
): StripeV2Operation {
  return { params, run: run as never }
}

export interface MatchedStripeV2Call {
  readonly ids: readonly string[]
  readonly params: Record<string, unknown>
  readonly run: StripeV2Operation['run']
}

/** Finds the operations for requests to the `/v2` API, and reads their parameters. */
export class StripeV2Router {
  readonly #router = new PathRouter<StripeV2Operation>()

  constructor(operations: StripeV2Operations) {
    for (const [address, operation] of Object.entries(operations)) {
      const [method = '', path = ''] = address.split(' ')
      this.#router.add(method, path, operation)
    }
  }

  isStream({ method, path }: HttpRequest): boolean {
    return this.#router.find(method, path)?.target.isStream === true
  }

  /**
   * Finds the operation for a request and reads its parameters. `null` if the `/v2` API has no
   * operation at this path.
   */
  find({ method, path, query, body }: HttpRequest): MatchedStripeV2Call | null {
    const found = this.#router.find(method, path)
    if (!found) return null
    const { params, run } = found.target
    const form = method === 'POST' ? readJson(body.toString('utf8')) : parseQuery(query, params)
    return { ids: listPathIds(found.params), params: readParameters(params, form), run }
  }
}

/** Parses a query string. Accepts lists as `include[0]=…`, `include[]=…` and `include=…`. */
function parseQuery(query: string, params: SchemaNode): FormObject {
  const fields = typeof params === 'object' && 'o' in params ? params.o : {}
  const pairs = query.split('&').map((pair) => {
    const [name = ''] = pair.split('=', 1)
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined
    return typeof type === 'object' && 'a' in type ? pair.replace('=', '[]=') : pair
  })
  return parseForm(pairs.join('&'))
}

/**
 * Converts a JSON body to a form, so that it is validated like a form and causes the same errors.
 */
function readJson(text: string): FormObject {
  if (text === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw createV2Fault(400, 'invalid_fields', 'The body is not JSON.')
  }
  const form = toForm(value)
  if (typeof form === 'object' && !Array.isArray(value)) return form
  throw createV2Fault(400, 'invalid_fields', 'The body is not an object.')
}

function toForm(value: unknown): FormValue {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object') return String(value)
  const form = Object.create(null) as FormObject
  for (const [name, each] of Object.entries(value)) form[name] = toForm(each)
  return form
}

export function createV2Fault(
  status: number,
  code: string,
  message: string,
  more: Readonly<Record<string, string>> = {},
): StripeFault {
  return new StripeFault(status, { type: 'invalid_request_error', code, message, ...more })
}

const CODES: Readonly<Record<number, string>> = { 400: 'invalid_fields', 404: 'not_found' }

/**
 * Converts an error to the format of the `/v2` API: invalid requests get a code; authentication and
 * rate limit errors are identified by their status.
 */
export function toV2Fault({ status, body }: StripeFault): StripeFault {
  const own = body.code?.startsWith('parameter_') ? undefined : body.code
  const code = own ?? CODES[status]
  const { doc_url: _docs, ...told } = body
  return new StripeFault(status, code === undefined ? body : { ...told, code })
}

/** Default and maximum number of rows on a page. */
const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

export interface StripeV2PageParams {
  readonly limit?: number
  readonly page?: string
}

/** Types of the parameters that every list of the `/v2` API has. */
export const PAGE_PARAMS = { limit: 'n', page: 's' } as const

export interface StripeV2List {
  readonly data: readonly object[]
  readonly next_page_url: string | null
  readonly previous_page_url: string | null
}

/**
 * Returns one page of a list of the `/v2` API. Page tokens refer to the neighboring row, so new
 * rows do not shift pages. `address` is the list's URL including its filters.
 */
export function buildStripeV2List<R extends { readonly id: string }>(
  rows: NewestFirstRows<R>,
  { limit = DEFAULT_LIMIT, page }: StripeV2PageParams,
  address: string,
  toWire: (row: R) => object,
): StripeV2List {
  if (limit < 1 || limit > MAX_LIMIT) {
    throw createInvalidRequestFault(`\`limit\` must be from 1 to ${MAX_LIMIT}.`, 'limit')
  }
  const { side, from } = readPage(rows, page)
  const { page: found, hasMore: isMore } = takePage(from, limit)
  if (side === 'before') found.reverse()
  const separator = address.includes('?') ? '&' : '?'
  const url = (to: Side, row: R | undefined) =>
    row ? `${address}${separator}limit=${limit}&page=${encodePageToken(to, row.id)}` : null
  const hasOlder = side === 'before' || isMore
  const hasNewer = side === 'after' || (side === 'before' && isMore)
  return {
    data: found.map(toWire),
    next_page_url: hasOlder ? url('after', found.at(-1)) : null,
    previous_page_url: hasNewer ? url('before', found[0]) : null,
  }
}

type Side = 'after' | 'before'

function encodePageToken(side: Side, id: string): string {
  return Buffer.from(`${side} ${id}`).toString('base64url')
}

function readPage<R>(
  rows: NewestFirstRows<R>,
  page: string | undefined,
): { side: Side | 'start'; from: Iterable<R> } {
  if (page === undefined) return { side: 'start', from: rows }
  const [side, id = ''] = Buffer.from(page, 'base64url').toString('utf8').split(' ')
  const from = side === 'after' ? rows.after(id) : side === 'before' ? rows.before(id) : null
  if (from === null) throw createInvalidRequestFault('No such page.', 'page')
  return { side: side as Side, from }
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/** Formats Unix seconds as a time of the `/v2` API: `2026-01-31T10:00:00.000Z`. */
export function formatStripeV2Time(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/**
 * Parses a time of the `/v2` API to Unix seconds. Unix seconds as text are also accepted, because
 * SDKs send them in filters.
 * @throws {StripeFault} If the text is neither.
 */
export function readTimeV2(text: string, param: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text)
  const time = ISO.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time)) return time / 1000
  throw createInvalidRequestFault(
    `'${text}' is no time. Use ISO 8601, such as 2026-01-31T10:00:00.000Z.`,
    param,
    'invalid_fields',
  )
}
