import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashChainedEntry, readEntry, toChainedEntry } from '../../src/admin/audit/entry.ts'
import type { ServiceTables } from '../../src/storage/tables.ts'
import { operatorCalling, SECRETS, startAuditLog, type TestAuditLog } from './audit-log.ts'

let audit: TestAuditLog
beforeEach(async () => {
  audit = await startAuditLog()
})
afterEach(() => audit?.stop())

type Row = ServiceTables['audit_entries']

async function chainedRows(): Promise<Row[]> {
  const rows = await audit.entries()
  return rows.sort((a, b) => Number(a.number) - Number(b.number))
}

async function change(id: string, values: Partial<Row>): Promise<void> {
  await audit.database.kysely
    .updateTable('audit_entries')
    .set(values)
    .where('id', '=', id)
    .execute()
}

async function remove(id: string): Promise<void> {
  await audit.database.kysely.deleteFrom('audit_entries').where('id', '=', id).execute()
}

const atNumber = (rows: readonly Row[], number: number) => {
  const row = rows.find((each) => Number(each.number) === number)
  if (!row) throw new Error(`There is no entry ${number}`)
  return row
}

describe('the worker that chains the entries of the audit log by hashes', () => {
  it('numbers entries in batches without gaps, each with the hash of the previous entry', async () => {
    await audit.write(205)
    expect((await audit.entries()).every(({ number }) => number === null)).toBe(true)
    const seen: number[] = []
    const chained = (entries: readonly { number: number }[]) =>
      void seen.push(...entries.map(({ number }) => number))
    expect(await audit.chain({ chained }).process()).toBe(205)
    expect(seen).toEqual(Array.from({ length: 205 }, (_, at) => at + 1))
    expect(await audit.verify()).toMatchObject({ firstBreak: null, checked: 205, isComplete: true })
    expect(await audit.chain().process()).toBe(0)
  })

  it('leaves nothing half done if it is interrupted in the middle of a batch', async () => {
    await audit.write(3)
    const interrupted = audit.chain({ publish: () => Promise.reject(new Error('killed')) })
    await expect(interrupted.process()).rejects.toThrow('killed')
    expect((await audit.entries()).every(({ hash }) => hash === null)).toBe(true)
    expect(await audit.chain().process()).toBe(3)
    expect(await audit.verify()).toMatchObject({ firstBreak: null, checked: 3, waiting: 0 })
  })

  it('assigns each number once even if several processes chain entries concurrently', async () => {
    const others = await Promise.all([audit.connect(), audit.connect()])
    const chains = others.map((database) => audit.chain({ database }))
    for (let round = 0; round < 5; round += 1) {
      await audit.write(10)
      await Promise.all(chains.map((chain) => chain.process()))
    }
    const numbers = (await chainedRows()).map(({ number }) => Number(number))
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, at) => at + 1))
    expect(await audit.verify()).toMatchObject({ firstBreak: null, checked: 50 })
  })

  it('does not delay a thousand concurrent writers', async () => {
    const other = await audit.connect()
    const log = audit.logOn(other)
    await audit.write(1)
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    // SQLite has one writer at a time, so there the worker must not wait inside its transaction.
    const isOneWriter = other.dialect.name === 'sqlite'
    const chain = audit.chain({ publish: async () => (isOneWriter ? undefined : released) })
    const working = chain.process()
    await Promise.all(
      Array.from({ length: 1000 }, (_, at) =>
        log.add({
          caller: operatorCalling(String(at + 1)),
          operation: 'users.signOut',
          outcome: 'done',
          described: { subject: { kind: 'user', id: '12' } },
        }),
      ),
    )
    release()
    await working
    await chain.process()
    expect(await audit.verify()).toMatchObject({ firstBreak: null, checked: 1001, waiting: 0 })
  })

  it('chains entries with a wrong time in the order in which it found them', async () => {
    await audit.write(1)
    await audit.chain().process()
    const wrong = audit.logOn(audit.database, { now: () => new Date('1999-12-31T00:00:00Z') })
    const early = await wrong.add({
      caller: operatorCalling(),
      operation: 'users.signOut',
      outcome: 'done',
      described: {},
    })
    expect((await audit.entries())[0]?.id).toBe(early)
    await audit.chain().process()
    expect(atNumber(await chainedRows(), 2).id).toBe(early)
    expect(await audit.verify()).toMatchObject({ firstBreak: null, checked: 2 })
  })

  it('chains an entry with unreadable members, and does not stop at it', async () => {
    const [id = ''] = await audit.write(2)
    await change(id, { details: '{broken', commitments: '7' })
    const errors: object[] = []
    const chain = audit.chain({ logger: { error: (fields) => void errors.push(fields) } })
    expect(await chain.process()).toBe(2)
    expect(errors).toEqual([{ entry: id }])
    expect(await audit.verify()).toMatchObject({ firstBreak: { kind: 'forged', number: 1 } })
  })
})

describe('the verification of the audit log (threat N9, threat N7)', () => {
  /** Computes the hash of a forged entry, as anybody can. */
  function rehash(row: Row, previousHash: string | null): Row {
    const entry = readEntry(row)
    const { number, chainedAt } = entry
    if (number === null || chainedAt === null) throw new Error('The entry is not chained')
    const placed = toChainedEntry({ ...entry, number, chainedAt }, previousHash)
    return { ...row, hash: hashChainedEntry(placed) }
  }

  const forged = (row: Row, values: Partial<Row>): Row => ({
    ...row,
    id: `${row.id.slice(0, -4)}fake`,
    ...values,
  })
  const insert = (row: Row) =>
    audit.database.kysely.insertInto('audit_entries').values(row).execute()

  it.each<[string, { kind: string; number: number }, (rows: readonly Row[]) => Promise<unknown>]>([
    [
      'changed details',
      { kind: 'changed', number: 4 },
      (rows) => change(atNumber(rows, 4).id, { details: '{"count":9}' }),
    ],
    [
      'another actor',
      { kind: 'changed', number: 1 },
      (rows) => change(atNumber(rows, 1).id, { actor_id: '8' }),
    ],
    [
      'another time',
      { kind: 'changed', number: 6 },
      (rows) => change(atNumber(rows, 6).id, { at: 1 }),
    ],
    [
      'another time of chaining',
      { kind: 'changed', number: 6 },
      (rows) => change(atNumber(rows, 6).id, { chained_at: 1 }),
    ],
    [
      'details that are no JSON',
      { kind: 'changed', number: 2 },
      (rows) => change(atNumber(rows, 2).id, { details: '{' }),
    ],
    [
      'another seal',
      { kind: 'forged', number: 2 },
      (rows) => change(atNumber(rows, 2).id, { seal: atNumber(rows, 3).seal }),
    ],
    [
      'another hash',
      { kind: 'changed', number: 3 },
      (rows) => change(atNumber(rows, 3).id, { hash: atNumber(rows, 2).hash }),
    ],
    [
      'no hash',
      { kind: 'not-chained', number: 3 },
      (rows) => change(atNumber(rows, 3).id, { hash: null }),
    ],
    ['a removed entry', { kind: 'missing', number: 3 }, (rows) => remove(atNumber(rows, 3).id)],
    [
      'a removed first entry',
      { kind: 'missing', number: 1 },
      (rows) => remove(atNumber(rows, 1).id),
    ],
    [
      'an entry that was taken out of the chain',
      { kind: 'missing', number: 5 },
      (rows) => change(atNumber(rows, 5).id, { number: null }),
    ],
    [
      'a line inserted at the end without a hash',
      { kind: 'not-chained', number: 7 },
      (rows) => insert(forged(atNumber(rows, 6), { number: 7, hash: null, chained_at: null })),
    ],
    [
      'a line inserted with a copied hash',
      { kind: 'changed', number: 7 },
      (rows) => insert(forged(atNumber(rows, 6), { number: 7 })),
    ],
    [
      'a line inserted with a number before the first',
      { kind: 'not-chained', number: 1 },
      (rows) => insert(forged(atNumber(rows, 6), { number: 0 })),
    ],
    [
      'a line inserted with a number far ahead',
      { kind: 'missing', number: 7 },
      (rows) => insert(forged(atNumber(rows, 6), { number: 900 })),
    ],
    [
      'a line inserted with a computed hash',
      { kind: 'forged', number: 7 },
      (rows) =>
        insert(
          rehash(forged(atNumber(rows, 6), { number: 7, actor_id: '1' }), atNumber(rows, 6).hash),
        ),
    ],
    [
      'a copied line with a computed hash',
      { kind: 'forged', number: 7 },
      (rows) => insert(rehash(forged(atNumber(rows, 2), { number: 7 }), atNumber(rows, 6).hash)),
    ],
    [
      'a removed entry whose followers were chained again',
      { kind: 'forged', number: 3 },
      async (rows) => {
        await remove(atNumber(rows, 3).id)
        let { hash } = atNumber(rows, 2)
        for (let number = 4; number <= 6; number += 1) {
          const moved = rehash({ ...atNumber(rows, number), number: number - 1 }, hash)
          await change(moved.id, { number: moved.number, hash: moved.hash })
          hash = moved.hash
        }
      },
    ],
    [
      'changed details in an entry that was chained again',
      { kind: 'forged', number: 6 },
      (rows) => {
        const changed = rehash({ ...atNumber(rows, 6), details: '{}' }, atNumber(rows, 5).hash)
        return change(changed.id, { details: '{}', hash: changed.hash })
      },
    ],
    [
      'two entries that changed places',
      { kind: 'changed', number: 2 },
      async (rows) => {
        const [a, b] = [atNumber(rows, 2), atNumber(rows, 5)]
        await change(a.id, { number: 900 })
        await change(b.id, { number: 2 })
        await change(a.id, { number: 5 })
      },
    ],
    [
      'an entry whose number was moved',
      { kind: 'missing', number: 6 },
      (rows) => change(atNumber(rows, 6).id, { number: 7 }),
    ],
    [
      'changed personal data',
      { kind: 'personal-data', number: 3 },
      (rows) =>
        audit.database.kysely
          .updateTable('audit_personal')
          .set({ content: '{"actor":{"email":"innocent@example.com"}}' })
          .where('entry_id', '=', atNumber(rows, 3).id)
          .where('person', '=', '7')
          .execute(),
    ],
    [
      'added personal data',
      { kind: 'personal-data', number: 3 },
      (rows) =>
        audit.database.kysely
          .insertInto('audit_personal')
          .values({ entry_id: atNumber(rows, 3).id, person: '99', salt: 's', content: '{}' })
          .execute(),
    ],
    [
      'personal data of another person',
      { kind: 'personal-data', number: 3 },
      (rows) =>
        audit.database.kysely
          .updateTable('audit_personal')
          .set({ person: '99' })
          .where('entry_id', '=', atNumber(rows, 3).id)
          .where('person', '=', '7')
          .execute(),
    ],
  ])('reports the first break, if it was caused by %s', async (_, broken, attack) => {
    await audit.write(6)
    await audit.chain().process()
    expect(await audit.verify()).toMatchObject({ firstBreak: null, checked: 6 })
    const rows = await chainedRows()
    await attack(rows)
    const found = await audit.verify()
    expect(found.firstBreak).toMatchObject(broken)
    // Everything before it is confirmed.
    expect(found.last?.number ?? 0).toBe(broken.number - 1)
    const expected = (await chainedRows()).find((row) => Number(row.number) === broken.number)
    const isGap = broken.kind === 'missing' || broken.number === 1
    if (!isGap) expect(found.firstBreak?.entryId).toBe(expected?.id)
  })

  it('detects a forged entry even after the worker has chained it', async () => {
    await audit.write(2)
    const [, row] = await audit.entries()
    await insert(forged(row as Row, { actor_id: '1' }))
    await audit.chain().process()
    expect(await audit.verify()).toMatchObject({ firstBreak: { kind: 'forged', number: 3 } })
  })

  it('detects missing entries at the end if the caller passes an entry noted earlier', async () => {
    await audit.write(6)
    await audit.chain().process()
    const { last: known } = await audit.verify()
    const rows = await chainedRows()
    await remove(atNumber(rows, 6).id)
    await remove(atNumber(rows, 5).id)
    expect(await audit.verify()).toMatchObject({ firstBreak: null, checked: 4 })
    const missing = { kind: 'missing', number: 5, entryId: null }
    expect(await audit.verify({ known })).toMatchObject({ firstBreak: missing })
    expect(await audit.verify({ from: known })).toMatchObject({ firstBreak: { kind: 'missing' } })
    // New entries do not hide it.
    await audit.write(2)
    await audit.chain().process()
    const other = { kind: 'other-hash', number: 6 }
    expect(await audit.verify({ known })).toMatchObject({ firstBreak: other })
    expect(await audit.verify({ from: known })).toMatchObject({ firstBreak: other })
  })

  it('continues from a known entry, in steps of any size', async () => {
    await audit.write(7)
    await audit.chain().process()
    const first = await audit.verify({ limit: 3 })
    expect(first).toMatchObject({ checked: 3, isComplete: false, last: { number: 3 } })
    const second = await audit.verify({ from: first.last })
    expect(second).toMatchObject({ firstBreak: null, checked: 4, isComplete: true })
    expect(second.last?.number).toBe(7)
    await change(atNumber(await chainedRows(), 2).id, { outcome: 'failed' })
    expect((await audit.verify({ from: first.last })).firstBreak).toBeNull()
    expect((await audit.verify()).firstBreak).toMatchObject({ kind: 'changed', number: 2 })
  })

  it('accepts entries sealed with a former secret, and counts those whose secret is no longer configured', async () => {
    await audit.write(2)
    await audit.chain().process()
    const next = ['another secret of the tests with 32 characters']
    const both = await audit.verify({ secrets: [...next, ...SECRETS] })
    expect(both).toMatchObject({ firstBreak: null, unknownSeals: 0 })
    expect(await audit.verify({ secrets: next })).toMatchObject({
      firstBreak: null,
      unknownSeals: 2,
    })
  })

  it('accepts an empty log', async () => {
    expect(await audit.verify()).toEqual({
      firstBreak: null,
      checked: 0,
      last: null,
      isComplete: true,
      unknownSeals: 0,
      waiting: 0,
    })
  })

  it('succeeds even after the personal data of a person was deleted', async () => {
    await audit.write(5)
    await audit.chain().process()
    await audit.log.forget('12')
    expect(await audit.verify()).toMatchObject({ firstBreak: null, checked: 5 })
    const left = JSON.stringify([
      await audit.entries(),
      await audit.database.kysely.selectFrom('audit_personal').selectAll().execute(),
    ])
    expect(left).not.toContain('person@example.com')
    expect(left).toContain('operator-7@example.com')
    await audit.log.forget('7')
    const rows = await audit.database.kysely.selectFrom('audit_personal').selectAll().execute()
    expect(rows).toEqual([])
    expect(JSON.stringify(await audit.entries())).not.toMatch(/example\.com|203\.0\.113/)
    expect(await audit.verify()).toMatchObject({ firstBreak: null, checked: 5 })
  })
})
