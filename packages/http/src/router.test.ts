import { describe, expect, it } from 'vitest'
import { createRouter, type HttpMethod, requireRoute } from './router.ts'

const route = (method: HttpMethod, path: string) => ({ method, path })

describe('createRouter()', () => {
  const router = createRouter([
    route('GET', '/clients'),
    route('POST', '/clients'),
    route('DELETE', '/clients/{id}'),
    route('POST', '/clients/{id}/secret'),
    route('POST', '/clients/new'),
  ])

  it('finds the routes of a path, and the id in it', () => {
    expect(router.match('/clients')?.routes.size).toBe(2)
    expect(router.match('/clients/abc')).toMatchObject({ id: 'abc' })
    expect(router.match('/clients/abc/secret')).toMatchObject({ id: 'abc' })
    expect(router.match('/clients/new')?.routes.has('POST')).toBe(true)
  })

  it.each([
    '/',
    '/Clients',
    '/clients/',
    '//clients',
    '/clients/a/b',
    '/clients/a.b',
    '/clients//secret',
  ])('finds no route for the path %s', (path) => {
    expect(router.match(path)).toBeNull()
  })

  it('lists every path once', () => {
    expect(router.paths).toEqual([
      '/clients',
      '/clients/{id}',
      '/clients/{id}/secret',
      '/clients/new',
    ])
  })

  it('rejects two routes for the same method and path', () => {
    expect(() => createRouter([route('GET', '/a'), route('GET', '/a')])).toThrow(TypeError)
  })

  it('returns the allowed methods of a path, with HEAD if it allows GET', () => {
    const match = router.match('/clients')
    if (!match) throw new Error('no match')
    expect(requireRoute(match, 'HEAD')).toEqual(route('GET', '/clients'))
    expect(() => requireRoute(match, 'PUT')).toThrow(
      expect.objectContaining({ code: 'method_not_allowed', allowed: ['GET', 'HEAD', 'POST'] }),
    )
  })
})
