import { connect } from '@tollgate/database'
import { afterEach, describe, expect, it } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../../test-support/tcp-proxy.ts'
import { startGate, user } from './start-gate.ts'

/** SQLite has no server that could fail. */
const isServer = process.env.TEST_DATABASE !== 'sqlite'

let proxy: TcpProxy | null = null
afterEach(async () => {
  await proxy?.close()
  proxy = null
})

describe.runIf(isServer)('a gate whose database cannot be reached', () => {
  it("refuses use, or admits it up to the bound in the meter's onOutage option and counts it once the database is back", async () => {
    const { gate: near, url, create } = await startGate()
    await near.planOf(user())
    proxy = await startTcpProxy(url)
    const database = await connect(proxy.url, { timeout: 1500 })
    const gate = create(database)
    expect((await gate.admit(user(), 'tokens', 10)).allowed).toBe(true)
    expect((await gate.admit(user(), 'lenient', 1)).allowed).toBe(true)
    await proxy.cut()
    const admitted: boolean[] = []
    const failures: string[] = []
    for (let call = 0; call < 8; call += 1) {
      try {
        admitted.push((await gate.admit(user(), 'lenient', 1)).allowed)
      } catch (error) {
        failures.push((error as { code: string }).code)
      }
    }
    expect(new Set(failures)).toEqual(new Set(['GATE_UNAVAILABLE']))
    expect(admitted).toEqual(admitted.map(() => true))
    expect(admitted.length).toBeGreaterThanOrEqual(5)
    // One more than the bound fits into the lease that was taken before.
    expect(admitted.length).toBeLessThanOrEqual(6)
    await expect(async () => gate.admit(user(), 'tokens', 1)).rejects.toMatchObject({
      code: 'GATE_UNAVAILABLE',
    })
    await proxy.heal()
    const used = async () =>
      (await near.usage(user())).find(({ meter }) => meter === 'lenient')?.used
    await expect.poll(used).toBe(1 + admitted.length)
    await expect
      .poll(async () => {
        try {
          return (await gate.admit(user(), 'tokens', 1)).allowed
        } catch {
          return false
        }
      })
      .toBe(true)
    await gate.close()
    await database.close()
  })
})
