import * as second from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Host } from './host.ts'

/** One connection of an official client, which knows only the URL of an MCP server. */
export interface Connection {
  connect(): Promise<void>
  /** Calls the tool and returns its text. */
  call(tool: string, given?: Record<string, string>): Promise<string>
  /** Finishes the sign-in with the parameters of the redirect. */
  finish(back: URLSearchParams): Promise<void>
  close(): Promise<void>
}

export interface OfficialClient {
  readonly name: string
  /**
   * Whether the client asks the person again after a failed refresh. Version 1.x asks again only if
   * it has no refresh token.
   */
  readonly asksAgain: boolean
  open(address: string, host: Host): Connection
}

const ABOUT = { name: 'tests', version: '1.0.0' }

const sdk: OfficialClient = {
  name: '@modelcontextprotocol/sdk 1.x',
  asksAgain: false,
  open(address, host) {
    const client = new Client(ABOUT)
    const transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: host })
    return {
      // The client's types say `undefined` where the transport's types omit the property.
      connect: () => client.connect(transport as Transport),
      call: async (name, given = {}) => textOf(await client.callTool({ name, arguments: given })),
      finish: (back) => transport.finishAuth(back.get('code') ?? ''),
      close: () => client.close(),
    }
  },
}

const client: OfficialClient = {
  name: '@modelcontextprotocol/client 2.x',
  asksAgain: true,
  open(address, host) {
    const client = new second.Client(ABOUT)
    const transport = new second.StreamableHTTPClientTransport(new URL(address), {
      authProvider: host as second.OAuthClientProvider,
    })
    return {
      connect: () => client.connect(transport),
      call: async (name, given = {}) => textOf(await client.callTool({ name, arguments: given })),
      finish: (back) => transport.finishAuth(back),
      close: () => client.close(),
    }
  },
}

export const officialClients: readonly OfficialClient[] = [sdk, client]

function textOf(result: unknown): string {
  const { content } = result as { content: readonly { text: string }[] }
  return content[0]?.text ?? ''
}
