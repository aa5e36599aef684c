import { describe, expect, it } from 'vitest'
import { scopesOfToolCalls } from './tool-calls.ts'

const TOOLS = { list: ['read'], add: ['read', 'write'], ping: [] }
const call = (name: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } })

describe('scopesOfToolCalls', () => {
  it('returns the scopes that the called tool needs', () => {
    expect(scopesOfToolCalls(call('list'), TOOLS)).toEqual(['read'])
    expect(scopesOfToolCalls(call('add'), TOOLS)).toEqual(['read', 'write'])
    expect(scopesOfToolCalls(call('ping'), TOOLS)).toEqual([])
  })

  it('combines the scopes of all calls in a JSON-RPC batch, without duplicates', () => {
    expect(scopesOfToolCalls([call('ping'), call('list'), call('add')], TOOLS)).toEqual([
      'read',
      'write',
    ])
  })

  it.each(['forgotten', 'constructor', '__proto__', '', 5, null, undefined, ['list']])(
    'returns the scopes of all tools if the called tool %j is unknown',
    (name) => {
      expect(scopesOfToolCalls(call(name), TOOLS)).toEqual(['read', 'write'])
    },
  )

  it.each([
    undefined,
    null,
    'text',
    5,
    [],
    {},
    { method: 'tools/list' },
    { method: ['tools/call'] },
  ])('returns no scopes if the request body calls no tool: %j', (message) => {
    expect(scopesOfToolCalls(message, TOOLS)).toEqual([])
  })

  it('returns the scopes of all tools for a tools/call message without parameters', () => {
    expect(scopesOfToolCalls({ method: 'tools/call' }, TOOLS)).toEqual(['read', 'write'])
  })
})
