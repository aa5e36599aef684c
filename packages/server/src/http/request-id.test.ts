import { describe, expect, it } from 'vitest'
import { readRequestId } from './request-id.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`

describe('the id that the service gives a request', () => {
  it.each<[string, Record<string, string>, boolean, string | RegExp]>([
    ['X-Request-Id of a trusted proxy', { 'x-request-id': 'edge-12345678' }, true, 'edge-12345678'],
    ['traceparent of a trusted proxy', { traceparent }, true, TRACE],
    [
      'X-Request-Id before traceparent',
      { 'x-request-id': 'edge-12345678', traceparent },
      true,
      'edge-12345678',
    ],
    [
      'headers of a caller without a trusted proxy',
      { 'x-request-id': 'a'.repeat(16) },
      false,
      UUID,
    ],
    ['traceparent of a caller without a trusted proxy', { traceparent }, false, UUID],
    ['no header', {}, true, UUID],
    ['an id that is too short', { 'x-request-id': '1234567' }, true, UUID],
    ['an id that is too long', { 'x-request-id': 'a'.repeat(65) }, true, UUID],
    ['an id with a line break', { 'x-request-id': 'edge-123\nforged' }, true, UUID],
    ['an id with markup', { 'x-request-id': '<script>x</script>' }, true, UUID],
    [
      'a trace id of zeros',
      { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
      true,
      UUID,
    ],
    ['a traceparent of another version', { traceparent: `01${traceparent.slice(2)}` }, true, UUID],
  ])('is taken from the header: %s', (_, headers, isFromProxy, expected) => {
    const id = readRequestId((name) => headers[name], isFromProxy)
    if (typeof expected === 'string') expect(id).toBe(expected)
    else expect(id).toMatch(expected)
  })

  it('is different for each request', () => {
    const ids = Array.from({ length: 100 }, () => readRequestId(() => undefined, false))
    expect(new Set(ids).size).toBe(100)
  })
})
