import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js'
import { forMcp, type McpGateOptions } from '@tollgate/gate/mcp'
import { useUp } from '@tollgate/gate/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { startGate, type TestGate, user } from './start-gate.ts'

const UPGRADE = 'https://example.com/billing'

/** An MCP server of the official SDK whose tools are counted, and a client of the SDK. */
async function start(options: Partial<McpGateOptions> = {}) {
  const { gate, assigned } = await startGate({ upgradeUrl: UPGRADE })
  const { admit, feature, admissionOf } = forMcp(gate, { subjectOf: () => user('7'), ...options })
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const say = (text: string) => ({ content: [{ type: 'text' as const, text }] })
  server.registerTool(
    'list',
    { description: 'Lists' },
    admit('calls')(() => say('none')),
  )
  server.registerTool(
    'ask',
    { description: 'Asks', inputSchema: { used: z.number() } },
    admit('tokens', { reserve: 80 })(async ({ used }, context) => {
      if (used < 0) throw new Error('The model does not answer')
      await admissionOf(context).settle(used)
      return say(`used ${used}`)
    }),
  )
  server.registerTool(
    'export',
    { description: 'Exports' },
    feature('export')(() => say('exported')),
  )
  const [near, far] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1.0.0' })
  await server.connect(far)
  await client.connect(near)
  onTestFinished(() => client.close())
  const call = async (name: string, args = {}) => {
    const result = await client.callTool({ name, arguments: args })
    const [content] = result.content as { text: string }[]
    return { text: content?.text, isError: result.isError ?? false }
  }
  return { gate, assigned, client, call }
}

const left = async (gate: TestGate, name: string) =>
  (await gate.usage(user('7'))).find(({ meter }) => meter === name)?.remaining

describe('the checks for tools of an MCP server', () => {
  it('count calls of tools only, and answer with a readable result when the quota is used up', async () => {
    const { gate, client, call } = await start()
    await client.listTools()
    await client.ping()
    expect(await left(gate, 'calls')).toBe(3)
    for (let at = 0; at < 3; at += 1) {
      expect(await call('list')).toEqual({ text: 'none', isError: false })
    }
    expect(await call('list')).toEqual({
      text: `The quota of calls of the plan free is used up until 2026-04-01 00:00 UTC. Other plans: ${UPGRADE}`,
      isError: true,
    })
  })

  it('count what a tool has settled, and nothing of a call that fails', async () => {
    const { gate, call } = await start()
    expect(await call('ask', { used: -1 })).toEqual({
      text: 'The model does not answer',
      isError: true,
    })
    await expect.poll(() => left(gate, 'tokens')).toBe(100)
    expect(await call('ask', { used: 30 })).toEqual({ text: 'used 30', isError: false })
    expect(await left(gate, 'tokens')).toBe(70)
    expect((await call('ask', { used: 30 })).isError).toBe(true)
    expect(await left(gate, 'tokens')).toBe(70)
  })

  it('name a feature that the plan lacks, until the plan has it', async () => {
    const { gate, assigned, call } = await start()
    expect((await call('export')).text).toBe(
      `The plan free does not include export. Other plans: ${UPGRADE}`,
    )
    assigned.set('7', 'pro')
    await gate.refresh(user('7'))
    expect((await call('export')).text).toBe('exported')
  })

  it('answer with a JSON-RPC error that has the link, if the server says so', async () => {
    const { gate, client } = await start({
      toError: ({ message, upgradeUrl }) =>
        new UrlElicitationRequiredError([
          { mode: 'url', elicitationId: 'plans', message, url: upgradeUrl ?? '' },
        ]),
    })
    await useUp(gate, user('7'), 'calls')
    await expect(client.callTool({ name: 'list' })).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ url: UPGRADE, message: expect.stringContaining('used up') }] },
    })
  })
})
