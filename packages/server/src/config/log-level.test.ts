import { describe, expect, it } from 'vitest'
import { parseLogLevel } from './log-level.ts'

describe('parseLogLevel()', () => {
  it.each([
    ['info', { level: 'info', areas: {} }],
    ['billing=debug', { level: null, areas: { billing: 'debug' } }],
    [
      'oauth=warn, error ,billing=debug',
      { level: 'error', areas: { billing: 'debug', oauth: 'warn' } },
    ],
  ])('reads %s', (text, expected) => {
    expect(parseLogLevel(text)).toEqual(expected)
  })

  it.each([
    ['loud', "'loud'"],
    ['info,biling=debug', "'biling'"],
    ['info,billing=loud', "'billing=loud'"],
    ['billing=debug=info', "'billing=debug=info'"],
    ['info,', "''"],
    ['=info', "''"],
    ['info,debug', 'info and debug'],
    ['billing=info,billing=debug', 'the area billing'],
  ])('rejects %s, and names the wrong part', (text, part) => {
    expect(() => parseLogLevel(text)).toThrow(part)
  })

  it('names all levels and areas if a part is not valid', () => {
    expect(() => parseLogLevel('requests=all')).toThrow(
      "has the part 'requests=all', but expects a level (fatal, error, warn, info, debug, silent), levels of areas (requests, oauth, billing, database), or both, such as info,billing=debug",
    )
  })
})
