import { describe, expect, it } from 'vitest'
import { InvalidArgument } from '../errors/errors.ts'
import { requireDate, requireOneOf, requireText } from './arguments.ts'

const at = new Date('2026-03-01T12:00:00Z')

describe('the checks of arguments', () => {
  it.each([
    [() => requireText('name', 'x'.repeat(256)), 'The name has 256 characters; expected text of'],
    [() => requireText('name', undefined), 'The name is undefined; expected text of 1 to 255'],
    [() => requireText('name', null), 'The name is null; expected text of 1 to 255 characters'],
    [() => requireText('name', 7), 'The name is number; expected text of 1 to 255 characters'],
    [() => requireText('name', '  '), 'The name is empty; expected text of 1 to 255 characters'],
    [() => requireOneOf('to', 'card' as string, ['a', 'b']), "to is 'card'; expected a, b"],
    [() => requireDate('from', new Date('?')), 'from is Invalid Date; expected a valid Date'],
    [() => requireDate('from', '2026'), "from is '2026'; expected a valid Date"],
    [() => requireDate('from', 'x'.repeat(100)), `from is '${'x'.repeat(60)}…'; expected`],
  ])(
    'throw an error that names the invalid value and the expected one (case %#)',
    (ask, message) => {
      expect(ask).toThrow(InvalidArgument)
      expect(ask).toThrow(message)
    },
  )

  it('return valid arguments unchanged', () => {
    expect(requireText('name', 'x'.repeat(255))).toHaveLength(255)
    expect(requireOneOf('to', 'a', ['a', 'b'])).toBe('a')
    expect(requireDate('from', at)).toBe(at)
  })

  it('never quote an invalid token in the error message, because it may be a secret', () => {
    expect(() => requireText('card token', `tok_${'s'.repeat(300)}`)).not.toThrow(/tok_/)
  })
})
