import { describe, expect, it } from 'vitest'
import { matchesHtu } from './check.ts'

const bases = ['https://api.example.com', 'https://example.org/v1']

describe('matchesHtu(), which compares the URL in a DPoP proof with the request,', () => {
  it.each([
    ['https://api.example.com/orders', '/orders'],
    ['https://api.example.com:443/orders', '/orders'],
    ['HTTPS://API.example.com/orders?x=1#y', '/orders'],
    ['https://api.example.com', '/'],
    ['https://api.example.com/%7eada', '/~ada'],
    ['https://api.example.com/a%2fb', '/a%2Fb'],
    ['https://example.org/v1/orders', '/orders'],
  ])('accepts the htu claim %s for the request path %s', (htu, path) => {
    expect(matchesHtu(htu, bases, path)).toBe(true)
  })

  it.each([
    ['https://api.example.com/orders', '/Orders'],
    ['https://api.example.com/orders', '/orders/'],
    ['https://api.example.com/a/b', '/a%2Fb'],
    ['https://api.example.com:8443/orders', '/orders'],
    ['http://api.example.com/orders', '/orders'],
    ['https://example.org/orders', '/orders'],
    ['https://user@api.example.com/orders', '/orders'],
    ['//api.example.com/orders', '/orders'],
    ['/orders', '/orders'],
    ['data:,orders', '/orders'],
    ['https://api.example.com/', ''],
    ['https://api.example.com/', '*'],
    ['https://api.example.com.evil.example/', '.evil.example/'],
  ])('rejects the htu claim %s for the request path %s', (htu, path) => {
    expect(matchesHtu(htu, bases, path)).toBe(false)
  })
})
