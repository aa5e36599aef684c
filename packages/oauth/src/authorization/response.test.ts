import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createAuthorizationResponse } from './response.ts'

const iss = 'https://api.example.com'
const tail = 'iss=https%3A%2F%2Fapi.example.com'

describe('createAuthorizationResponse()', () => {
  it.each([
    ['https://a.example/cb', 'query', null, `https://a.example/cb?code=x%26y&${tail}`],
    ['https://a.example/cb', 'query', 'a b', `https://a.example/cb?code=x%26y&state=a%20b&${tail}`],
    ['https://a.example/cb?t=7', 'query', null, `https://a.example/cb?t=7&code=x%26y&${tail}`],
    ['https://a.example/cb', 'fragment', '#', `https://a.example/cb#code=x%26y&state=%23&${tail}`],
    ['com.example.app:/cb', 'query', null, `com.example.app:/cb?code=x%26y&${tail}`],
  ] as const)(
    'encodes the parameters of a redirect to %s with response_mode=%s and the state %j',
    (redirectTo, mode, state, url) => {
      const { status, headers } = createAuthorizationResponse(
        { redirectTo, mode, state },
        { code: 'x&y' },
        iss,
      )
      expect([status, headers?.location]).toEqual([303, url])
    },
  )

  it('returns a page whose script submits a form, and no parameter in a URL, for response_mode=form_post', () => {
    const redirectTo = 'https://a.example/cb?t=7&u="><script>'
    const { status, headers, body } = createAuthorizationResponse(
      { redirectTo, mode: 'form_post', state: '"><b>' },
      { code: 'x&y' },
      iss,
    )
    expect([status, headers?.location]).toEqual([200, undefined])
    const html = String(body)
    expect(html).toContain('action="https://a.example/cb?t=7&amp;u=&quot;&gt;&lt;script&gt;"')
    expect(html).toContain('name="code" value="x&amp;y"')
    expect(html).toContain('name="state" value="&quot;&gt;&lt;b&gt;"')
    const [, script = ''] = /<script>(.*)<\/script>/.exec(html) ?? []
    const digest = createHash('sha256').update(script).digest('base64')
    expect(headers?.['content-security-policy']).toContain(`script-src 'sha256-${digest}'`)
  })
})
