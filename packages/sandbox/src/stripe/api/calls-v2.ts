import type { HttpRequest } from '../../core/http.ts'
import { Router } from '../../core/router.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { StripeFault } from '../wire/errors.ts'
import type { FormObject, FormValue } from '../wire/form.ts'
import { type Node, parseForm, readParameters } from './parameters.ts'
import { idsOf } from './routes.ts'

/** A call of `/v2`, whose bodies are JSON. */
export interface CallV2 {
  readonly work: UnitOfWork
  readonly ids: readonly string[]
}

export type OperationV2 = (params: never, call: CallV2) => object

export function opV2<P>(run: (params: P, call: CallV2) => object): OperationV2 {
  return run as OperationV2
}

/** By method and address, such as `'GET /v2/core/events/:id'`, with its parameters. */
export type OperationsV2 = Readonly<
  Record<
    string,
    {
      readonly params: Node
      readonly run: OperationV2
      /** It takes the token of a meter event session, and no API key. */
      readonly isStream?: true
    }
  >
>

export interface FoundV2 {
  readonly ids: readonly string[]
  readonly params: Record<string, unknown>
  readonly run: OperationV2
}

/** Finds what a call of `/v2` asks for. */
export class CallsV2 {
  readonly #router = new Router<OperationsV2[string]>()

  constructor(operations: OperationsV2) {
    for (const [address, operation] of Object.entries(operations)) {
      const [method = '', path = ''] = address.split(' ')
      this.#router.add(method, path, operation)
    }
  }

  isStream({ method, path }: HttpRequest): boolean {
    return this.#router.find(method, path)?.target.isStream === true
  }

  /** Null where there is nothing at that address. */
  find({ method, path, query, body }: HttpRequest): FoundV2 | null {
    const found = this.#router.find(method, path)
    if (!found) return null
    const { params, run } = found.target
    const form = method === 'POST' ? readJson(body.toString('utf8')) : parseQuery(query, params)
    return { ids: idsOf(found.params), params: readParameters(params, form), run }
  }
}

/** Clients write a list as `include[0]=…`, `include[]=…` or `include=…`. */
function parseQuery(query: string, params: Node): FormObject {
  const fields = typeof params === 'object' && 'o' in params ? params.o : {}
  const pairs = query.split('&').map((pair) => {
    const [name = ''] = pair.split('=', 1)
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined
    return typeof type === 'object' && 'a' in type ? pair.replace('=', '[]=') : pair
  })
  return parseForm(pairs.join('&'))
}

/** As a form, so that it is read and refused as one. */
function readJson(text: string): FormObject {
  if (text === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw faultV2(400, 'invalid_fields', 'The body is not JSON.')
  }
  const form = toForm(value)
  if (typeof form === 'object' && !Array.isArray(value)) return form
  throw faultV2(400, 'invalid_fields', 'The body is not an object.')
}

function toForm(value: unknown): FormValue {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object') return String(value)
  const form = Object.create(null) as FormObject
  for (const [name, each] of Object.entries(value)) form[name] = toForm(each)
  return form
}

export function faultV2(
  status: number,
  code: string,
  message: string,
  more: Readonly<Record<string, string>> = {},
): StripeFault {
  return new StripeFault(status, { type: 'invalid_request_error', code, message, ...more })
}

const CODES: Readonly<Record<number, string>> = { 400: 'invalid_fields', 404: 'not_found' }

/** What is wrong with a call has a code there; a wrong key and too many calls say so by their status. */
export function inV2({ status, body }: StripeFault): StripeFault {
  const own = body.code?.startsWith('parameter_') ? undefined : body.code
  const code = own ?? CODES[status]
  const { doc_url: _docs, ...told } = body
  return new StripeFault(status, code === undefined ? body : { ...told, code })
}
