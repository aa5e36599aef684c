import { afterEach, expect, it, onTestFinished } from 'vitest'
import {
  type Receiver,
  SECRET,
  startReceiver,
  verify,
} from '../../../../test-support/webhook-receiver.ts'
import type { PublishedAuditEntry } from '../../src/admin/audit/chain.ts'
import { hashChainedEntry } from '../../src/admin/audit/entry.ts'
import { createLoggerAudit } from '../../src/admin/audit/log.ts'
import { startTestService, type TestService } from '../support.ts'
import { operatorCalling } from './audit-log.ts'
import { createOperatorHelpers } from './operators.ts'

let service: TestService | undefined
afterEach(async () => {
  await service?.stop()
  service = undefined
})

async function receiver(): Promise<Receiver> {
  const started = await startReceiver()
  onTestFinished(started.close)
  return started
}

async function startWith(endpoints: readonly { url: string; types?: readonly string[] }[]) {
  const deliveries = { endpoints: endpoints.map((each) => ({ ...each, secret: SECRET })) }
  service = await startTestService({ settings: { deliveries: deliveries as never } })
  return service
}

const signOuts = async (on: TestService, count: number) => {
  const operators = createOperatorHelpers(on)
  const support = await operators.operator('support')
  const person = await operators.person()
  for (let at = 0; at < count; at += 1) await support.call('POST', `/users/${person.id}/sign-out`)
  return { support, person }
}

const entriesIn = ({ received }: Receiver): PublishedAuditEntry[] =>
  received
    .map(({ body }) => JSON.parse(body).data.entry as PublishedAuditEntry)
    .sort((a, b) => a.number - b.number)

it('the stream of the audit log sends each chained entry to the endpoints that list it, and to no others', async () => {
  const [archive, all, others] = [await receiver(), await receiver(), await receiver()]
  const on = await startWith([
    { url: archive.url, types: ['audit.entry'] },
    { url: all.url },
    { url: others.url, types: ['invoice.paid'] },
  ])
  const { support, person } = await signOuts(on, 3)
  await on.auditChain.process()
  await on.billing.process()
  expect(all.received).toEqual([])
  expect(others.received).toEqual([])

  const sent = entriesIn(archive)
  expect(sent.map(({ number }) => number)).toEqual([1, 2, 3])
  let previous: string | null = null
  for (const { hash, ...content } of sent) {
    expect(content.previous_hash).toBe(previous)
    expect(hashChainedEntry(content)).toBe(hash)
    previous = hash
  }
  for (const each of archive.received) {
    expect(verify(SECRET, each)).toMatchObject({ type: 'audit.entry', id: expect.any(String) })
    expect(each.body).not.toContain(support.email)
    expect(each.body).not.toContain(person.email)
    expect(each.body).not.toContain('127.0.0.1')
  }
  await on.auditChain.process()
  await on.billing.process()
  expect(archive.received).toHaveLength(3)
})

it('the stream of the audit log keeps entries in the database while an endpoint does not respond', async () => {
  const archive = await receiver()
  archive.answer(500)
  const on = await startWith([{ url: archive.url, types: ['audit.entry'] }])
  await signOuts(on, 2)
  await on.auditChain.process()
  await on.billing.process()
  const waiting = await on.billing.deliveries.list('pending')
  expect(waiting.map(({ type }) => type)).toEqual(['audit.entry', 'audit.entry'])
  archive.answer(204)
  for (const { id } of waiting) await on.billing.deliveries.resend(id)
  await on.billing.process()
  expect(new Set(entriesIn(archive).map(({ number }) => number))).toEqual(new Set([1, 2]))
})

it('the stream of the audit log lets its receiver detect that the latest entries were cut off and replaced (threat N9)', async () => {
  const archive = await receiver()
  const on = await startWith([{ url: archive.url, types: ['audit.entry'] }])
  await signOuts(on, 3)
  await on.auditChain.process()
  await on.billing.process()
  const [first, , last] = entriesIn(archive)
  await on.database.kysely.deleteFrom('audit_entries').where('number', '>', 1).execute()
  await signOuts(on, 2)
  await on.auditChain.process()
  await on.billing.process()
  const again = entriesIn(archive).filter(({ number }) => number === 3)
  expect(new Set(again.map(({ hash }) => hash)).size).toBe(2)
  const admin = await createOperatorHelpers(on).operator('admin')
  const check = async (link?: PublishedAuditEntry) => {
    const known = `known_number=${link?.number}&known_hash=${link?.hash}`
    return (await admin.call('GET', `/audit/verification?${known}`)).body.break
  }
  expect(await check(first)).toBeNull()
  expect(await check(last)).toMatchObject({ kind: 'other-hash', number: 3 })
})

it('the audit log is also written to the log, one JSON line per entry, if auditToLog is on, whatever the log level', async () => {
  service = await startTestService({
    settings: { auditToLog: true },
    config: { logLevel: 'error' },
  })
  const { person } = await signOuts(service, 2)
  await service.auditChain.process()
  const lines = service
    .log()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'audit')
  expect(lines.map(({ audit }) => audit.number)).toEqual([1, 2])
  expect(lines[1].audit).toMatchObject({
    operation: 'users.signOut',
    owner: person.id,
    previous_hash: lines[0].audit.hash,
  })
  expect(service.log()).not.toContain(person.email)
})

it('the audit log is written to a logger, without personal data, if the database has no table for it', async () => {
  const lines: [object, string][] = []
  const emitted: object[] = []
  const log = createLoggerAudit({
    logger: { info: (fields, message) => void lines.push([fields, message]) },
    clock: { now: () => new Date('2026-01-01T00:00:00Z') },
    emit: (entry) => void emitted.push(entry),
  })
  const id = await log.add({
    caller: operatorCalling('7'),
    operation: 'clients.create',
    outcome: 'done',
    described: { subject: { kind: 'client', id: 'c1' }, personal: { email: 'a@example.com' } },
  })
  await log.forget('7')
  expect(lines).toEqual([
    [
      {
        audit: expect.objectContaining({
          id,
          at: '2026-01-01T00:00:00.000Z',
          actor: { kind: 'operator', id: '7' },
          operation: 'clients.create',
          subject: { kind: 'client', id: 'c1' },
        }),
      },
      'audit',
    ],
  ])
  expect(emitted).toEqual([
    {
      ...{ id, at: new Date('2026-01-01T00:00:00Z'), actor: { kind: 'operator', id: '7' } },
      ...{ operation: 'clients.create', outcome: 'done', subject: { kind: 'client', id: 'c1' } },
      ...{ ownerId: null, details: {}, intentId: null },
    },
  ])
  expect(JSON.stringify([lines, emitted])).not.toMatch(/example\.com|203\.0/)
})
