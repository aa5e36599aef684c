import { describe, expect, it } from 'vitest'
import { isUnavailable } from '../error-kinds.ts'
import { DatabaseMutex } from './mutex.ts'

describe('DatabaseMutex', () => {
  it('lets one caller work at a time, in the order of arrival', async () => {
    const mutex = new DatabaseMutex()
    const order: number[] = []
    let inside = 0
    await Promise.all(
      [1, 2, 3, 4].map(async (n) => {
        const leave = await mutex.enter(10_000)
        expect(++inside).toBe(1)
        await new Promise((resolve) => setTimeout(resolve, 2))
        order.push(n)
        inside--
        leave()
      }),
    )
    expect(order).toEqual([1, 2, 3, 4])
    expect(mutex.isFree).toBe(true)
  })

  it('rejects a caller that waited too long, and lets the next ones work', async () => {
    const mutex = new DatabaseMutex()
    const leave = await mutex.enter(10_000)
    const hasty = mutex.enter(5)
    const patient = mutex.enter(10_000)
    await expect(hasty).rejects.toSatisfy(isUnavailable)
    leave()
    const leaveToo = await patient
    expect(mutex.isFree).toBe(false)
    leaveToo()
    expect(mutex.isFree).toBe(true)
  })
})
