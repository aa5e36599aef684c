import { isLoopback } from '../../clients/settings/checks.ts'
import type { ServerContext } from '../../context.ts'
import { UnsupportedResponseType } from '../../errors.ts'
import type { Form } from '../../http/form.ts'
import type { ResourceOptions } from '../../resources/resources.ts'
import { cors } from '../cors.ts'
import type { Feature, RequestedAuthorization } from '../feature.ts'
import { clientMetadataDocuments } from '../registration/client-metadata-documents.ts'
import { clientRegistration } from '../registration/client-registration.ts'
import { requireCodeChallenge } from '../require-pkce.ts'

/** An MCP server: an API whose clients register themselves. */
export interface McpServerOptions extends ResourceOptions {
  /** Scopes that the server's tools need. Clients that register themselves may request them. */
  readonly scopes: readonly string[]
}

/** Options of `mcp()`. */
export interface McpOptions {
  /** The MCP servers, by the URL that people enter in their client. */
  readonly servers: Readonly<Record<string, McpServerOptions>>
  /**
   * Whether clients may register themselves (RFC 7591). Clients with a metadata document are
   * accepted in either case. The Model Context Protocol has deprecated registration, but many
   * clients support nothing else.
   * @default 'open'
   */
  readonly registration?: 'open' | 'closed'
  /**
   * Accepted redirect URIs. `apps`: https, a loopback address, or a private-use scheme such as
   * `cursor:`, the latter only for clients without a secret, which must use PKCE. `web`: no
   * private-use schemes.
   * @default 'apps'
   */
  readonly redirects?: 'web' | 'apps'
  /**
   * Origins of clients that run in a browser, such as `https://inspector.example.com`.
   * @default []
   */
  readonly origins?: readonly string[]
}

/** Headers that MCP clients send and read, of all revisions of Streamable HTTP. */
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
 * Protects MCP servers by the authorization of the Model Context Protocol, revision 2026-07-28. A
 * client that knows the URL of an MCP server discovers this authorization server, identifies itself
 * by a metadata document or registers, and gets tokens for that MCP server only.
 * @throws TypeError if a server's URL is unsuitable, or if `authorizationCode()` or
 * `refreshToken()` is missing
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
      // MCP clients know at most the scopes of the first challenge, and request more when a tool
      // needs them.
      clientMetadataDocuments({ scopes: 'marked', redirects }),
      clientRegistration({ policy: registration, scopes: 'marked', redirects }),
      cors({ origins, requestHeaders: REQUEST_HEADERS, responseHeaders: RESPONSE_HEADERS }),
    ],
    resources: Object.fromEntries(
      entries.map(([uri, server]) => [uri, { accessTokensExpireIn: '1h', ...server }]),
    ),
    selfRegistered: {
      // With openid() clients request offline_access as soon as the metadata lists it.
      scopes: [...new Set(entries.flatMap(([, { scopes }]) => scopes)), 'offline_access'],
      // Without the server's own API: a stranger's token would pass every guard there that demands
      // no scope.
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

/**
 * Requires the code flow with PKCE for every client (OAuth 2.1, on which the protocol builds). The
 * device flow has its own protection.
 */
function assertCode(params: Form, request: RequestedAuthorization): void {
  const { responseType, direct } = request
  if (direct) return
  if (responseType !== 'code') {
    throw new UnsupportedResponseType(
      'Tokens for this resource are available only with response_type=code',
    )
  }
  requireCodeChallenge(params, request, 'This resource')
}

/** Returns why no MCP server can have this URL, or `null` if it can. */
function serverProblem(uri: string, scopes: unknown): string | null {
  if (!URL.canParse(uri)) return "should look like 'https://api.example.com/mcp'."
  const { protocol, hostname, href, hash, search, username, password } = new URL(uri)
  const isLocal = protocol === 'http:' && isLoopback(hostname)
  if (protocol !== 'https:' && !isLocal) return 'must use https (http only on localhost).'
  if (uri.includes('#') || hash || search || username || password) {
    return 'must have no query, no fragment, no user name and no password.'
  }
  // Clients compare it character by character with what was entered.
  if (href !== uri && href !== `${uri}/`) return `should be written '${href}'.`
  if (!Array.isArray(scopes)) {
    return 'needs scopes: the list of scopes that self-registered clients may request.'
  }
  return null
}
