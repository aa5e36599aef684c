import type { Config } from '../../config/config.ts'
import { describeErrorBriefly, type Finding, ok, problem, warning } from './finding.ts'

const CHECK = 'mcp'
const TIMEOUT = 5000
const METADATA = '/.well-known/oauth-protected-resource'

/**
 * Checks the MCP servers in the setting `mcpServers`: which scopes clients can get for them, and
 * whether a client that knows only the address of a server finds this service.
 */
export async function checkMcp(config: Config): Promise<Finding[]> {
  const { settings, selfRegistered, url } = config
  const servers = Object.entries(settings.mcpServers ?? {})
  if (servers.length === 0) return []
  const how =
    selfRegistered.policy === 'closed'
      ? 'Only clients with a metadata document can use MCP servers, because registration is closed'
      : 'Clients can use MCP servers with a metadata document, or after registration'
  const findings = [ok(CHECK, how)]
  for (const [uri, { scopes }] of servers) {
    findings.push(...checkOpening(uri, scopes, config))
    if (url !== null) findings.push(await checkServer(uri, url))
  }
  return findings
}

function checkOpening(
  uri: string,
  scopes: readonly string[],
  { mode, selfRegistered: { resources } }: Config,
): Finding[] {
  const findings: Finding[] = []
  if (resources !== null && !resources.includes(uri)) {
    const fix = 'Add it to selfRegistered.resources, or remove that setting.'
    findings.push(
      warning(CHECK, `Clients that register themselves cannot get tokens for ${uri}`, fix),
    )
  } else if (scopes.length === 0) {
    const fix = `List the scopes that its tools need in mcpServers['${uri}'].scopes.`
    findings.push(
      warning(CHECK, `Every client can get tokens for ${uri}, but without any scope`, fix),
    )
  } else {
    findings.push(ok(CHECK, `Every client may request ${scopes.join(', ')} at ${uri}`))
  }
  if (mode === 'production' && uri.startsWith('http:')) {
    findings.push(warning(CHECK, `${uri} is not https: it can only be used on this machine`))
  }
  return findings
}

/**
 * Follows the discovery of a client (RFC 9728): the `resource_metadata` in the challenge, else the
 * well-known address.
 */
async function checkServer(uri: string, issuer: string): Promise<Finding> {
  let metadata: { readonly resource?: unknown; readonly authorization_servers?: unknown } | null
  let address: string
  try {
    address = await findMetadata(uri)
    const response = await fetchWithTimeout(address)
    metadata = response.ok ? await response.json().catch(() => null) : null
  } catch (error) {
    const fix = 'Start the server, or correct its URL in mcpServers.'
    return warning(CHECK, `${uri} does not respond: ${describeErrorBriefly(error)}`, fix)
  }
  if (metadata === null || typeof metadata !== 'object') {
    const fix =
      'The server must publish its metadata (RFC 9728); the adapters of @tollgate/oauth do this.'
    return warning(
      CHECK,
      `${uri} has no metadata that names its authorization server; expected it at ${address}`,
      fix,
    )
  }
  const { resource, authorization_servers: servers } = metadata
  if (resource !== uri) {
    const fix = 'Use exactly the same URL in mcpServers and in the metadata.'
    return problem(
      CHECK,
      `The metadata of ${uri} names the resource ${String(resource)}, so clients reject it`,
      fix,
    )
  }
  const named = Array.isArray(servers) ? servers : []
  if (named.includes(issuer))
    return ok(CHECK, `${uri} names this service as its authorization server`)
  const fix = `Add ${issuer} to authorization_servers in its metadata.`
  return problem(
    CHECK,
    `${uri} names ${named.join(', ') || 'no server'} as its authorization server, not this service`,
    fix,
  )
}

async function findMetadata(uri: string): Promise<string> {
  const challenge = (await fetchWithTimeout(uri)).headers.get('www-authenticate') ?? ''
  const advertised = /resource_metadata="([^"]+)"/.exec(challenge)?.[1]
  if (advertised !== undefined && URL.canParse(advertised)) return advertised
  const { origin, pathname } = new URL(uri)
  return `${origin}${METADATA}${pathname === '/' ? '' : pathname}`
}

function fetchWithTimeout(address: string): Promise<Response> {
  return fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT) })
}
