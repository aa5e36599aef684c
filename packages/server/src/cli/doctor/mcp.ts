import type { Config } from '../../config/config.ts'
import { type Finding, ok, problem, reason, warning } from './finding.ts'

const CHECK = 'mcp'
const PATIENCE = 5000
const METADATA = '/.well-known/oauth-protected-resource'

/** What `mcpServers` opens, and whether clients that know nothing but their addresses would find this service. */
export async function checkMcp(config: Config): Promise<Finding[]> {
  const { settings, selfRegistered, url } = config
  const servers = Object.entries(settings.mcpServers ?? {})
  if (servers.length === 0) return []
  const how =
    selfRegistered.policy === 'closed'
      ? 'Only clients with a metadata document come to MCP servers: registration is closed'
      : 'Clients come to MCP servers by a metadata document, or register'
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
    const fix = 'Name it in selfRegistered.resources, or leave that out.'
    findings.push(warning(CHECK, `No client that comes by itself gets a token for ${uri}`, fix))
  } else if (scopes.length === 0) {
    const fix = `Name in mcpServers['${uri}'].scopes what its tools need.`
    findings.push(warning(CHECK, `Every client gets tokens for ${uri}, without any scope`, fix))
  } else {
    findings.push(ok(CHECK, `Every client may ask people for ${scopes.join(', ')} at ${uri}`))
  }
  if (mode === 'production' && uri.startsWith('http:')) {
    findings.push(warning(CHECK, `${uri} is not https: only this machine reaches it`))
  }
  return findings
}

/** As a client does: by what the server says when nobody has a token, or else at the well-known address. */
async function checkServer(uri: string, issuer: string): Promise<Finding> {
  let metadata: { readonly resource?: unknown; readonly authorization_servers?: unknown } | null
  let address: string
  try {
    address = await findMetadata(uri)
    const response = await ask(address)
    metadata = response.ok ? await response.json().catch(() => null) : null
  } catch (error) {
    const fix = 'Start it, or correct the address in mcpServers.'
    return warning(CHECK, `Nobody answers at ${uri}: ${reason(error)}`, fix)
  }
  if (metadata === null || typeof metadata !== 'object') {
    const fix = 'Let it serve its metadata (RFC 9728); the adapters of @tollgate/oauth do.'
    return warning(CHECK, `${uri} does not say where its tokens come from (${address})`, fix)
  }
  const { resource, authorization_servers: servers } = metadata
  if (resource !== uri) {
    const fix = 'Write the address the same way in mcpServers and there.'
    return problem(CHECK, `${uri} calls itself ${String(resource)}: clients refuse that`, fix)
  }
  const named = Array.isArray(servers) ? servers : []
  if (named.includes(issuer)) return ok(CHECK, `${uri} sends its clients here`)
  const fix = `Its metadata should have ${issuer} among authorization_servers.`
  return problem(CHECK, `${uri} sends its clients to ${named.join(', ') || 'nobody'}`, fix)
}

async function findMetadata(uri: string): Promise<string> {
  const challenge = (await ask(uri)).headers.get('www-authenticate') ?? ''
  const told = /resource_metadata="([^"]+)"/.exec(challenge)?.[1]
  if (told !== undefined && URL.canParse(told)) return told
  const { origin, pathname } = new URL(uri)
  return `${origin}${METADATA}${pathname === '/' ? '' : pathname}`
}

function ask(address: string): Promise<Response> {
  return fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(PATIENCE) })
}
