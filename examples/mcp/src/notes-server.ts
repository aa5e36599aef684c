import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'

/**
 * What each tool needs; one that is forgotten here needs everything. Writing goes with reading, because older clients
 * ask for what a refusal names and give up the rest.
 */
export const TOOL_SCOPES: Readonly<Record<string, readonly string[]>> = {
  list_notes: ['notes:read'],
  add_note: ['notes:read', 'notes:write'],
}

const say = (text: string) => ({ content: [{ type: 'text' as const, text }] })

/** The tools, for the notes of one person. */
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
