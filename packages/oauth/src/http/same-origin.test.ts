import type { HttpRequest } from '@tollgate/http'
import { describe, expect, it } from 'vitest'
import { assertSameOrigin } from './same-origin.ts'

const issuer = new URL('https://api.example.com/base')

function check(headers: Record<string, string>): void {
  const request = { header: (name: string) => headers[name] ?? null } as unknown as HttpRequest
  assertSameOrigin(request, issuer)
}

describe('assertSameOrigin', () => {
  it.each([
    {},
    { origin: 'https://api.example.com' },
    { origin: 'https://api.example.com', 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-origin' },
  ] as Record<string, string>[])('accepts a request with the headers %j', (headers) => {
    expect(() => check(headers)).not.toThrow()
  })

  it.each([
    { origin: 'null' },
    { origin: '' },
    { origin: 'http://api.example.com' },
    { origin: 'https://api.example.com:8443' },
    { origin: 'https://api.example.com.evil.example' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ] as Record<string, string>[])('rejects a request with the headers %j', (headers) => {
    expect(() => check(headers)).toThrow(expect.objectContaining({ code: 'csrf_mismatch' }))
  })
})
