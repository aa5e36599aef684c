import type { ServerContext } from '../../context.ts'
import { UnsupportedResponseType } from '../../errors.ts'
import type { Form } from '../../http/form.ts'
import type { ResourceOptions } from '../../resources/resources.ts'
import { cors } from '../cors.ts'
import type { Feature, RequestedAuthorization } from '../feature.ts'
import { clientMetadataDocuments } from '../registration/client-metadata-documents.ts'
import { clientRegistration } from '../registration/client-registration.ts'
import { requireChallenge } from '../require-pkce.ts'
import { serverProblem } from './server-address.ts'

/** An MCP server: an API whose clients register themselves. */
export interface McpServerOptions extends ResourceOptions {
  /** The scopes its tools need. Clients that register themselves may ask people for them. */
  readonly scopes: readonly string[]
}

/** What `mcp()` is made with. */
export interface McpOptions {
  /** Each MCP server by its address, as people type it into their client. */
  readonly servers: Readonly<Record<string, McpServerOptions>>
  /**
   * Whether clients may register themselves, beside those with a metadata document: the protocol has deprecated it, and
   * many clients know nothing else. Default `open`.
   */
  readonly registration?: 'open' | 'closed'
  /**
   * Where clients may be answered. `apps`: at https, at a loopback address of the person's own machine, or at the scheme of
   * a program, such as `cursor:`; the latter without a secret and with PKCE only. `web`: not at a scheme. Default `apps`.
   */
  readonly redirects?: 'web' | 'apps'
  /** The origins of clients that run in a browser, such as `https://inspector.example.com`. Default: none. */
  readonly origins?: readonly string[]
}

/** What clients send and read beside the token (Streamable HTTP, of all revisions). */
const REQUEST_HEADERS = [
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
  'last-event-id',
]
const RESPONSE_HEADERS = ['mcp-session-id', 'mcp-protocol-version']
const NEEDED_GRANTS = ['authorization_code', 'refresh_token']

/**
 * The authorization of the Model Context Protocol, revision 2026-07-28: whoever knows the address of an MCP server
 * finds this one, is known here by a metadata document or registers, and gets tokens for that server alone.
 * @example
 * createAuthorizationServer({
 *   …, scopes: { 'notes:read': 'Read your notes' }, grants: [authorizationCode(), refreshToken()],
 *   features: [mcp({ servers: { 'https://api.example.com/mcp': { scopes: ['notes:read'] } } })],
 * })
 */
export function mcp(options: McpOptions): Feature {
  const { servers, registration = 'open', redirects = 'apps', origins = [] } = options
  const entries = Object.entries(servers)
  if (entries.length === 0) throw new TypeError('mcp: servers is empty, give at least one.')
  for (const [uri, { scopes }] of entries) {
    const problem = serverProblem(uri, scopes)
    if (problem !== null) throw new TypeError(`mcp: servers['${uri}'] ${problem}`)
  }
  const addresses = entries.map(([uri]) => uri)
  return {
    name: 'mcp',
    includes: [
      // They know the scopes of the first challenge at most, and ask for more when a tool needs it.
      clientMetadataDocuments({ scopes: 'marked', redirects }),
      clientRegistration({ policy: registration, scopes: 'marked', redirects }),
      cors({ origins, requestHeaders: REQUEST_HEADERS, responseHeaders: RESPONSE_HEADERS }),
    ],
    resources: Object.fromEntries(
      entries.map(([uri, server]) => [uri, { accessTokensExpireIn: '1h', ...server }]),
    ),
    selfRegistered: {
      // With openid() clients ask for offline_access as soon as they read of it.
      scopes: [...new Set(entries.flatMap(([, { scopes }]) => scopes)), 'offline_access'],
      // Not for the server's own API: a stranger's token would pass every guard there that asks for no scope.
      resources: addresses,
    },
    readRequest(params, request) {
      if (request.resources?.some((uri) => addresses.includes(uri))) assertCode(params, request)
      return null
    },
    start({ grants }: ServerContext) {
      const missing = NEEDED_GRANTS.find((type) => !grants.has(type))
      if (missing === undefined) return () => {}
      throw new TypeError('mcp() needs authorizationCode() and refreshToken() in grants.')
    },
  }
}

/** OAuth 2.1, which the protocol builds on: codes only, and PKCE for every client. A device has its own proof. */
function assertCode(params: Form, request: RequestedAuthorization): void {
  const { responseType, direct } = request
  if (direct) return
  if (responseType !== 'code') {
    throw new UnsupportedResponseType('Tokens for this resource come by response_type=code only')
  }
  requireChallenge(params, request, 'This resource')
}
