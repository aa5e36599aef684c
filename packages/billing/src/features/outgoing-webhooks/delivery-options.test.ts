import { describe, expect, it } from 'vitest'
import { type DeliveryOptions, resolveDeliveries } from './delivery-options.ts'
import { isDeliverySecret } from './signature.ts'

const url = 'https://app.example.com/events?key=hidden'
const secret = `whsec_${Buffer.alloc(32, 'key').toString('base64')}`

function refusal(options: DeliveryOptions): string {
  try {
    resolveDeliveries(options)
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return String(error)
  }
  throw new Error('It was accepted')
}

describe('the `deliveries` option', () => {
  it.each([
    ['an invalid URL', [{ url: 'app.example.com', secret }], /endpoints\.0\.url: expected/],
    ['another scheme', [{ url: 'ftp://a.example', secret }], /endpoints\.0\.url: expected/],
    ['a URL with a password', [{ url: 'https://a:pass@a.example', secret }], /it has a user/],
    ['a missing secret', [{ url, secret: undefined }], /endpoints\.0\.secret is missing/],
    ['an empty list of secrets', [{ url, secret: [] }], /endpoints\.0\.secret is missing/],
    ['a secret without whsec_', [{ url, secret: secret.slice(6) }], /expected whsec_/],
    ['a short secret', [{ url, secret: 'whsec_c2hvcnQ=' }], /24 to 64 bytes/],
    ['a long secret', [{ url, secret: `whsec_${'YWFh'.repeat(22)}` }], /24 to 64 bytes/],
    ['a truncated secret', [{ url, secret: `${secret.slice(0, 41)} …` }], /24 to 64 bytes/],
    ['an invalid second secret', [{ url, secret: [secret, 'whsec_'] }], /24 to 64 bytes/],
    ['an unknown type', [{ url, secret, types: ['invoice.seen' as never] }], /no event 'invoice/],
    ['two endpoints of the same name', [1, 2].map(() => ({ url, secret })), /two are called/],
    ['a long name', [{ url, secret, name: 'n'.repeat(256) }], /1 to 255 characters/],
  ])('rejects %s, and the error does not contain the secret', (_, endpoints, message) => {
    const said = refusal({ endpoints })
    expect(said).toMatch(message)
    expect(said).not.toContain(secret.slice(6, 30))
    expect(said).not.toMatch(/pass@|hidden/)
  })

  it('rejects an invalid timeout and an invalid private address', () => {
    expect(refusal({ endpoints: [], timeout: 31 })).toContain('1 to 30 seconds')
    const opened = { endpoints: [], privateAddresses: ['localhost'] }
    expect(refusal(opened)).toContain("deliveries: privateAddresses: 'localhost'")
  })

  it('gives an endpoint the configured name, or its URL without the query', () => {
    const { endpoints } = resolveDeliveries({
      endpoints: [
        { url, secret },
        { url, secret, name: 'the shop' },
      ],
    })
    expect(endpoints.map(({ name }) => name)).toEqual([
      'https://app.example.com/events',
      'the shop',
    ])
  })

  it('accepts secrets of 24 to 64 bytes', () => {
    const of = (bytes: number) => `whsec_${Buffer.alloc(bytes, 255).toString('base64')}`
    expect([23, 24, 64, 65].map((bytes) => isDeliverySecret(of(bytes)))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })
})
