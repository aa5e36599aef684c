import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { expandRequest, type ReceivedRequest } from '../../authorization/expand-request.ts'
import { parseAuthorizationRequest, requireReturnAddress } from '../../authorization/request.ts'
import { authenticateClient } from '../../clients/authenticate.ts'
import { clientIdOf } from '../../clients/client.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidDpopProof, InvalidRequest } from '../../errors.ts'
import { type Form, readForm, requireParam } from '../../http/form.ts'
import { noStoreJson } from '../../http/responses.ts'
import { parseSeconds } from '../../lifetimes.ts'
import { proveKey } from '../../tokens/proven-key.ts'
import type { Feature, ProvenKey } from '../feature.ts'
import { findPushed, REQUEST_URI, storePushed } from './pushed-request.ts'

/** What `pushedRequests()` is made with. */
export interface PushedRequestsOptions {
  /** Every client has to push its requests. Default: those with `require_pushed_authorization_requests`. */
  readonly required?: boolean
  /**
   * Every pushed request has to name its `redirect_uri`, though the client has registered only one. Default: those for
   * the scope `openid`.
   */
  readonly requireRedirectUri?: boolean
  /** How long a client has to send the person with it, 5 to 600 seconds. Default 60 seconds. */
  readonly lifetime?: string | number
}

const NAME = 'pushedRequests'
/** RFC 9126 §2.2. */
const SHORTEST = 5
const LONGEST = 600

/**
 * Pushed authorization requests (RFC 9126): the client sends its request to us first, proves itself, and sends
 * the person with a name for it. Nobody can read or change the request on its way through the browser.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode()], features: [pushedRequests()] })
 */
export function pushedRequests(options: PushedRequestsOptions = {}): Feature {
  const { required = false, requireRedirectUri = false, lifetime = 60 } = options
  const seconds = parseSeconds('pushedRequests: lifetime', lifetime)
  if (seconds < SHORTEST || seconds > LONGEST) {
    throw new TypeError(`pushedRequests: lifetime must be ${SHORTEST} to ${LONGEST} seconds.`)
  }
  return {
    name: NAME,
    meets: ['require_pushed_authorization_requests'],
    routes: [
      {
        method: 'POST',
        path: '/par',
        openTo: 'clients',
        endpoint: (request, context: ServerContext) =>
          push(request, { seconds, requireRedirectUri }, context),
      },
    ],
    metadata: ({ options: { issuerUrl, basePath } }: ServerContext) => ({
      pushed_authorization_request_endpoint: `${issuerUrl.origin}${basePath}/par`,
      require_pushed_authorization_requests: required,
    }),
    expandRequest(params, context: ServerContext) {
      const uri = params.get('request_uri')
      if (!uri?.startsWith(REQUEST_URI)) return null
      return findPushed(uri, requireParam(params, 'client_id'), context)
    },
    readRequest(_params, { client, expandedBy, direct }) {
      const must = required || client.settings.require_pushed_authorization_requests === true
      if (must && !direct && !expandedBy.includes(NAME)) {
        throw new InvalidRequest('This request has to be pushed first (RFC 9126)')
      }
      return null
    },
  }
}

/** POST /oauth/par: everything is checked as it will be when the person comes (RFC 9126 §2.1). */
async function push(
  request: HttpRequest,
  { seconds, requireRedirectUri }: { seconds: number; requireRedirectUri: boolean },
  context: ServerContext,
): Promise<HttpResponse> {
  const form = await readForm(request)
  const client = await authenticateClient(request, form, context)
  if (form.has('request_uri')) throw new InvalidRequest('A pushed request has no request_uri')
  const clientId = clientIdOf(client)
  const sent = new Map([...withoutProof(form), ['client_id', clientId]])
  const proven = request.header('dpop') === null ? null : await proveKey(request, client, context)
  const received = withKey(await expandRequest(sent, context), proven)
  if (requireRedirectUri) requireParam(received.params, 'redirect_uri')
  const pushed = { ...received, expandedBy: [...received.expandedBy, NAME] }
  const address = await requireReturnAddress(pushed.params, context)
  parseAuthorizationRequest(pushed, address, null, context)
  const { params, expandedBy } = received
  const uri = await storePushed({ client, params, expandedBy }, seconds, context)
  return noStoreJson({ request_uri: uri, expires_in: seconds }, 201, proven?.headers)
}

/** RFC 9449 §10.1: a proof that goes with a pushed request says what `dpop_jkt` would. */
function withKey(received: ReceivedRequest, proven: ProvenKey | null): ReceivedRequest {
  if (!proven) return received
  const { thumbprint } = proven
  const said = received.params.get('dpop_jkt')
  if (said !== undefined && said !== thumbprint) {
    throw new InvalidDpopProof('The DPoP proof is by another key than dpop_jkt names')
  }
  return { ...received, params: new Map([...received.params, ['dpop_jkt', thumbprint]]) }
}

/** How the client has proven itself is not part of what it asks for, and is not stored. */
function withoutProof(form: Form): [string, string][] {
  const proof = ['client_secret', 'client_assertion', 'client_assertion_type']
  return [...form].filter(([name]) => !proof.includes(name))
}
