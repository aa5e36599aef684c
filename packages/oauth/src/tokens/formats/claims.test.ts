import { describe, expect, it } from 'vitest'
import { formatSubject, parseClaims, parseSubject, parseTokenId } from './claims.ts'

const claims = {
  iss: 'https://api.example.com',
  sub: 'user:7',
  aud: 'https://api.example.com',
  client_id: 'c',
  jti: 'id.0',
  iat: 1,
  exp: 2,
  scope: '',
}

describe('formatSubject and parseSubject', () => {
  it.each([
    ['7', 'user:7', { kind: 'user', id: '7' }],
    ['client:7', 'user:client:7', { kind: 'user', id: 'client:7' }],
    [null, 'client:c', { kind: 'client', id: 'c' }],
  ])('write and read the subject of the user id %j as %s', (userId, text, subject) => {
    expect(formatSubject({ userId, clientId: 'c' })).toBe(text)
    expect(parseSubject(text)).toEqual(subject)
  })

  it.each(['', '7', 'User:7', 'admin:7'])('read the invalid subject %j as null', (text) => {
    expect(parseSubject(text)).toBeNull()
  })
})

describe('parseClaims', () => {
  it('accepts complete claims', () => {
    expect(parseClaims(claims)).toEqual(claims)
  })

  it.each([
    null,
    undefined,
    'x',
    [],
    { ...claims, cnf: null },
    { ...claims, cnf: {} },
    { ...claims, cnf: { jkt: 7 } },
    { ...claims, cnf: { 'x5t#S256': 'of a certificate' } },
    { ...claims, sub: 7 },
    { ...claims, parents: 'id.0' },
    { ...claims, parents: [null] },
    { ...claims, parents: [{ jti: 'id.0' }] },
    { ...claims, aud: [1] },
    { ...claims, aud: null },
    { ...claims, scope: undefined },
    { ...claims, exp: '2' },
    { ...claims, exp: Number.NaN },
    { ...claims, exp: Number.POSITIVE_INFINITY },
    { ...claims, exp: undefined },
    { ...claims, iat: null },
  ])('rejects the claims %j', (value) => {
    expect(parseClaims(value)).toBeNull()
  })
})

describe('parseTokenId(), which finds the database row of a token,', () => {
  it.each([
    ['id.0', 'id'],
    ['id.12', 'id'],
    ['id', 'id'],
    ['', ''],
  ])('maps the jti %j to the id %j', (jti, id) => {
    expect(parseTokenId(jti)).toBe(id)
  })
})
