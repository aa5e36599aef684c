/**
 * A request to an address that a stranger has chosen. The one file that touches node:https, because only there
 * the address that was checked can be the one that is connected to: fetch() resolves the name again.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { type IncomingMessage, request as requestPlainly } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './addresses.ts'
import type { OutgoingSettings, ResolvedAddress } from './settings.ts'
import { trustAlso } from './trusted-certificates.ts'

/** Why nothing came of it. Strangers are not told: it would show them what there is in our network. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched'
  /** The other side was not there, or too slow: it may be better later. */
  readonly temporary: boolean

  constructor(message: string, options: ErrorOptions & { readonly temporary?: boolean } = {}) {
    super(message, options)
    this.temporary = options.temporary ?? false
  }
}

/** What is asked for, and how. */
export interface OutgoingRequest {
  /** `GET`, or `POST` with a body. */
  readonly method: 'GET' | 'POST'
  /** Beside those that every request has. */
  readonly headers?: Readonly<Record<string, string>>
  /** In UTF-8. */
  readonly body?: string
  /** Of the response, in bytes. */
  readonly largest: number
  /** Ends it before its time. */
  readonly signal?: AbortSignal
  /** Plain http will do where the application has opened the address. Default: never. */
  readonly plainWhereOpened?: boolean
  /** Nothing but the status counts: a redirect is one, and the body is thrown away. Default: false. */
  readonly statusOnly?: boolean
}

/** What came back. */
export interface OutgoingResponse {
  /** Such as 200. */
  readonly status: number
  /** By a name in small letters; null for none. */
  header(name: string): string | null
  /** Empty where only the status counts. */
  readonly body: Buffer
}

/** Sends one request; NotFetched when nothing came of it. */
export type SendRequest = (url: URL, outgoing: OutgoingRequest) => Promise<OutgoingResponse>

const LONGEST_URL = 2000

/**
 * Checks an address, and connects to the very one that was checked.
 * @example
 * const send = createPinnedRequest(resolveOutgoing('outgoing', {}, 5000))
 * const { status, body } = await send(new URL('https://app.example/keys'), { method: 'GET', largest: 64_000 })
 */
export function createPinnedRequest(settings: OutgoingSettings): SendRequest {
  let agent: Promise<Agent> | null = null
  return async (url, outgoing) => {
    assertAddress(url, outgoing)
    const deadline = deadlineOf(settings, outgoing)
    const pinned = await within(deadline, requireAddress(url, settings))
    const options: RequestOptions = {
      method: outgoing.method,
      // Compressed bodies may be a thousand times as long as what is counted.
      headers: { ...outgoing.headers, 'accept-encoding': 'identity', connection: 'close' },
      lookup: always(pinned),
      signal: deadline,
      maxHeaderSize: 16 * 1024,
    }
    try {
      if (url.protocol !== 'https:') return await send(url, options, outgoing)
      agent ??= createAgent(settings)
      return await send(url, { ...options, agent: await agent }, outgoing)
    } catch (cause) {
      if (cause instanceof NotFetched) throw cause
      throw new NotFetched('There was no response', { cause, temporary: true })
    }
  }
}

function deadlineOf({ timeout }: OutgoingSettings, { signal }: OutgoingRequest): AbortSignal {
  const late = AbortSignal.timeout(timeout)
  return signal ? AbortSignal.any([signal, late]) : late
}

/** Node's own list is there by itself, unless another one is given. */
async function createAgent({ certificates }: OutgoingSettings): Promise<Agent> {
  const settings = { keepAlive: false, maxCachedSessions: 0 }
  if (certificates.length === 0) return new Agent(settings)
  return new Agent({ ...settings, secureContext: await trustAlso(certificates) })
}

function assertAddress(url: URL, { plainWhereOpened = false }: OutgoingRequest): void {
  const protocols = plainWhereOpened ? ['https:', 'http:'] : ['https:']
  if (!protocols.includes(url.protocol)) throw new NotFetched('The address is not https')
  if (url.username !== '' || url.password !== '') throw new NotFetched('The address has a user')
  if (url.href.length > LONGEST_URL) throw new NotFetched('The address is too long')
}

/**
 * The name is resolved this once. One address that is not public is enough to refuse: it might come next. Plain
 * http only where the application has opened the address.
 */
async function requireAddress(url: URL, settings: OutgoingSettings): Promise<ResolvedAddress> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const found = await addressesOf(host, settings)
  for (const { address } of found) {
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (isIP(address) !== 0 && settings.allowed.check(address, family)) continue
    if (!isPublicAddress(address)) {
      throw new NotFetched(`${host} is at ${address}, which is not public`)
    }
    if (url.protocol !== 'https:') throw new NotFetched('The address is not https')
  }
  const [first] = found
  if (!first) throw new NotFetched(`${host} has no address`, { temporary: true })
  return { address: first.address, family: isIP(first.address) }
}

async function addressesOf(
  host: string,
  { resolve }: OutgoingSettings,
): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  try {
    return await (resolve ? resolve(host) : systemLookup(host, { all: true }))
  } catch (cause) {
    throw new NotFetched(`${host} cannot be resolved`, { cause, temporary: true })
  }
}

/** Node asks in one of two ways; both times the answer is the address that was checked. */
function always({ address, family }: ResolvedAddress): LookupFunction {
  return (_host, options, done) => {
    if (options.all) done(null, [{ address, family }])
    else done(null, address, family)
  }
}

function send(
  url: URL,
  options: RequestOptions,
  { body, largest, statusOnly = false }: OutgoingRequest,
): Promise<OutgoingResponse> {
  return new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? request : requestPlainly
    const sent = open(url, options, (response) => {
      const read = (content: Buffer) =>
        resolve({
          status: response.statusCode ?? 0,
          header: (name) => headerOf(response, name),
          body: content,
        })
      if (statusOnly) {
        read(Buffer.alloc(0))
        throwAway(response, largest)
        return
      }
      readBody(response, largest).then(read, (error) => {
        reject(error)
        sent.destroy()
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Cutting it off at once would be an error at the other side. The deadline ends one that never ends. */
function throwAway(response: IncomingMessage, largest: number): void {
  let length = 0
  response.on('error', () => undefined)
  response.on('data', (part: Buffer) => {
    length += part.length
    if (length > largest) response.destroy()
  })
}

async function readBody(response: IncomingMessage, largest: number): Promise<Buffer> {
  const status = response.statusCode ?? 0
  if (status >= 300 && status < 400 && status !== 304) {
    throw new NotFetched(`It redirects (${status}), which is not followed`)
  }
  const encoding = headerOf(response, 'content-encoding') ?? 'identity'
  if (encoding !== 'identity') throw new NotFetched('It is compressed, though nobody asked for it')
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    length += part.length
    if (length > largest) throw new NotFetched(`It is longer than ${largest} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name]
  return (Array.isArray(value) ? value.join(', ') : value) ?? null
}

function within<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new NotFetched('It took too long', { temporary: true }))
    deadline.addEventListener('abort', late, { once: true })
    work.then(resolve, reject).finally(() => deadline.removeEventListener('abort', late))
  })
}
