import { describe, expect, it } from 'vitest'
import { startGate, type TestGate, user } from './start-gate.ts'

/** Admits until every gate refuses, and returns how many were admitted. */
async function useUp(gates: readonly TestGate[], clients: number): Promise<number> {
  let admitted = 0
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const gate = gates[client % gates.length]
      while ((await gate?.admit(user(), 'calls'))?.allowed) admitted += 1
    }),
  )
  return admitted
}

describe('a hard quota (threat N6, threat Q10)', () => {
  it('admits exactly the quota, and then answers 402 with the date on which the quota starts over', async () => {
    const { gate } = await startGate()
    for (let call = 1; call <= 3; call += 1) {
      expect(await gate.admit(user(), 'calls')).toMatchObject({ allowed: true, plan: 'free' })
    }
    const refused = await gate.admit(user(), 'calls')
    expect(refused).toMatchObject({ allowed: false, reason: 'quota_used_up', remaining: 0 })
    expect(refused.response?.status).toBe(402)
    expect(refused.response?.headers).not.toHaveProperty('www-authenticate')
    expect(JSON.parse(String(refused.response?.body))).toMatchObject({
      type: 'urn:tollgate:gate:quota-used-up',
      status: 402,
      plan: 'free',
      missing: ['calls'],
      quota: 3,
      resets_at: '2026-04-01T00:00:00.000Z',
    })
    expect(await gate.usage(user())).toContainEqual({
      meter: 'calls',
      unit: null,
      used: 3,
      quota: 3,
      remaining: 0,
      resetsAt: new Date('2026-04-01T00:00:00Z'),
    })
  })

  it.each([1, 2, 4])('admits exactly 10,000 calls if 200 callers use %i gates', async (count) => {
    const { another, database } = await startGate()
    const gates: TestGate[] = []
    for (let at = 0; at < count; at += 1) gates.push(await another())
    for (const gate of gates) await gate.planOf(user())
    await gates[0]?.override(user(), { terms: { quota: { calls: '10000/month' } } })
    for (const gate of gates) await expect.poll(() => quotaOf(gate)).toBe(10_000)
    expect(await useUp(gates, 200)).toBe(10_000)
    const { taken } = await database.kysely
      .selectFrom('gate_counters')
      .select('taken')
      .executeTakeFirstOrThrow()
    expect(Number(taken)).toBe(10_000)
  })

  it('counts each subject separately, and starts over with the next month', async () => {
    const { gate, clock } = await startGate()
    expect(await useUp([gate], 5)).toBe(3)
    expect((await gate.admit(user(8), 'calls')).allowed).toBe(true)
    clock.set('2026-04-01T00:00:00Z')
    expect(await useUp([gate], 5)).toBe(3)
  })

  it('counts a call in the month in which it began, even if it is admitted only in the next month', async () => {
    const { gate, clock, database } = await startGate()
    await gate.planOf(user())
    clock.set('2026-03-31T23:59:59.999Z')
    const begun = Array.from({ length: 5 }, () => gate.admit(user(), 'calls'))
    clock.set('2026-04-01T00:00:00Z')
    const next = Array.from({ length: 5 }, () => gate.admit(user(), 'calls'))
    const allowed = (all: readonly { allowed: boolean }[]) => all.filter((each) => each.allowed)
    expect(allowed(await Promise.all(begun))).toHaveLength(3)
    expect(allowed(await Promise.all(next))).toHaveLength(3)
    const rows = await database.kysely.selectFrom('gate_counters').select('taken').execute()
    expect(rows.map(({ taken }) => Number(taken))).toEqual([3, 3])
  })

  it('keeps the used units when the subject changes to another plan', async () => {
    const { gate, assigned } = await startGate()
    expect(await useUp([gate], 2)).toBe(3)
    assigned.set('7', 'pro')
    await gate.refresh(user())
    expect(await useUp([gate], 2)).toBe(7)
    assigned.set('7', 'free')
    await gate.refresh(user())
    expect((await gate.admit(user(), 'calls')).allowed).toBe(false)
  })

  it('states on each of two gates how many units are left, never more than there are', async () => {
    const { another } = await startGate()
    const gates = [await another(), await another()] as const
    await gates[0].override(user(), { terms: { quota: { calls: '1000/month' } } })
    for (const gate of gates) await expect.poll(() => quotaOf(gate)).toBe(1000)
    const named: (readonly [number | null, number])[] = []
    for (let call = 1; call <= 400; call += 1) {
      const { allowed, remaining } = await (call % 3 ? gates[0] : gates[1]).admit(user(), 'calls')
      expect(allowed).toBe(true)
      named.push([remaining, 1000 - call])
    }
    // Another gate may have used units since this one has read the counter, but never all of them.
    for (const [remaining, left] of named) {
      expect(remaining).toBeGreaterThan(left / 4)
      expect(remaining).toBeLessThan(1000)
    }
    await gates[1].close()
    for (let call = 1; call <= 500; call += 1) await gates[0].admit(user(), 'calls')
    // Only this gate is left, and has read the counter since.
    expect((await gates[0].admit(user(), 'calls')).remaining).toBe(99)
  })

  it('does not say that nothing is left when it refuses more than what is left', async () => {
    const { gate } = await startGate()
    await gate.admit(user(), 'tokens', 60)
    const refused = await gate.admit(user(), 'tokens', 60)
    expect(refused).toMatchObject({ allowed: false, reason: 'quota_used_up', remaining: 40 })
    expect(refused.response?.headers.ratelimit).toMatch(/^"tokens";r=40;t=\d+$/)
    expect(await gate.admit(user(), 'tokens', 40)).toMatchObject({ allowed: true, remaining: 0 })
  })

  it('gets back the units that a gate has leased and not used when the gate is closed', async () => {
    const { another } = await startGate()
    const [first, second] = [await another(), await another()]
    await first.override(user(), { terms: { quota: { calls: '1000/month' } } })
    for (let call = 0; call < 20; call += 1) await first.admit(user(), 'calls')
    await first.close()
    expect(await second.usage(user())).toContainEqual(
      expect.objectContaining({ meter: 'calls', used: 20, remaining: 980 }),
    )
  })
})

async function quotaOf(gate: TestGate): Promise<number | null | undefined> {
  return (await gate.usage(user())).find(({ meter }) => meter === 'calls')?.quota
}
