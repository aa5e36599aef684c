import { lookup as systemLookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { type IncomingMessage, request as requestPlainly } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { SecureContext } from 'node:tls'
import { isPublicAddress } from './addresses.ts'
import type { OutgoingSettings, ResolvedAddress } from './settings.ts'

/**
 * Sends requests to URLs that untrusted clients have chosen. Only this file uses node:https, because
 * it must connect to exactly the address that was checked: fetch() would resolve the name again.
 */

/**
 * An outgoing request failed. Do not show the error's message to clients: it would reveal the
 * structure of your network.
 */
export class NotFetched extends Error {
  override readonly name = 'NotFetched'
  /** Whether the failure may be temporary: the server was unreachable or too slow. */
  readonly temporary: boolean

  constructor(message: string, options: ErrorOptions & { readonly temporary?: boolean } = {}) {
    super(message, options)
    this.temporary = options.temporary ?? false
  }
}

/** An HTTP request to send to another server. */
export interface OutgoingRequest {
  /** `GET`, or `POST` with a body. */
  readonly method: 'GET' | 'POST'
  /** Additional request headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** The request body, sent as UTF-8. */
  readonly body?: string
  /** Largest accepted response body, in bytes. */
  readonly maxBytes: number
  /** Aborts the request when the signal is aborted. */
  readonly signal?: AbortSignal
  /**
   * Whether `http:` URLs are accepted. They must lead to addresses in `privateAddresses`.
   * @default false
   */
  readonly allowPlainHttp?: boolean
  /**
   * Whether only the status matters: redirects are returned as they are, and the body is discarded.
   * @default false
   */
  readonly statusOnly?: boolean
}

/** The response to an outgoing request. */
export interface OutgoingResponse {
  /** HTTP status, such as 200. */
  readonly status: number
  /** Returns a header by its lower-case name, or `null` if it is missing. */
  header(name: string): string | null
  /** The response body. Empty for `statusOnly`. */
  readonly body: Buffer
}

/**
 * Sends one request.
 * @throws {NotFetched} if it fails.
 */
export type SendRequest = (url: URL, outgoing: OutgoingRequest) => Promise<OutgoingResponse>

const LONGEST_URL = 2000

/**
 * Creates a function that sends requests to untrusted URLs: it resolves the host, checks the
 * address, and connects to exactly that address.
 * @example
 * ```ts
 * const send = createPinnedRequest(resolveOutgoing('outgoing', {}, 5000))
 * const { status, body } = await send(new URL('https://app.example/keys'), { method: 'GET', maxBytes: 64_000 })
 * ```
 */
export function createPinnedRequest(settings: OutgoingSettings): SendRequest {
  let agent: Promise<Agent> | null = null
  return async (url, outgoing) => {
    assertAddress(url, outgoing)
    const deadline = createDeadline(settings, outgoing)
    const pinned = await rejectAfterDeadline(deadline, requireAddress(url, settings))
    const options: RequestOptions = {
      method: outgoing.method,
      // A compressed body may expand to a thousand times its counted size.
      headers: { ...outgoing.headers, 'accept-encoding': 'identity', connection: 'close' },
      lookup: createPinnedLookup(pinned),
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

function createDeadline({ timeout }: OutgoingSettings, { signal }: OutgoingRequest): AbortSignal {
  const late = AbortSignal.timeout(timeout)
  return signal ? AbortSignal.any([signal, late]) : late
}

/**
 * Creates an agent that trusts the configured certificates as well. Without any, Node uses its own
 * list.
 */
async function createAgent({ certificates }: OutgoingSettings): Promise<Agent> {
  const settings = { keepAlive: false, maxCachedSessions: 0 }
  if (certificates.length === 0) return new Agent(settings)
  return new Agent({ ...settings, secureContext: await createTrustContext(certificates) })
}

function assertAddress(url: URL, { allowPlainHttp = false }: OutgoingRequest): void {
  const protocols = allowPlainHttp ? ['https:', 'http:'] : ['https:']
  if (!protocols.includes(url.protocol)) throw new NotFetched('The URL is not https')
  if (url.username !== '' || url.password !== '')
    throw new NotFetched('The URL must not contain a user name or password')
  if (url.href.length > LONGEST_URL) throw new NotFetched('The URL is too long')
}

/**
 * Resolves the host once. Rejects the request if one of its addresses is not public, because the
 * connection might use that address. Plain http is accepted only for addresses that the application
 * has allowed.
 */
async function requireAddress(url: URL, settings: OutgoingSettings): Promise<ResolvedAddress> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const found = await resolveAddresses(host, settings)
  for (const { address } of found) {
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (isIP(address) !== 0 && settings.allowed.check(address, family)) continue
    if (!isPublicAddress(address)) {
      throw new NotFetched(`${host} is at ${address}, which is not public`)
    }
    if (url.protocol !== 'https:') throw new NotFetched('The URL is not https')
  }
  const [first] = found
  if (!first) throw new NotFetched(`${host} has no IP address`, { temporary: true })
  return { address: first.address, family: isIP(first.address) }
}

async function resolveAddresses(
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

/** Lookup function that always returns the checked address, in both forms that Node may request. */
function createPinnedLookup({ address, family }: ResolvedAddress): LookupFunction {
  return (_host, options, done) => {
    if (options.all) done(null, [{ address, family }])
    else done(null, address, family)
  }
}

function send(
  url: URL,
  options: RequestOptions,
  { body, maxBytes, statusOnly = false }: OutgoingRequest,
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
        discardBody(response, maxBytes)
        return
      }
      readBody(response, maxBytes).then(read, (error) => {
        reject(error)
        sent.destroy()
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/**
 * Reads and discards a body. Aborting it immediately would be an error for the other server. A body
 * of more than `maxBytes` is aborted, and the deadline ends a slow one.
 */
function discardBody(response: IncomingMessage, maxBytes: number): void {
  let length = 0
  response.on('error', () => undefined)
  response.on('data', (part: Buffer) => {
    length += part.length
    if (length > maxBytes) response.destroy()
  })
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const status = response.statusCode ?? 0
  if (status >= 300 && status < 400 && status !== 304) {
    throw new NotFetched(`The response is a redirect (${status}), which is not followed`)
  }
  const encoding = headerOf(response, 'content-encoding') ?? 'identity'
  if (encoding !== 'identity')
    throw new NotFetched('The response is compressed, although the request did not allow it')
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    length += part.length
    if (length > maxBytes) throw new NotFetched(`The response is longer than ${maxBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name]
  return (Array.isArray(value) ? value.join(', ') : value) ?? null
}

function rejectAfterDeadline<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new NotFetched('The request took too long', { temporary: true }))
    deadline.addEventListener('abort', late, { once: true })
    work.then(resolve, reject).finally(() => deadline.removeEventListener('abort', late))
  })
}

/** Certificate lists that newer versions of Node provide. */
interface CertificateLists {
  readonly rootCertificates: readonly string[]
  getCACertificates?(kind: 'default'): readonly string[]
}

/**
 * Creates a context that trusts Node's own certificates and the given ones. A custom list replaces
 * Node's, so the certificates from NODE_EXTRA_CA_CERTS have to be included. Cache the result:
 * loading 150 certificates takes 20 ms.
 */
async function createTrustContext(certificates: readonly string[]): Promise<SecureContext> {
  // Loading Node's own list takes time.
  const tls = await import('node:tls')
  const { getCACertificates, rootCertificates }: CertificateLists = tls
  const usual = getCACertificates?.('default') ?? [
    ...rootCertificates,
    ...(await readExtraCertificates()),
  ]
  return tls.createSecureContext({ ca: [...usual, ...certificates] })
}

/**
 * Reads the file of NODE_EXTRA_CA_CERTS. Returns an empty list if the file cannot be read: Node has
 * already printed a warning and continues without it.
 */
async function readExtraCertificates(): Promise<string[]> {
  const file = process.env.NODE_EXTRA_CA_CERTS
  if (!file) return []
  return [await readFile(file, 'utf8').catch(() => '')].filter(Boolean)
}
