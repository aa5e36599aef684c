import { expect, it } from 'vitest'
import { WaitedTooLong } from '../errors.ts'
import { takeInTime } from './take-in-time.ts'

type Done = (error: unknown, connection: Connection | undefined) => void

class Connection {
  released = 0
  release(): void {
    this.released++
  }
}

it('gives the connection that the pool has', async () => {
  const connection = new Connection()
  expect(await takeInTime<Connection>(1000, (done) => done(null, connection))).toBe(connection)
  expect(connection.released).toBe(0)
})

it('passes on why the pool has none', async () => {
  const reason = new Error('refused')
  await expect(takeInTime(1000, (done) => done(reason, undefined))).rejects.toBe(reason)
})

it('ends the waiting, and gives back a connection that comes too late', async () => {
  const connection = new Connection()
  let give: Done = () => {}
  const taken = takeInTime<Connection>(1, (done) => {
    give = done
  })
  await expect(taken).rejects.toThrow(WaitedTooLong)
  give(null, connection)
  expect(connection.released).toBe(1)
})
