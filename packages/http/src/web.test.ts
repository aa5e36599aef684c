import { describe, expect, it } from 'vitest'
import { fromWebRequest, respondToWebRequest, toWebResponse } from './web.ts'

describe('a Web request', () => {
  it('stays the same object if it already has the configured URL, and is copied for any other URL', () => {
    const request = new Request('https://api.example.com/me?x=1', { headers: { cookie: 'a=b' } })
    expect(fromWebRequest(request).toRequest('https://api.example.com/base')).toBe(request)
    const forged = new Request('https://evil.example/me?x=1', { headers: { cookie: 'a=b' } })
    const mended = fromWebRequest(forged).toRequest('https://api.example.com/base')
    expect(mended.url).toBe('https://api.example.com/me?x=1')
    expect(mended.headers.get('cookie')).toBe('a=b')
  })

  it('says in the error what to do if the body was already read', async () => {
    const request = new Request('https://api.example.com/', { method: 'POST', body: 'x' })
    await request.text()
    await expect(fromWebRequest(request).text(10)).rejects.toThrow('Mount these routes before')
  })

  it('fails with request_cut_off if its body breaks off', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('half'))
        controller.error(new Error('reset'))
      },
    })
    const init = { method: 'POST', body, duplex: 'half' }
    const request = fromWebRequest(new Request('https://api.example.com/', init))
    await expect(request.text(10)).rejects.toMatchObject({ code: 'request_cut_off' })
  })
})

describe('a Web response', () => {
  it('can set several cookies', () => {
    const headers = { 'set-cookie': ['a=1', 'b=2'], 'content-type': 'text/plain' }
    const response = toWebResponse({ status: 200, headers, body: 'ok' })
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(response.headers.get('content-type')).toBe('text/plain')
  })

  it('is a 404 for an unknown path', async () => {
    const response = await respondToWebRequest(
      { handle: () => null },
      new Request('https://a.example/'),
    )
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: 'not_found' })
  })
})
