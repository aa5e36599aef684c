import type { ServerContext } from '../../context.ts'
import { type ClientKeyAlgorithm, clientKeyAlgorithms } from '../../crypto.ts'
import { InvalidRequest } from '../../errors.ts'
import { type Form, requireParam } from '../../http/form.ts'
import type { Client } from '../../storage/records.ts'
import type { ExpandedRequest, Feature } from '../feature.ts'
import { fetchObject } from './fetch-object.ts'
import { paramsOfObject } from './object-params.ts'
import { formatSeenMarker, readSeenMarker, SEEN_MARKER } from './object-seen.ts'
import { verifyRequestObject } from './request-object.ts'

/** What `requestObjects()` is made with. */
export interface RequestObjectsOptions {
  /** Every client has to sign its requests. Default: those with `require_signed_request_object`. */
  readonly required?: boolean
  /** What they may be signed with. Default: all of them. */
  readonly algorithms?: readonly ClientKeyAlgorithm[]
  /**
   * Unsigned objects (`none`) are taken of every client that has not said what it signs with and need not sign.
   * OpenID Connect knows them; they protect nothing. `never`: of no client. Default: of clients whose settings say `none`.
   */
  readonly unsigned?: boolean | 'never'
  /**
   * Objects may lie at an https address of the client, one of its `request_uris`, and are fetched from there.
   * Default false.
   */
  readonly byReference?: boolean
}

const NAME = 'requestObjects'

interface Settings {
  readonly required: boolean
  readonly algorithms: readonly ClientKeyAlgorithm[]
  readonly unsigned: boolean
  /** `none` will not do, whatever a client's settings say. */
  readonly signed: boolean
}

/**
 * Signed authorization requests (RFC 9101): the parameters come in a JWT that the client has signed, so nobody
 * can change them on their way through the browser. Its public keys are in `settings.jwks` of the client.
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
    throw new TypeError('requestObjects: with required nothing unsigned is taken.')
  }
  return {
    name: NAME,
    meets: ['require_signed_request_object'],
    metadata: () => ({
      request_parameter_supported: true,
      // What is listed has to be taken of clients that do not say what they use (Registration §2).
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
        throw new InvalidRequest('This request has to come as a signed request object (RFC 9101)')
      }
      return null
    },
  }
}

/** RFC 9101 §6.3: from the object alone; what stands beside it counts for nothing. */
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
  const object = { text, clientId, marker: params.get(SEEN_MARKER) }
  const seenAt = readSeenMarker(object, context)
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
    params: paramsOfObject(claims, clientId),
    // Objects live for a minute, people take longer to sign in.
    keep: async () => ({ [SEEN_MARKER]: formatSeenMarker(object, seenAt ?? now, context) }),
  }
}

function mustSign({ settings }: Client, { required }: Settings): boolean {
  return required || settings.require_signed_request_object === true
}
