import { describe, expect, it } from 'vitest'
import { readMaxAge, readPrompts } from './request.ts'

const asked = (name: string, value: string) => new Map([[name, value]])

describe('readPrompts', () => {
  const cases: ReadonlyArray<[string, string]> = [
    ['none', 'none'],
    ['consent', 'consent'],
    ['login', 'login'],
    ['select_account', 'login'],
    ['login consent', 'consent login'],
    ['consent  select_account', 'consent login'],
    ['login login', 'login'],
  ]
  it.each(cases)('reads prompt=%s as %s', (text, wanted) => {
    const prompts = Object.entries(readPrompts(asked('prompt', text)))
    expect(prompts.flatMap(([name, on]) => (on ? [name] : [])).join(' ')).toBe(wanted)
  })

  it('returns no prompts if the `prompt` parameter is absent', () => {
    expect(readPrompts(new Map())).toEqual({ none: false, consent: false, login: false })
  })

  it.each(['none login', 'none consent', 'Login', 'login,consent', 'create', 'login\tconsent'])(
    'rejects prompt=%j',
    (text) => {
      expect(() => readPrompts(asked('prompt', text))).toThrow(/^prompt/)
    },
  )
})

describe('readMaxAge', () => {
  it('returns the number of seconds', () => {
    expect(readMaxAge(asked('max_age', '0'))).toBe(0)
    expect(readMaxAge(asked('max_age', '3600'))).toBe(3600)
    expect(readMaxAge(new Map())).toBeNull()
  })

  it.each(['-1', '1.5', '1e3', ' 1', '9999999999', 'x'])('rejects max_age=%j', (text) => {
    expect(() => readMaxAge(asked('max_age', text))).toThrow(/^max_age/)
  })
})
