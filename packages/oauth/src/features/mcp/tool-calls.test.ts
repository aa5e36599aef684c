import { describe, expect, it } from 'vitest'
import { scopesOfToolCalls } from './tool-calls.ts'

const TOOLS = { list: ['read'], add: ['read', 'write'], ping: [] }
const call = (name: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } })

describe('scopesOfToolCalls()', () => {
  it('gives what the tool needs', () => {
    expect(scopesOfToolCalls(call('list'), TOOLS)).toEqual(['read'])
    expect(scopesOfToolCalls(call('add'), TOOLS)).toEqual(['read', 'write'])
    expect(scopesOfToolCalls(call('ping'), TOOLS)).toEqual([])
  })

  it('looks at every message of a batch, and names each scope once', () => {
    expect(scopesOfToolCalls([call('ping'), call('list'), call('add')], TOOLS)).toEqual([
      'read',
      'write',
    ])
  })

  it.each(['forgotten', 'constructor', '__proto__', '', 5, null, undefined, ['list']])(
    'wants everything for a tool called %j',
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
  ])('wants nothing for %j', (message) => {
    expect(scopesOfToolCalls(message, TOOLS)).toEqual([])
  })

  it('wants everything for a call without parameters', () => {
    expect(scopesOfToolCalls({ method: 'tools/call' }, TOOLS)).toEqual(['read', 'write'])
  })
})
