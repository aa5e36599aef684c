import type { HttpRequest, HttpResponse } from '@tollgate/http'
import {
  expandRequest,
  type ReceivedAuthorizationRequest,
} from '../../authorization/expand-request.ts'
import { parseAuthorizationRequest, requireResponseTarget } from '../../authorization/request.ts'
import { authenticateClient } from '../../clients/authenticate.ts'
import { getPublicClientId } from '../../clients/client.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidDpopProof, InvalidRequest } from '../../errors.ts'
import { type Form, readForm, requireParam } from '../../http/form.ts'
import { noStoreJsonResponse } from '../../http/responses.ts'
import { parseSeconds } from '../../lifetimes.ts'
import { readProvenKey } from '../../tokens/proven-key.ts'
import type { Feature, ProvenKey } from '../feature.ts'
import { findPushedRequest, REQUEST_URI_PREFIX, storePushedRequest } from './pushed-request.ts'

/** Options of `pushedRequests()`. */
export interface PushedRequestsOptions {
  /**
   * Whether every client must push its requests. If `false`, only clients with the setting
   * `require_pushed_authorization_requests` must.
   * @default false
   */
  readonly required?: boolean
  /**
   * Whether every pushed request must name its `redirect_uri`, even if the client has registered
   * only one. If `false`, only requests with the scope `openid` must.
   * @default false
   */
  readonly requireRedirectUri?: boolean
  /**
   * Time within which the client must redirect the person, from 5 to 600 seconds.
   * @default 60
   */
  readonly lifetime?: string | number
}

const NAME = 'pushedRequests'
/** Shortest lifetime in seconds that RFC 9126 §2.2 suggests. */
const MIN_LIFETIME = 5
const MAX_LIFETIME = 600

/**
 * Adds pushed authorization requests (RFC 9126). The client authenticates, sends its request
 * directly to the server, and redirects the person with a reference to it, so that no one can read
 * or change the request in the browser.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode()], features: [pushedRequests()] })
 */
export function pushedRequests(options: PushedRequestsOptions = {}): Feature {
  const { required = false, requireRedirectUri = false, lifetime = 60 } = options
  const seconds = parseSeconds('pushedRequests: lifetime', lifetime)
  if (seconds < MIN_LIFETIME || seconds > MAX_LIFETIME) {
    throw new TypeError(
      `pushedRequests: lifetime must be ${MIN_LIFETIME} to ${MAX_LIFETIME} seconds.`,
    )
  }
  return {
    name: NAME,
    enforces: ['require_pushed_authorization_requests'],
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
      if (!uri?.startsWith(REQUEST_URI_PREFIX)) return null
      return findPushedRequest(uri, requireParam(params, 'client_id'), context)
    },
    readRequest(_params, { client, expandedBy, direct }) {
      const must = required || client.settings.require_pushed_authorization_requests === true
      if (must && !direct && !expandedBy.includes(NAME)) {
        throw new InvalidRequest('This request must be pushed first (RFC 9126)')
      }
      return null
    },
  }
}

/**
 * Handles POST /oauth/par. Validates the request completely, like the authorization request that
 * follows (RFC 9126 §2.1).
 */
async function push(
  request: HttpRequest,
  { seconds, requireRedirectUri }: { seconds: number; requireRedirectUri: boolean },
  context: ServerContext,
): Promise<HttpResponse> {
  const form = await readForm(request)
  const client = await authenticateClient(request, form, context)
  if (form.has('request_uri'))
    throw new InvalidRequest('A pushed request must not contain request_uri')
  const clientId = getPublicClientId(client)
  const sent = new Map([...withoutProof(form), ['client_id', clientId]])
  const proven =
    request.header('dpop') === null ? null : await readProvenKey(request, client, context)
  const received = withKey(await expandRequest(sent, context), proven)
  if (requireRedirectUri) requireParam(received.params, 'redirect_uri')
  const pushed = { ...received, expandedBy: [...received.expandedBy, NAME] }
  const address = await requireResponseTarget(pushed.params, context)
  parseAuthorizationRequest(pushed, address, null, context)
  const { params, expandedBy } = received
  const uri = await storePushedRequest({ client, params, expandedBy }, seconds, context)
  return noStoreJsonResponse({ request_uri: uri, expires_in: seconds }, 201, proven?.headers)
}

/** Adds the key of the DPoP proof as `dpop_jkt`, which has the same meaning (RFC 9449 §10.1). */
function withKey(
  received: ReceivedAuthorizationRequest,
  proven: ProvenKey | null,
): ReceivedAuthorizationRequest {
  if (!proven) return received
  const { thumbprint } = proven
  const named = received.params.get('dpop_jkt')
  if (named !== undefined && named !== thumbprint) {
    throw new InvalidDpopProof(
      'The DPoP proof is signed with a different key than the one named by dpop_jkt',
    )
  }
  return { ...received, params: new Map([...received.params, ['dpop_jkt', thumbprint]]) }
}

/** Drops the client's credentials, which are not part of the request and must not be stored. */
function withoutProof(form: Form): [string, string][] {
  const proof = ['client_secret', 'client_assertion', 'client_assertion_type']
  return [...form].filter(([name]) => !proof.includes(name))
}
