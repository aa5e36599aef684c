import { expect, it } from 'vitest'
import { type AuditEntry, createAuditEvents } from './audit-events.ts'

const entry: AuditEntry = {
  ...{ id: '1', at: new Date(0), actor: { kind: 'command', id: 'night shift' } },
  ...{ operation: 'billing.refund', outcome: 'done', subject: { kind: 'invoice', id: 'in_1' } },
  ...{ ownerId: '42', details: {}, intentId: null },
}

it('billing.events.audit() resolves when every listener has finished, and logs those that fail', async () => {
  const logged: unknown[] = []
  const events = createAuditEvents({ warn() {}, error: (...line) => void logged.push(line) })
  const finished: AuditEntry[] = []
  const failure = new Error('This listener always fails')
  events.on('audit.entry', () => {
    throw failure
  })
  const remove = events.on('audit.entry', async (added) => {
    await new Promise((resolve) => setImmediate(resolve))
    finished.push(added)
  })
  await events.audit(entry)
  expect(finished).toEqual([entry])
  expect(logged).toEqual([['A listener of audit.entry failed', failure]])
  remove()
  await events.audit(entry)
  expect(finished).toHaveLength(1)
})
