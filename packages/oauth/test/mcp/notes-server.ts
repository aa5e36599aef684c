import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { Hono } from 'hono'
import { forHono } from '../../src/adapters/hono.ts'
import { type McpOptions, mcp, scopesOfToolCalls } from '../../src/index.ts'
import { startServer, type TestServer, type TestServerOptions } from '../support.ts'

const TOOLS = { list_notes: ['notes:read'], add_note: ['notes:read', 'notes:write'] }
const SCOPES = { 'notes:read': 'Read your notes', 'notes:write': 'Write notes for you' }

export interface NotesServer extends TestServer {
  /** URL of the MCP server, the only information that a client is given. */
  readonly address: string
}

export interface NotesOptions extends Partial<McpOptions> {
  readonly changes?: TestServerOptions
  /** A second MCP server on the same host. */
  readonly other?: string
}

/** Starts an MCP server and its authorization server on one loopback port. */
export async function startNotes(options: NotesOptions = {}): Promise<NotesServer> {
  const { changes = {}, other, ...settings } = options
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const address = `${issuer}/mcp`
  const notes = { scopes: Object.keys(SCOPES), scopesToAskFor: ['notes:read'] }
  const { features = [], ...rest } = changes
  const servers = { [address]: notes, ...(other && { [`${issuer}${other}`]: notes }) }
  const server = await startServer({
    issuer,
    scopes: SCOPES,
    features: [mcp({ servers, ...settings }), ...features],
    ...rest,
  })
  // Keeps the global `Response`: clients in this process would not recognize a replaced one.
  const web = { overrideGlobalObjects: false }
  http.on('request', getRequestListener(createApp(server, address).fetch, web))
  return {
    ...server,
    address,
    async close() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
      await server.close()
    },
  }
}

function createApp({ oauth }: TestServer, address: string): Hono {
  const app = new Hono()
  const { routes, auth, scopes, cors } = forHono(oauth, { resource: address })
  const notes: string[] = []
  app.use(routes)
  app.use('/mcp', cors())
  app.post(
    '/mcp',
    auth('api'),
    async (c, next) => scopes(...scopesOfToolCalls(await c.req.json(), TOOLS))(c, next),
    async (c) => {
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      await createTools(notes).connect(transport)
      return transport.handleRequest(c.req.raw, { parsedBody: await c.req.json() })
    },
  )
  app.all('/mcp', auth('api'), (c) => c.body(null, 405))
  return app
}

function createTools(notes: string[]): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })
  server.registerTool('list_notes', {}, () => text(`${notes.length} notes`))
  server.registerTool('add_note', {}, () => text(`written as ${notes.push('a note')}`))
  return server
}
