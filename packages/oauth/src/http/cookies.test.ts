import { describe, expect, it } from 'vitest'
import { readCookie, serializeCookie } from './cookies.ts'

describe('readCookie', () => {
  it.each([
    [null, null],
    [undefined, null],
    ['', null],
    ['t=1', '1'],
    ['a=1; t=2; b=3', '2'],
    ['a=1;t=2', '2'],
    ['t=a=b', 'a=b'],
    ['t=', ''],
    ['t', null],
    ['xt=1', null],
    ['tx=1', null],
    ['T=1', null],
    ['a=t=1', null],
    ['t=1; t=1', null],
    ['t=1; a=2; t=3', null],
  ])('reads the cookie named t from the Cookie header %j as %j', (header, value) => {
    expect(readCookie(header, 't')).toBe(value)
  })
})

describe('serializeCookie', () => {
  it.each([
    [false, 't=v; Path=/; Max-Age=60; HttpOnly; SameSite=Lax'],
    [true, 't=v; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure'],
  ])(
    'sets Path, Max-Age, HttpOnly and SameSite, and Secure only if requested (secure: %s)',
    (secure, header) => {
      expect(serializeCookie({ name: 't', path: '/', secure }, 'v', 60)).toBe(header)
    },
  )
})
