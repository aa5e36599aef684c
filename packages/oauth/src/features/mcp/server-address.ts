import { isLoopback } from '../../clients/settings/checks.ts'

/** Null when an MCP server can be at this address, else why not. */
export function serverProblem(uri: string, scopes: unknown): string | null {
  if (!URL.canParse(uri)) return "should look like 'https://api.example.com/mcp'."
  const { protocol, hostname, href, hash, search, username, password } = new URL(uri)
  const isLocal = protocol === 'http:' && isLoopback(hostname)
  if (protocol !== 'https:' && !isLocal) return 'must use https (http only on localhost).'
  if (uri.includes('#') || hash || search || username || password) {
    return 'must have no query, no fragment and no user.'
  }
  // Clients compare it character by character with what was typed.
  if (href !== uri && href !== `${uri}/`) return `should be written '${href}'.`
  if (!Array.isArray(scopes)) {
    return 'needs scopes: what is listed there is open to clients that register themselves.'
  }
  return null
}
