import { NotFetched, type OutgoingResponse } from '@tollgate/http/outgoing'
import {
  readSignedTime,
  signRequestTime,
  type TimedRequest,
} from '../../authorization/signed-time.ts'
import type { ServerContext } from '../../context.ts'
import { type ClientKeyAlgorithm, clientKeyAlgorithms } from '../../crypto.ts'
import { InvalidRequest, InvalidRequestObject, InvalidRequestUri } from '../../errors.ts'
import { type Form, requireParam, UNREADABLE_CHARACTERS } from '../../http/form.ts'
import type { Client } from '../../storage/records.ts'
import type { ExpandedRequest, Feature } from '../feature.ts'
import { type RequestObjectClaims, verifyRequestObject } from './request-object.ts'

/** Options of `requestObjects()`. */
export interface RequestObjectsOptions {
  /**
   * Whether every client must sign its requests. If `false`, only clients with the setting
   * `require_signed_request_object` must.
   * @default false
   */
  readonly required?: boolean
  /**
   * Accepted signature algorithms.
   * @default all supported algorithms
   */
  readonly algorithms?: readonly ClientKeyAlgorithm[]
  /**
   * Handling of unsigned objects (`none`), which OpenID Connect allows but which protect nothing.
   * `true`: accepted from every client that has no algorithm setting and need not sign. `'never'`:
   * rejected. `false`: accepted from clients whose setting is `none`.
   * @default false
   */
  readonly unsigned?: boolean | 'never'
  /**
   * Whether clients may send the URL of a request object (`request_uri`) instead of the object. It
   * must be one of the registered `request_uris` of the client.
   * @default false
   */
  readonly byReference?: boolean
}

const NAME = 'requestObjects'
/**
 * Query parameter with the signed time at which an object first arrived. It is added to the return
 * URL and comes back from the sign-in page.
 */
const FIRST_SEEN_PARAM = 'request_seen'

interface Settings {
  readonly required: boolean
  readonly algorithms: readonly ClientKeyAlgorithm[]
  readonly unsigned: boolean
  /** Whether unsigned objects (`none`) are rejected whatever a client's settings are. */
  readonly signed: boolean
}

/**
 * Adds signed authorization requests (RFC 9101): the parameters are in a JWT signed by the client,
 * so that no one can change them in the browser. The client's public keys are in its
 * `settings.jwks` or at its `jwks_uri`.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode()], features: [requestObjects()] })
 */
export function requestObjects(options: RequestObjectsOptions = {}): Feature {
  const { required = false, algorithms = clientKeyAlgorithms, byReference = false } = options
  const settings = {
    required,
    algorithms: [...algorithms],
    unsigned: options.unsigned === true,
    signed: options.unsigned === 'never',
  }
  const unknown = algorithms.find((name) => !clientKeyAlgorithms.includes(name))
  if (unknown !== undefined || algorithms.length === 0) {
    const names = clientKeyAlgorithms.join(', ')
    throw new TypeError(`requestObjects: algorithms must be one or more of ${names}.`)
  }
  if (required && settings.unsigned) {
    throw new TypeError('requestObjects: required cannot be combined with unsigned: true.')
  }
  return {
    name: NAME,
    enforces: ['require_signed_request_object'],
    metadata: () => ({
      request_parameter_supported: true,
      // Every listed algorithm must be accepted from clients without a setting (Registration §2).
      request_object_signing_alg_values_supported: settings.unsigned
        ? [...settings.algorithms, 'none']
        : settings.algorithms,
      require_signed_request_object: required,
      ...(byReference && {
        request_uri_parameter_supported: true,
        require_request_uri_registration: true,
      }),
    }),
    expandRequest(params, context: ServerContext) {
      const text = params.get('request')
      if (text !== undefined) return expand(async () => text, params, settings, context)
      const uri = params.get('request_uri')
      if (!byReference || !uri?.startsWith('https://')) return null
      return expand((client) => fetchObject(uri, client, context), params, settings, context)
    },
    readRequest(_params, { client, expandedBy, direct }) {
      if (!direct && mustSign(client, settings) && !expandedBy.includes(NAME)) {
        throw new InvalidRequest('This request must be sent as a signed request object (RFC 9101)')
      }
      return null
    },
  }
}

/** Reads the parameters from the object only; those in the URL have no effect (RFC 9101 §6.3). */
async function expand(
  find: (client: Client) => Promise<string>,
  params: Form,
  settings: Settings,
  context: ServerContext,
): Promise<ExpandedRequest> {
  const clientId = requireParam(params, 'client_id')
  const client = await context.clients.findNamed(clientId, context)
  if (!client) throw new InvalidRequest('No application is registered with this client_id')
  const text = await find(client)
  const now = context.clock.now()
  const object: TimedRequest = { purpose: 'request objects', parts: [clientId, text] }
  const seenAt = readSignedTime(params.get(FIRST_SEEN_PARAM), object, context)
  const rules = {
    client,
    clientId,
    issuer: context.issuer,
    algorithms: settings.algorithms,
    signed: settings.signed || mustSign(client, settings),
    unsigned: settings.unsigned,
    at: seenAt ?? now,
  }
  const claims = await verifyRequestObject(text, rules, context)
  return {
    params: toRequestParams(claims, clientId),
    // Objects are valid for about a minute, but people take longer to sign in.
    keep: async () => ({ [FIRST_SEEN_PARAM]: signRequestTime(seenAt ?? now, object, context) }),
  }
}

function mustSign({ settings }: Client, { required }: Settings): boolean {
  return required || settings.require_signed_request_object === true
}

/** Claims about the object rather than the request. */
const OBJECT_CLAIMS: readonly string[] = ['iss', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sub']
const MAX_PARAMETERS = 64

/** Converts the claims of a request object to authorization request parameters (RFC 9101 §4). */
export function toRequestParams(claims: RequestObjectClaims, clientId: string): Form {
  if (claims.client_id !== clientId) {
    throw new InvalidRequestObject(
      'client_id in the request object differs from the parameter client_id',
    )
  }
  // The object could also be used as the client's authentication assertion (RFC 9101 §10.8).
  if (claims.sub === clientId)
    throw new InvalidRequestObject('sub of a request object must not be the client_id')
  if ('request' in claims || 'request_uri' in claims) {
    throw new InvalidRequestObject('A request object must not contain request or request_uri')
  }
  const entries = Object.entries(claims).filter(([name]) => !OBJECT_CLAIMS.includes(name))
  if (entries.length > MAX_PARAMETERS) {
    throw new InvalidRequestObject(
      `A request object may contain at most ${MAX_PARAMETERS} parameters`,
    )
  }
  return new Map(
    entries
      .map(([name, value]): [string, string] => [name, formatClaimAsParam(name, value)])
      .filter(([, text]) => text !== ''),
  )
}

/**
 * Formats a value: numbers such as `max_age` and objects such as `claims` as JSON, several
 * resources as a list.
 */
function formatClaimAsParam(name: string, value: unknown): string {
  if (value === null) return ''
  if (name === 'resource' && Array.isArray(value)) return value.map(String).join(' ')
  if (typeof value !== 'string') return JSON.stringify(value)
  if (UNREADABLE_CHARACTERS.test(value) || !value.isWellFormed()) {
    throw new InvalidRequestObject('A parameter contains a character that is not allowed')
  }
  return value
}

/** Accepted content types: the type of RFC 9101 §5.2.3, and the type used before that RFC. */
const TYPES: readonly string[] = ['application/oauth-authz-req+jwt', 'application/jwt']
const MAX_BYTES = 64 * 1024

/**
 * Fetches the object from a registered URL of the client (OpenID Connect Core §6.2). Not cached,
 * because the next request may be a different one at the same URL.
 */
async function fetchObject(
  uri: string,
  client: Client,
  { outgoing, network }: ServerContext,
): Promise<string> {
  if (!isRegistered(uri, client)) {
    throw new InvalidRequestUri('This request_uri is not registered for the application')
  }
  const asked = {
    method: 'GET',
    headers: { accept: TYPES.join(', ') },
    maxBytes: MAX_BYTES,
  } as const
  try {
    return readJwt(await outgoing.slots.send(network, () => outgoing.send(new URL(uri), asked)))
  } catch (cause) {
    if (!(cause instanceof NotFetched)) throw cause
    throw new InvalidRequestUri('The request_uri cannot be fetched', { cause })
  }
}

/**
 * Whether the URL is registered. Its fragment, a hash of the content, may be absent from the
 * registration.
 */
function isRegistered(uri: string, { settings: { request_uris = [] } }: Client): boolean {
  const [address = ''] = uri.split('#')
  return request_uris.includes(uri) || request_uris.includes(address)
}

function readJwt(response: OutgoingResponse): string {
  if (response.status !== 200) throw new NotFetched(`The server responded with ${response.status}`)
  const type = (response.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (!TYPES.includes(type))
    throw new NotFetched('The response does not have the content type of a JWT')
  return response.body.toString('latin1').trim()
}
