import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'

/**
 * Scopes that each tool needs. A tool that is missing here needs all of them. Writing includes
 * reading, because older clients request only the scopes named in an error and give up the others.
 */
export const TOOL_SCOPES: Readonly<Record<string, readonly string[]>> = {
  list_notes: ['notes:read'],
  add_note: ['notes:read', 'notes:write'],
}

const say = (text: string) => ({ content: [{ type: 'text' as const, text }] })

/** Creates the tools for one user's notes. */
export function createNotesServer(notes: string[]): McpServer {
  const server = new McpServer({ name: 'notes', version: '0.1.0' })
  server.registerTool('list_notes', { description: 'All notes, oldest first' }, () =>
    say(notes.join('\n') || 'There are no notes yet.'),
  )
  server.registerTool(
    'add_note',
    { description: 'Writes a note', inputSchema: { text: z.string().min(1).max(1000) } },
    ({ text }) => {
      notes.push(text)
      return say(`Note ${notes.length} is written.`)
    },
  )
  return server
}
