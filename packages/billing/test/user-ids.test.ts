import { type Database, migrate } from '@tollgate/database'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { normalizeOwnerId } from '../src/core/storage/owners.ts'
import { createBilling, UserNotFound } from '../src/index.ts'

const ALMOST_ONE = [
  ['1e0', '1e0'],
  ['1abc', '1abc'],
  [' 1', ' 1'],
  ['1 ', '1 '],
  ['01', '01'],
  ['+1', '+1'],
  ['1.0', '1.0'],
  ['0x1', '0x1'],
  ['a full-width one', '\uff11'],
  ['nothing', ''],
  ['1 and a NUL', '1\0'],
  ['a NUL', '\0'],
  ['half a surrogate pair', '\ud800'],
  ['2^31', '2147483648'],
  ['2^63', '9223372036854775808'],
  ['2^64', '18446744073709551616'],
  ['-0', '-0'],
  ['a fraction', 1.5],
  ['no number', Number.NaN],
  ['no end', Number.POSITIVE_INFINITY],
  ['2^63 as a number', 2 ** 63],
  ['a long text', '1'.repeat(10_000)],
] as const

async function billingOn(kind: 'integer' | 'string') {
  const { database, drop } = await createTestDatabase()
  await createUsers(database, kind)
  const billing = createBilling({
    database,
    stripe: { secret: 'sk_test_none', webhookSecret: 'whsec_1', currency: 'usd' },
    users: { table: 'users', idType: kind },
    processEvery: false,
  })
  onTestFinished(async () => {
    await billing.close()
    await drop()
  })
  await billing.migrate()
  return billing
}

/** Creates the table as an application would; billing adds its own columns. */
async function createUsers(database: Database, kind: 'integer' | 'string'): Promise<void> {
  await migrate(database, {
    name: 'application',
    migrations: [
      {
        id: '1-users',
        async up({ kysely }) {
          await kysely.schema
            .createTable('users')
            .addColumn('id', kind === 'integer' ? 'integer' : 'varchar(64)', (id) =>
              id.primaryKey(),
            )
            .execute()
          const ids = kind === 'integer' ? [0, 1, 7] : ['1', 'Ada']
          await kysely
            .insertInto('users')
            .values(ids.map((id) => ({ id })))
            .execute()
        },
      },
    ],
  })
}

describe('user ids', () => {
  it('find no user if they only resemble an existing id, when ids are integers', async () => {
    const billing = await billingOn('integer')
    for (const [what, id] of ALMOST_ONE) {
      expect([what, await billing.findUser(id)]).toEqual([what, null])
    }
    await expect(billing.user('1e0')).rejects.toThrow(UserNotFound)
    for (const id of [1, '1']) expect((await billing.user(id)).id).toBe(1)
    expect((await billing.user(-0)).id).toBe(0)
  })

  it('find no user if they only resemble an existing id, when ids are text', async () => {
    const billing = await billingOn('string')
    for (const [what, id] of [
      ...ALMOST_ONE,
      ['another case', 'ada'],
      ['a blank', 'Ada '],
    ] as const) {
      expect([what, await billing.findUser(id)]).toEqual([what, null])
    }
    for (const id of [1, '1']) expect((await billing.user(id)).id).toBe('1')
    expect((await billing.user('Ada')).id).toBe('Ada')
  })

  it.each([
    [1, '1', '1'],
    [-0, '0', '0'],
    ['1', '1', '1'],
    ['-7', '-7', '-7'],
    ['ada', null, 'ada'],
    [' 1', null, ' 1'],
    ['1e0', null, '1e0'],
    ['', null, null],
    ['a\0', null, null],
    ['\udc00', null, null],
    [1.5, null, null],
    [2 ** 53, null, null],
    [null, null, null],
    [['1'], null, null],
  ])(
    'are normalized: %j becomes %j if ids are integers, and %j if ids are text',
    (id, number, text) => {
      expect(normalizeOwnerId(id, 'integer')).toBe(number)
      expect(normalizeOwnerId(id, 'string')).toBe(text)
    },
  )
})
