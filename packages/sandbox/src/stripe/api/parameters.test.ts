import { describe, expect, it } from 'vitest'
import { parseForm, readParameters } from './parameters.ts'

describe('parseForm(), which reads the body of a request to Stripe,', () => {
  it.each([
    ['a[]=1&a[]=2', { a: { 0: '1', 1: '2' } }],
    ['a[][x]=1&a[][y]=2', { a: { 0: { x: '1', y: '2' } } }],
    [
      'a[][x]=1&a[][y]=2&a[][x]=3&a[][y]=4',
      { a: { 0: { x: '1', y: '2' }, 1: { x: '3', y: '4' } } },
    ],
    ['a[][x]=1&a[][x]=2&a[][y]=3', { a: { 0: { x: '1' }, 1: { x: '2', y: '3' } } }],
    [
      'a[][x][p]=1&a[][x][q]=2&a[][x][p]=3',
      { a: { 0: { x: { p: '1', q: '2' } }, 1: { x: { p: '3' } } } },
    ],
    ['a[][x][]=1&a[][x][]=2&a[][y]=3', { a: { 0: { x: { 0: '1', 1: '2' }, y: '3' } } }],
    ['a[0][x]=1&a[0][y]=2&a[1][x]=3', { a: { 0: { x: '1', y: '2' }, 1: { x: '3' } } }],
  ])('reads %s as Rack does', (text, form) => {
    expect(JSON.parse(JSON.stringify(parseForm(text)))).toEqual(form)
  })
})

describe('readParameters()', () => {
  it.each([
    ['true', true],
    ['True', true],
    ['1', true],
    ['false', false],
    ['False', false],
    ['0', false],
  ])('accepts %s as the value of a boolean parameter', (text, value) => {
    expect(readParameters({ o: { active: 'b' } }, parseForm(`active=${text}`))).toEqual({
      active: value,
    })
  })

  it.each(['TRUE', 'yes', 'wrong', '2', 'null'])(
    'rejects %s as the value of a boolean parameter',
    (text) => {
      expect(() => readParameters({ o: { active: 'b' } }, parseForm(`active=${text}`))).toThrow(
        `Invalid boolean: ${text}`,
      )
    },
  )
})
