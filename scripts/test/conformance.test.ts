import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { writeChecksInto, writeInto } from '../conformance/report.mjs'

const REPORT = new URL('../../docs/reference/conformance.md', import.meta.url)

const results = {
  tested: 'library',
  version: '5.1.43',
  date: '2026-11-16',
  plans: [
    {
      name: 'oidcc-basic-certification-test-plan',
      variant: { client_registration: 'static_client' },
      modules: [
        { name: 'oidcc-server', result: 'PASSED', remark: '' },
        { name: 'oidcc-max-age-1', result: 'FAILED', remark: 'a | b' },
      ],
    },
  ],
}

describe('the report of a conformance run', () => {
  it('contains every module with its result, and the numbers of results', () => {
    const text = writeInto(
      'before\n<!-- begin: library -->\nold\n<!-- end: library -->\nafter',
      results,
    )
    expect(text).toContain('Suite 5.1.43, 2026-11-16.')
    expect(text).toContain('| pre-registered clients | 2 modules | 1 passed |  |  |  | 1 failed |')
    expect(text).toContain('| `oidcc-server` | Passed |  |')
    expect(text).toContain('| `oidcc-max-age-1` | Failed | a \\| b |')
    expect(text).not.toContain('old')
    expect(text.startsWith('before\n')).toBe(true)
    expect(text.endsWith('\nafter')).toBe(true)
  })

  it('links to the table of each plan', () => {
    const text = writeInto('<!-- begin: library --><!-- end: library -->', results)
    const [, anchor] = /\]\(#([^)]+)\)/.exec(text) ?? []
    const [, title] = /^### (.+)$/m.exec(text) ?? []
    expect(anchor).toBe(title?.toLowerCase().replaceAll(',', '').replaceAll(' ', '-'))
  })

  it('has a table for each variant of a plan', () => {
    const name = 'fapi2-security-profile-final-test-plan'
    const modules = [{ name: 'happy-flow', result: 'PASSED', remark: '' }]
    const plans = [
      { name, modules, variant: { fapi_profile: 'plain_fapi', openid: 'plain_oauth' } },
      { name, modules, variant: { fapi_profile: 'plain_fapi', openid: 'openid_connect' } },
      { name, modules, variant: { fapi_profile: 'fapi_client_credentials_grant' } },
    ]
    const text = writeInto('<!-- begin: library --><!-- end: library -->', { ...results, plans })
    const titles = [...text.matchAll(/^### .+, (.+)$/gm)].map(([, words]) => words)
    expect(titles).toEqual(['plain OAuth 2.0', 'OpenID Connect', 'client credentials'])
    const anchors = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
    expect(new Set(anchors).size).toBe(3)
  })

  it('has a place in the document for each kind of run', () => {
    const document = readFileSync(REPORT, 'utf8')
    for (const tested of ['library', 'service']) {
      expect(writeInto(document, { ...results, tested })).toContain('a \\| b')
    }
    const checks = [{ id: 'metadata', status: 'SUCCESS', description: 'Valid' }]
    const mcp = { version: '1', spec: '2', date: '3', checks }
    expect(writeChecksInto(document, mcp)).toContain('| `metadata` | Success | Valid |')
    expect(() => writeInto('no marks', results)).toThrow('no place')
  })
})
