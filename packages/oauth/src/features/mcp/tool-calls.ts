/**
 * Returns the scopes that a request to an MCP server needs: those of every tool that it calls. A
 * tool that is not listed needs all scopes, so that a forgotten tool is not open to everyone.
 * @example
 * const TOOLS = { list_notes: ['notes:read'], add_note: ['notes:write'] }
 * app.post('/mcp', auth('api'), async (c) => {
 *   const message = await c.req.json()
 *   return scopes(...scopesOfToolCalls(message, TOOLS))(c, () => respond(c, message))
 * })
 */
export function scopesOfToolCalls(
  message: unknown,
  tools: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  // Before revision 2025-06-18 one request could contain several messages.
  const messages = Array.isArray(message) ? message : [message]
  const needed = messages.flatMap((each) => findMessageScopes(each, tools))
  return [...new Set(needed)]
}

function findMessageScopes(
  message: unknown,
  tools: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  if (memberOf(message, 'method') !== 'tools/call') return []
  const name = memberOf(memberOf(message, 'params'), 'name')
  if (typeof name === 'string' && Object.hasOwn(tools, name)) return tools[name] ?? []
  return Object.values(tools).flat()
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}
