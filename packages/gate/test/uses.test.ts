import { createGate, meter, plan } from '@tollgate/gate'
import { describe, expect, it } from 'vitest'
import { startGate, user } from './start-gate.ts'

const usedOf = async (gate: Awaited<ReturnType<typeof startGate>>['gate'], name: string) =>
  (await gate.usage(user())).find((each) => each.meter === name)?.used

describe('a reservation', () => {
  it('counts the used units, and gives the rest back to the quota', async () => {
    const { gate } = await startGate()
    const { reservation } = await gate.reserve(user(), 'tokens', 80)
    expect(reservation?.amount).toBe(80)
    expect((await gate.admit(user(), 'tokens', 30)).allowed).toBe(false)
    expect(await reservation?.settle(50)).toEqual({ counted: 50, uncounted: 0 })
    expect((await gate.admit(user(), 'tokens', 50)).allowed).toBe(true)
    expect(await usedOf(gate, 'tokens')).toBe(100)
  })

  it('is refused if it exceeds the remaining quota, unless the meter has the option over: cap or bill', async () => {
    const { gate } = await startGate()
    const refused = await gate.reserve(user(), 'tokens', 101)
    expect(refused).toMatchObject({ allowed: false, reason: 'quota_used_up', reservation: null })
    const capped = await gate.reserve(user(), 'capped', 130)
    expect(capped.reservation?.amount).toBe(100)
    const billed = await gate.reserve(user(), 'billed', 130)
    expect(billed.reservation?.amount).toBe(130)
    await billed.reservation?.settle(140)
    expect(await usedOf(gate, 'billed')).toBe(140)
  })

  it('counts use beyond the reserved units only as far as the quota allows', async () => {
    const { gate } = await startGate()
    const { reservation } = await gate.reserve(user(), 'tokens', 60)
    expect(await reservation?.settle(150)).toEqual({ counted: 100, uncounted: 50 })
    expect(await usedOf(gate, 'tokens')).toBe(100)
  })

  it('can be settled only once, and release() does nothing afterwards', async () => {
    const { gate } = await startGate()
    const { reservation } = await gate.reserve(user(), 'tokens', 60)
    await reservation?.settle(10)
    await expect(reservation?.settle(10)).rejects.toMatchObject({ code: 'GATE_INVALID_USE' })
    await reservation?.release()
    expect(await usedOf(gate, 'tokens')).toBe(10)
  })

  it('is released when it expires, and takes units from the quota again if it is settled later', async () => {
    const { gate } = await startGate()
    const { reservation } = await gate.reserve(user(), 'tokens', 100, { expiresIn: 1 })
    await expect.poll(async () => (await gate.check(user(), 'tokens', 100)).allowed).toBe(true)
    expect((await gate.admit(user(), 'tokens', 70)).allowed).toBe(true)
    expect(await reservation?.settle(50)).toEqual({ counted: 30, uncounted: 20 })
    expect(await usedOf(gate, 'tokens')).toBe(100)
  })
})

describe('a gauge', () => {
  it('can be raised up to the quota and lowered down to 0', async () => {
    const { gate } = await startGate()
    expect((await gate.adjust(user(), 'seats', 2)).allowed).toBe(true)
    expect(await gate.adjust(user(), 'seats', 1)).toMatchObject({ reason: 'quota_used_up' })
    expect((await gate.adjust(user(), 'seats', -1)).allowed).toBe(true)
    expect((await gate.adjust(user(), 'seats', 1)).allowed).toBe(true)
    await expect(gate.adjust(user(), 'seats', -3)).rejects.toThrow('cannot fall below 0')
    expect(await usedOf(gate, 'seats')).toBe(2)
  })

  it('never exceeds its quota if many callers raise it at the same time', async () => {
    const { gate, another } = await startGate()
    const gates = [gate, await another()]
    const raised = await Promise.all(
      Array.from({ length: 20 }, (_, at) => gates[at % 2]?.adjust(user(), 'seats', 1)),
    )
    expect(raised.filter((verdict) => verdict?.allowed)).toHaveLength(2)
  })
})

describe('use that is counted with record()', () => {
  it('counts once for each id and subject, even beyond the quota', async () => {
    const { gate, another } = await startGate()
    const second = await another()
    const results = await Promise.all(
      [gate, second, gate, second].map((each) =>
        each.record(user(), 'tokens', 150, { id: 'job-1' }),
      ),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(await gate.record(user(8), 'tokens', 1, { id: 'job-1' })).toBe(true)
    expect(await usedOf(gate, 'tokens')).toBe(150)
    expect((await gate.admit(user(), 'tokens')).allowed).toBe(false)
  })

  it('counts towards the month of its date, not the current month', async () => {
    const { gate } = await startGate()
    const at = new Date('2026-02-20T00:00:00Z')
    expect(await gate.record(user(), 'tokens', 60, { id: 'old', at })).toBe(true)
    expect(await usedOf(gate, 'tokens')).toBe(0)
  })
})

describe('the rate of a plan', () => {
  it('answers 429 with Retry-After to a caller that exceeds it, and does not count the call', async () => {
    const { gate, assigned } = await startGate()
    assigned.set('7', 'fast')
    expect((await gate.admit(user(), 'calls')).allowed).toBe(true)
    expect((await gate.admit(user(), 'calls')).allowed).toBe(true)
    const refused = await gate.admit(user(), 'calls')
    expect(refused).toMatchObject({ allowed: false, reason: 'too_fast' })
    expect(refused.retryAfter).toBeGreaterThan(0)
    expect(refused.response).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    expect(await usedOf(gate, 'calls')).toBe(2)
  })
})

describe('the plan of a subject', () => {
  it('determines scopes, features and meters, and changes on every gate after refresh()', async () => {
    const { gate, another, assigned } = await startGate()
    const second = await another()
    expect(await second.planOf(user())).toBe('free')
    expect([...((await second.scopesOf(user())) ?? [])]).toEqual(['read'])
    expect(await second.checkFeature(user(), 'export')).toMatchObject({
      allowed: false,
      reason: 'feature_not_in_plan',
    })
    expect(await second.checkPlan(user(), ['pro'])).toMatchObject({ reason: 'plan_required' })
    assigned.set('7', 'pro')
    await gate.refresh(user())
    expect(await gate.planOf(user())).toBe('pro')
    await expect.poll(() => second.planOf(user())).toBe('pro')
    expect((await second.checkFeature(user(), 'export')).allowed).toBe(true)
    expect((await second.checkPlan(user(), ['pro'])).allowed).toBe(true)
    expect(await second.admit(user(), 'billed')).toMatchObject({
      allowed: false,
      reason: 'meter_not_in_plan',
    })
  })

  it('is the original plan again when an override reaches its end date', async () => {
    const { gate, clock } = await startGate()
    await gate.override(user(), { plan: 'pro', endsAt: new Date('2026-03-16T00:00:00Z') })
    expect(await gate.planOf(user())).toBe('pro')
    clock.set('2026-03-16T00:00:00Z')
    expect(await gate.planOf(user())).toBe('free')
  })

  it('is the original plan again after an override is removed', async () => {
    const { gate } = await startGate()
    await gate.override(user(), { terms: { quota: { calls: 'unlimited' } } })
    for (let call = 0; call < 9; call += 1) {
      expect((await gate.admit(user(), 'calls')).allowed).toBe(true)
    }
    expect(await gate.removeOverride(user())).toBe(true)
    expect(await gate.removeOverride(user())).toBe(false)
    expect((await gate.admit(user(), 'calls')).allowed).toBe(false)
  })
})

describe('purge() of a gate', () => {
  it('deletes counters and records of more than 400 days ago, and keeps newer ones', async () => {
    const { gate, clock } = await startGate()
    await gate.admit(user(), 'tokens', 5)
    await gate.record(user(), 'tokens', 5, { id: 'job' })
    clock.set('2026-06-15T12:00:00Z')
    await gate.admit(user(), 'tokens', 7)
    expect(await gate.purge()).toBe(0)
    clock.set('2027-06-10T12:00:00Z')
    expect(await gate.purge()).toBe(2)
    clock.set('2026-06-15T12:00:00Z')
    expect(await usedOf(gate, 'tokens')).toBe(7)
  })
})

describe('invalid use of a meter', () => {
  it.each([
    ['an unknown meter', { name: 'nothing', amount: 1 }, 'There is no meter "nothing"'],
    ['a negative amount', { name: 'tokens', amount: -1 }, '-1 is not an amount of use'],
    ['a fraction', { name: 'tokens', amount: 0.5 }, '0.5 is not an amount of use'],
    ['an amount of 0', { name: 'tokens', amount: 0 }, '0 is not an amount of use'],
    [
      'an amount that is not a safe integer',
      { name: 'tokens', amount: 2 ** 53 },
      'is not an amount of use',
    ],
    [
      'an amount of 2 for a meter that counts calls',
      { name: 'calls', amount: 2 },
      'counts calls, one at a time',
    ],
    [
      'admit(), check() and reserve() for a gauge',
      { name: 'seats', amount: 1 },
      'change its level with adjust()',
    ],
  ])('is rejected and not counted: %s', async (_, { name, amount }, message) => {
    const { gate, database } = await startGate()
    await gate.planOf(user())
    for (const call of ['admit', 'check', 'reserve'] as const) {
      await expect(async () => gate[call](user(), name as 'tokens', amount)).rejects.toThrow(
        message,
      )
    }
    const rows = await database.kysely.selectFrom('gate_counters').selectAll().execute()
    expect(rows).toEqual([])
  })

  it.each(['', 'x'.repeat(400)])('is rejected if the subject has the id %j', async (id) => {
    const { gate } = await startGate()
    await expect(async () => gate.admit(user(id), 'calls')).rejects.toThrow('There is no subject')
  })

  it('is rejected by record() if its date is in the future or its id cannot be stored', async () => {
    const { gate } = await startGate()
    const later = new Date('2030-01-01T00:00:00Z')
    await expect(gate.record(user(), 'tokens', 1, { id: 'a', at: later })).rejects.toThrow('past')
    await expect(gate.record(user(), 'tokens', 1, { id: '' })).rejects.toThrow('id:')
    await expect(gate.record(user(), 'tokens', 1, { id: 'ü' })).rejects.toThrow('id:')
  })
})

describe('options of a gate', () => {
  it.each([
    [{ quota: { calls: '10' } }, `plans.free.quota.calls: "10" is not a quota`],
    [{ quota: { calls: 'many/month' } }, 'is not a quota'],
    [{ quota: { calls: '10/fortnight' } }, 'is not a quota'],
    [{ quota: { seats: '5/month' } }, 'is not a quota of a gauge'],
    [{ quota: { nothing: '5/month' } }, 'there is no meter "nothing"'],
    [{ rate: '0/second' }, 'is not a rate'],
    [{ rate: '5' }, 'is not a rate'],
  ])('are rejected by createGate(): plan %j', async (terms, message) => {
    const { database } = await startGate()
    const create = () =>
      createGate({
        database,
        meters: { calls: meter({ kind: 'count' }), seats: meter({ kind: 'gauge' }) },
        plans: { free: plan(terms) },
        otherwise: 'free',
      })
    expect(create).toThrow(message)
  })

  it('are rejected by createGate() if `otherwise` names an unknown plan', async () => {
    const { database } = await startGate()
    const options = { database, meters: {}, plans: { free: plan() }, otherwise: 'basic' as 'free' }
    expect(() => createGate(options)).toThrow(
      'otherwise: there is no plan "basic". Give one of free.',
    )
  })
})
