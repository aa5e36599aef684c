import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { builtInDialects } from './built-in-dialects.ts'
import { findDatabaseFile, parseConnectionUrl } from './connection-url.ts'

const parse = (url: unknown) => parseConnectionUrl(url, builtInDialects)

describe('parseConnectionUrl()', () => {
  it.each([
    ['nothing', undefined, /undefined/],
    ['an object', {}, /object/],
    ['empty text', '', /blank/],
    ['blanks', ' \n', /blank/],
    ['no scheme', 'app.db', /unknown scheme/],
    ['a path', '/data/app.db', /unknown scheme/],
    ['another product', 'mongodb://localhost/app', /unknown scheme/],
    ['a web address', 'https://localhost/app', /unknown scheme/],
    ['a misspelt scheme', 'postgress://localhost/app', /unknown scheme/],
    ['a blank before the scheme', ' postgres://localhost/app', /unknown scheme/],
    ['SQLite without a file', 'sqlite:', /names no file/],
    ['a server without a database', 'postgres://localhost', /names no database/],
    ['a server with only a slash', 'mysql://localhost/', /names no database/],
    ['a URL that cannot be parsed', 'postgres://user:pa ss@:x/app', /cannot be read/],
  ])('rejects %s with a TypeError that says what is expected', (_, url, reason) => {
    expect(() => parse(url)).toThrow(TypeError)
    expect(() => parse(url)).toThrow(reason)
  })

  it.each([
    ['postgres://u:p@h/d', 'postgres'],
    ['postgresql://h:5433/d?sslmode=require', 'postgres'],
    ['PostgreSQL://h/d', 'postgres'],
    ['mysql://h/d', 'mysql'],
    ['mariadb://u@h:3307/d', 'mysql'],
    ['sqlite::memory:', 'sqlite'],
  ])('reads %s as a URL of the dialect %s', (url, dialect) => {
    expect(parse(url).dialect.name).toBe(dialect)
  })
})

describe('findDatabaseFile()', () => {
  it.each([
    ['sqlite:./data/app.db', resolve('data/app.db')],
    ['sqlite:///srv/app.db?mode=rw', '/srv/app.db'],
    ['file:/srv/the%20app.db', '/srv/the app.db'],
    ['sqlite::memory:', null],
    ['postgres://u:p@h/app.db', null],
    ['mysql://h/d', null],
  ])('returns for %s the file %s', (url, file) => {
    expect(findDatabaseFile(url)).toBe(file)
  })

  it('rejects a URL with an unknown scheme', () => {
    expect(() => findDatabaseFile('mongodb://localhost/app')).toThrow(/unknown scheme/)
  })
})
