import type { GateOptions, UsageAlert } from '@tollgate/gate'
import { describe, expect, it } from 'vitest'
import { startGate, user } from './start-gate.ts'

/** Starts a gate whose alerts are collected. */
async function start(options: Partial<GateOptions> = {}) {
  const alerts: UsageAlert[] = []
  const alerting = { alerts: { at: [50, 80, 100], on: (alert: UsageAlert) => alerts.push(alert) } }
  const test = await startGate({ ...alerting, ...options })
  return { ...test, alerts, percents: () => alerts.map(({ percent }) => percent) }
}

describe('an alert about a quota', () => {
  it('is reported once when its share is reached, with the numbers', async () => {
    const { gate, alerts, percents } = await start()
    await gate.admit(user(), 'tokens', 49)
    await gate.admit(user(2), 'tokens', 1)
    await gate.admit(user(), 'tokens', 1)
    await expect.poll(() => alerts).toHaveLength(1)
    expect(alerts[0]).toEqual({
      subject: { type: 'user', id: '7' },
      meter: 'tokens',
      percent: 50,
      used: 50,
      quota: 100,
      resetsAt: new Date('2026-04-01T00:00:00Z'),
    })
    await gate.admit(user(), 'tokens', 30)
    await expect.poll(percents).toEqual([50, 80])
    await gate.admit(user(), 'tokens', 20)
    await expect.poll(percents).toEqual([50, 80, 100])
  })

  it('is reported by exactly one of two processes, also if both notice it at the same time', async () => {
    const { gate, another, alerts, percents, database } = await start()
    const other = await another()
    const people = Array.from({ length: 10 }, (_, at) => user(at + 1))
    for (const subject of people) {
      await Promise.all(
        [gate, other].map((each, at) => each.record(subject, 'tokens', 40, { id: `job-${at}` })),
      )
    }
    await expect.poll(() => alerts.length).toBe(people.length)
    for (const subject of people) await other.record(subject, 'tokens', 20, { id: 'job-2' })
    await expect.poll(() => alerts.length).toBe(2 * people.length)
    // Both processes have checked all of them by the time they are closed.
    await gate.close()
    await other.close()
    expect(percents().sort((a, b) => a - b)).toEqual([
      ...Array(10).fill(80),
      ...Array(10).fill(100),
    ])
    const rows = await database.kysely.selectFrom('gate_alerts').selectAll().execute()
    expect(rows).toHaveLength(3 * people.length)
  })

  it('is reported for the highest of several shares that are reached at once, also by recorded use', async () => {
    const { gate, alerts, percents } = await start()
    await gate.record(user(), 'tokens', 150, { id: 'job-1' })
    await expect.poll(percents).toEqual([100])
    expect(alerts[0]).toMatchObject({ used: 150, quota: 100 })
  })

  it('is reported again in the next window, and for another quota', async () => {
    const { gate, clock, percents } = await start()
    await gate.admit(user(), 'calls')
    await gate.admit(user(), 'calls')
    await expect.poll(percents).toEqual([50])
    clock.set('2026-04-15T12:00:00Z')
    await gate.admit(user(), 'calls')
    await gate.admit(user(), 'calls')
    await expect.poll(percents).toEqual([50, 50])
    await gate.override(user(), { terms: { quota: { calls: '4/month' } } })
    await gate.admit(user(), 'calls')
    await expect.poll(percents).toEqual([50, 50, 50])
  })

  it('is repeated until the application has accepted it', async () => {
    let calls = 0
    const { gate, database, warnings } = await start({
      alerts: {
        on() {
          calls += 1
          if (calls === 1) throw new Error('The mail server is away')
        },
      },
    })
    await gate.admit(user(), 'tokens', 100)
    await expect.poll(() => calls).toBe(2)
    await gate.close()
    expect(calls).toBe(2)
    expect(warnings).toEqual([expect.stringContaining('An alert about user:7 failed')])
    expect(await database.kysely.selectFrom('gate_alerts').selectAll().execute()).toHaveLength(2)
  })

  it.each([[[0]], [[101]], [[50.5]]])('is refused for the shares %j', async (at) => {
    await expect(start({ alerts: { at, on: () => {} } })).rejects.toThrow(/alerts.at: .* is not/)
  })
})
