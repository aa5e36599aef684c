import { describe, expect, it } from 'vitest'
import { classifyBuiltInError, isUnavailable, isUniqueViolation } from './error-kinds.ts'
import { type ErrorKind, hasErrorKind, markErrorKinds } from './errors.ts'

const withCode = (code: string, message = 'x') => Object.assign(new Error(message), { code })
/** An error as mysql2 returns it for a number without a name. */
const withNumber = (errno: number, more = {}) =>
  Object.assign(new Error('x'), { errno, code: undefined, ...more })

describe('isUnavailable()', () => {
  it.each([
    withCode('ECONNREFUSED'),
    withCode('57P01'),
    withCode('57P03'),
    withCode('25006'),
    withCode('53300'),
    withCode('08006'),
    withCode('57014'),
    withCode('40P01'),
    withCode('SQLITE_BUSY'),
    withCode('SQLITE_IOERR_WRITE'),
    withCode('SQLITE_FULL'),
    withCode('SQLITE_READONLY_DBMOVED'),
    withCode('SQLITE_CANTOPEN'),
    withCode('PROTOCOL_CONNECTION_LOST'),
    withCode('ER_CON_COUNT_ERROR'),
    withCode('ER_LOCK_WAIT_TIMEOUT'),
    withCode('ER_UNKNOWN_COM_ERROR', 'WSREP has not yet prepared node for application use'),
    withCode('ER_ERROR_DURING_COMMIT', 'Got error 6 "No such device or address" during COMMIT'),
    withCode('ER_GET_ERRNO', 'Got error 28 "No space left on device" from storage engine InnoDB'),
    withCode('ER_ERROR_ON_WRITE', "Error writing file './t.frm' (Errcode: 28)"),
    withCode('TOLLGATE_NO_ANSWER'),
    withCode('TOLLGATE_NOT_PRIMARY'),
    withCode('53400'),
    withCode('58000'),
    withNumber(1969),
    withNumber(1927),
    withNumber(65535, { fatal: true }),
    withCode('SQLITE_NOMEM'),
    new Error('timeout exceeded when trying to connect'),
    new Error('Connection terminated unexpectedly'),
    new Error('wrapped', { cause: withCode('ECONNRESET') }),
    new AggregateError([withCode('ECONNREFUSED')], 'every address'),
  ])('returns true for %s', (error) => {
    expect(isUnavailable(error)).toBe(true)
  })

  it.each([
    withCode('23505'),
    withCode('42P01'),
    withCode('28P01'),
    withCode('3D000'),
    withCode('ER_DUP_ENTRY'),
    withCode('ER_NO_SUCH_TABLE'),
    withCode('ER_GET_ERRNO', 'Got error 128 "?" from storage engine InnoDB'),
    Object.assign(withCode('ER_ACCESS_DENIED_ERROR'), { fatal: true }),
    withNumber(1153),
    withNumber(1146),
    withNumber(4151, { fatal: true, sqlState: '28000' }),
    withCode('SQLITE_CONSTRAINT_UNIQUE'),
    withCode('SQLITE_ERROR'),
    withCode('ENOENT'),
    new TypeError('x is not a function'),
    new Error('the connection terminated the story'),
    'ECONNREFUSED',
    null,
    undefined,
    { code: 'ECONNREFUSED' },
  ])('returns false for %s', (error) => {
    expect(isUnavailable(error)).toBe(false)
  })

  it("returns a result even for two errors that are each other's cause", () => {
    const first = new Error('first')
    first.cause = new Error('second', { cause: first })
    expect(isUnavailable(first)).toBe(false)
  })
})

describe('the kind of an error', () => {
  it.each<[ErrorKind, Error]>([
    ['broken', withCode('ECONNRESET')],
    ['slow', withCode('57014')],
    ['slow', withNumber(1205)],
    ['slow', withNumber(1969)],
    ['slow', withNumber(3024)],
    ['broken', withNumber(1927)],
    ['broken', withNumber(1290)],
    ['undone', withNumber(1213)],
    ['duplicate', withNumber(1062)],
    ['undone', withCode('40P01')],
    ['undone', withCode('ER_LOCK_DEADLOCK')],
    ['undone', withCode('0A000', 'cached plan must not change result type')],
    ['duplicate', withCode('ER_DUP_ENTRY')],
    ['duplicate', withCode('SQLITE_CONSTRAINT_PRIMARYKEY')],
    ['impossible', withCode('22P02')],
  ])('is %s for %s', (kind, error) => {
    const all: ErrorKind[] = ['broken', 'slow', 'undone', 'duplicate', 'impossible']
    expect(all.filter((one) => hasErrorKind(error, [one], classifyBuiltInError))).toEqual([kind])
  })

  it('is undefined for an unknown code', () => {
    expect(classifyBuiltInError(withCode('0A000', 'something else'), '0A000')).toBeUndefined()
  })

  it("is determined by the dialect's own mapping, even if the error is wrapped", () => {
    const taken = withCode('TAKEN')
    const wrapped = new Error('wrapped', { cause: taken })
    expect(isUniqueViolation(wrapped)).toBe(false)
    markErrorKinds(wrapped, (_, code) => (code === 'TAKEN' ? 'duplicate' : undefined))
    expect(isUniqueViolation(wrapped)).toBe(true)
    expect(isUniqueViolation(taken)).toBe(true)
    expect(Object.keys(taken)).toEqual(['code'])
  })
})
