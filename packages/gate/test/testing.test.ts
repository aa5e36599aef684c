import { connect } from '@tollgate/database'
import { createGate, meter, plan } from '@tollgate/gate'
import { movableClock, setPlan, useUp } from '@tollgate/gate/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

const subject = { type: 'user', id: 7 }

async function start() {
  const clock = movableClock()
  const database = await connect('sqlite::memory:')
  const gate = createGate({
    database,
    clock,
    meters: { calls: meter({ kind: 'count' }), seats: meter({ kind: 'gauge' }) },
    plans: {
      free: plan({ quota: { calls: '1000/month', seats: 3 }, rate: '2/hour' }),
      pro: plan({ quota: { calls: 'unlimited' } }),
    },
    otherwise: 'free',
  })
  onTestFinished(async () => {
    await gate.close()
    await database.close()
  })
  return { gate, clock }
}

describe('the helpers for tests of applications', () => {
  it('use up a quota whatever the rate is, also after the gate has leased units', async () => {
    const { gate } = await start()
    await gate.admit(subject, 'calls')
    await useUp(gate, subject, 'calls', { leave: 1 })
    expect((await gate.usage(subject))[0]).toMatchObject({ used: 999, remaining: 1 })
    expect((await gate.admit(subject, 'calls')).allowed).toBe(true)
    await useUp(gate, subject, 'calls')
    expect(await gate.check(subject, 'calls')).toMatchObject({ reason: 'quota_used_up' })
  })

  it('use up a gauge', async () => {
    const { gate } = await start()
    await useUp(gate, subject, 'seats')
    expect(await gate.adjust(subject, 'seats', 1)).toMatchObject({ reason: 'quota_used_up' })
    expect((await gate.adjust(subject, 'seats', -1)).allowed).toBe(true)
  })

  it('move the clock to the next month, in which the quota starts over', async () => {
    const { gate, clock } = await start()
    await useUp(gate, subject, 'calls')
    clock.advance({ months: 1 })
    expect((await gate.admit(subject, 'calls')).allowed).toBe(true)
    expect(() => clock.advance({ days: -1 })).toThrow(RangeError)
  })

  it('give a subject a plan, and take it away', async () => {
    const { gate } = await start()
    await setPlan(gate, subject, 'pro')
    expect(await gate.planOf(subject)).toBe('pro')
    await expect(useUp(gate, subject, 'calls')).rejects.toMatchObject({ code: 'GATE_INVALID_USE' })
    await setPlan(gate, subject, null)
    expect(await gate.planOf(subject)).toBe('free')
  })

  it('refuse a gate that createGate() has not returned', async () => {
    const { gate } = await start()
    await expect(useUp({ ...gate }, subject, 'calls')).rejects.toMatchObject({
      code: 'GATE_INVALID_USE',
    })
  })
})
