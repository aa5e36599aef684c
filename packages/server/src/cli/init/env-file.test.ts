import { describe, expect, it } from 'vitest'
import { addIgnored, addSettings, readSettings } from './env-file.ts'

describe('addSettings(), which adds settings to a .env file,', () => {
  it.each([
    ['writes a new file', '', '# Tollgate\nA=1\nB=2\n'],
    ['adds missing settings', 'C=3\n', 'C=3\n\n# Tollgate\nA=1\nB=2\n'],
    ['completes the last line', 'C=3', 'C=3\n\n# Tollgate\nA=1\nB=2\n'],
    ['keeps other values', "B='other # value'\n", "B='other # value'\n\n# Tollgate\nA=1\n"],
    ['keeps empty values', 'A=\nB=\n', 'A=\nB=\n'],
    ['adds a setting that is only in a comment', '# A=0\nB=2\n', '# A=0\nB=2\n\n# Tollgate\nA=1\n'],
  ])('does what its row says: it %s', (_name, before, after) => {
    expect(addSettings(before, { A: '1', B: '2' })).toBe(after)
  })
})

describe('addSettings with any value', () => {
  it.each([
    'sqlite:my #1.db',
    ' spaces ',
    "it's",
    '"quoted"',
    'both \' and "',
    'a=b',
    '#',
    '$HOME',
    '',
  ])('writes %j so that it is read back unchanged', (value) => {
    expect(readSettings(addSettings('C=3\n', { A: value, B: '2' }))).toEqual({
      A: value,
      B: '2',
      C: '3',
    })
  })

  it.each(['a\nTOLLGATE_SECRET=known', 'a\r', '\'"`#'])(
    'rejects %j, which .env cannot hold, without showing it',
    (value) => {
      const add = () => addSettings('', { DATABASE_URL: value })
      expect(add).toThrow('The value of DATABASE_URL cannot be written to .env')
      expect(add).not.toThrow(value)
    },
  )

  it('rejects a file in which an earlier line would swallow the new settings', () => {
    expect(() => addSettings('C="open', { A: 'it\'s "quoted' })).toThrow(
      'A cannot be added to .env',
    )
  })
})

describe('addIgnored(), which adds patterns to a .gitignore file,', () => {
  it.each([
    ['writes a new file', '', '.env\ntollgate.db*\n'],
    ['adds missing patterns', 'node_modules\n', 'node_modules\n\n.env\ntollgate.db*\n'],
    ['recognizes a wider pattern', '.env*\ntollgate.*\n', '.env*\ntollgate.*\n'],
    ['recognizes a pattern of the root', '/.env\r\n', '/.env\r\n\ntollgate.db*\n'],
    ['is not misled by an exception', '!.env\ntollgate.db*\n', '!.env\ntollgate.db*\n\n.env\n'],
    ['is not misled by other files', '.env.*\ntollgate.db*\n', '.env.*\ntollgate.db*\n\n.env\n'],
  ])('does what its row says: it %s', (_name, before, after) => {
    expect(addIgnored(before, ['.env', 'tollgate.db*'])).toBe(after)
  })
})
